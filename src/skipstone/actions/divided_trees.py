"""Several hyper-partitioning trees for one table: the attributes are divided among the base and its replicas.

"Robust Data Partitioning for Ad-hoc Query Processing" (Nguyen, MIT 2015), section 5.2.3: with fewer
attributes in each tree, each of them gets more cuts in its own. With queries they are divided by these.
"""

from __future__ import annotations

from dataclasses import replace

from skipstone.actions.choose_layout import AUTO, LayoutChoice
from skipstone.actions.context import Context
from skipstone.actions.make_partitions import MOST_ROWS
from skipstone.actions.replicate import ReplicateReport, make_replica
from skipstone.errors import SkipstoneError
from skipstone.layout.divide_attributes import divide_attributes
from skipstone.layout.hyper import HYPER
from skipstone.layout.layouts import layout_options
from skipstone.layout.options import LayoutOptions

__all__ = ["check_trees", "divided_trees", "replicate_trees"]


def check_trees(layout: str, options: LayoutOptions) -> None:
    """Refuse several trees of a layout that has none, or over columns that are named."""
    if layout not in (AUTO, HYPER.name):
        raise SkipstoneError(
            f"Replicas over divided columns are made by hyper, and the layout asked for is {layout}; "
            "skipstone replicate makes one replica by any layout."
        )
    if "columns" in options.own:
        raise SkipstoneError("The columns are divided among replicas, so they cannot be named too.")


def divided_trees(chosen: LayoutChoice, trees: int) -> list[LayoutChoice]:
    """The choice with so many designs in place of its own, each over its part of the attributes."""
    if chosen.layout != HYPER.name:
        raise SkipstoneError(
            f"The queries are served best by {chosen.layout}; for replicas over divided columns say "
            "--layout hyper."
        )
    prepared = chosen.prepared
    options = layout_options(HYPER.name, prepared.options)
    return [
        replace(chosen, design=HYPER.fit(prepared.view, None, replace(options, columns=columns)))
        for columns in divide_attributes(prepared.view, trees, prepared.workload.queries)
    ]


def replicate_trees(context: Context, choices: list[LayoutChoice]) -> list[ReplicateReport]:
    """A replica of the table, as it is now, for each choice."""
    steps = context.steps(len(choices), {str(number): 1.0 for number in range(len(choices))})
    made = []
    for number, choice in enumerate(choices):
        snapshot, indices = context.snapshot, context.table.file_indices
        here = replace(choice, prepared=replace(choice.prepared, snapshot=snapshot, file_indices=indices))
        step = context.reporting_to(steps.step(str(number)))
        made.append(make_replica(step, here, MOST_ROWS, choice.prepared.view.block_rows))
    return made

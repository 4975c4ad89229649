"""``advise``: simulate every layout on a sample and estimate what each would save and cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from skipstone.actions.context import Context
from skipstone.actions.cost_store import load_model
from skipstone.actions.gather_costs import gather_costs
from skipstone.actions.logged_workload import logged_workload
from skipstone.actions.prepare import FitRequest
from skipstone.actions.usable import prepare_usable
from skipstone.estimate.advice import Advice, advise
from skipstone.estimate.block_maps import block_maps
from skipstone.layout.layouts import REPLICA_LAYOUTS, check_any_options, layout_named, options_for
from skipstone.layout.options import LayoutOptions
from skipstone.workload.queries import Workload

__all__ = ["Advise"]


@dataclass(frozen=True, slots=True, eq=False)
class Advise:
    """Compare the layouts for these queries, or for the table's own log; nothing is changed.

    With ``layouts`` only these are compared. With ``block_maps`` the advice also has the blocks that each
    layout would make.
    """

    name: ClassVar[str] = "advise"

    queries: Workload | None = None
    options: LayoutOptions = field(default_factory=LayoutOptions)
    block_maps: bool = False
    layouts: tuple[str, ...] = ()

    def validate(self, context: Context) -> None:
        """Refuse an option that no layout has; all else shows while the workload is read."""
        check_any_options(self.options.own)
        for name in self.layouts:
            layout_named(name)

    def run(self, context: Context) -> Advice:
        """Draw a sample, and fit and simulate each layout on it."""
        table = context.table
        workload = logged_workload(context, self.queries, required=False)
        table.refresh()
        request = FitRequest(
            table.file_indices,
            workload.entries,
            workload.unusable,
            self.options,
            wanted=self.layouts,
            queries_needed=self.queries is not None and not workload.entries,
            replica=any(options_for(name, self.options.own) for name in REPLICA_LAYOUTS),
        )
        with context.steps(len(context.snapshot), {"preparing": 1, "simulating": 2}) as steps:
            prepared = prepare_usable(table, request, steps.step("preparing"))
            model = load_model(context.engine)
            costs = gather_costs(table, request.file_indices, model, workload.entries)
            found = advise(prepared, progress=steps.step("simulating"), inputs=costs)
            if not self.block_maps:
                return found
            return replace(found, maps=block_maps(prepared, found.designs, costs))

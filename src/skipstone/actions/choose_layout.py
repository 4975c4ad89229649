"""From a request to a fitted layout: prepare, fit, simulate. Nothing is written here.

Everything that can be wrong with a request shows here, so that whoever then writes does so in vain only if
the writing itself fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from skipstone.actions.context import Context
from skipstone.actions.cost_store import load_model
from skipstone.actions.gather_costs import gather_costs
from skipstone.actions.lay_out import fit_design
from skipstone.actions.prepare import FitRequest
from skipstone.actions.usable import prepare_usable
from skipstone.catalog.column_names import paths_between
from skipstone.catalog.column_sizes import ColumnSizes
from skipstone.errors import SkipstoneError
from skipstone.estimate.advice import CURRENT_LAYOUT, Advice, advise
from skipstone.estimate.prepared import Prepared
from skipstone.estimate.worse import refusal
from skipstone.layout.contract import Design
from skipstone.layout.layouts import needs_of
from skipstone.layout.options import LayoutOptions
from skipstone.predicate.expr import with_columns
from skipstone.spark.engine.open_table import OpenTable
from skipstone.workload.predicates import LoggedFilter

__all__ = ["AUTO", "LayoutChoice", "choose_again", "choose_layout", "needs_queries"]

AUTO = "auto"
_SHARES = {"preparing": 2, "simulating": 2, "fitting": 1}


@dataclass(frozen=True, slots=True, eq=False)
class LayoutChoice:
    """The layout to apply; ``design`` is None if the files stay as they are.

    ``worse`` is the sentence about a layout that would be worse than what is there.
    """

    prepared: Prepared
    advice: Advice
    layout: str
    design: Design | None
    sizes: ColumnSizes = field(repr=False)
    fit_seconds: float = 0.0

    @property
    def percent_before(self) -> float | None:
        """What the log's queries scan now."""
        return self._percent(CURRENT_LAYOUT)

    @property
    def percent_after(self) -> float | None:
        """What they would scan."""
        return self._percent(self.layout)

    @property
    def worse(self) -> str:
        """The sentence about a layout that is worse than what is there; empty if it is not."""
        return refusal(self.layout, self.percent_before, self.percent_after) or ""

    def _percent(self, layout: str) -> float | None:
        return next((row.percent_scanned for row in self.advice.layouts if row.layout == layout), None)


def needs_queries(layout: str, options: LayoutOptions) -> bool:
    """Whether the layout that is asked for cannot be fitted without queries."""
    return layout != AUTO and needs_of(layout, options.own).workload


def choose_layout(context: Context, layout: str, request: FitRequest) -> LayoutChoice:
    """Fit and simulate the layout that is asked for, or all of them for ``auto``."""
    started, table = context.clock(), context.table
    steps = context.steps(len(request.file_indices), _SHARES)
    if layout != AUTO:
        needed = needs_queries(layout, request.options)
        request = replace(request, wanted=(layout,), queries_needed=needed)
    prepared = prepare_usable(table, request, steps.step("preparing"))
    costs = gather_costs(table, request.file_indices, load_model(context.engine), request.entries)
    advice = advise(prepared, None, steps.step("simulating"), costs)
    name = advice.best if layout == AUTO else layout
    design = None
    if name != CURRENT_LAYOUT:
        if name not in advice.designs:
            raise SkipstoneError(next(row.problem for row in advice.layouts if row.layout == name))
        fitting = context.reporting_to(steps.step("fitting"))
        design = fit_design(fitting, prepared, name, advice.designs[name])
    seconds = (context.clock() - started).total_seconds()
    return LayoutChoice(prepared, advice, name, design, costs.sizes, seconds)


def choose_again(
    context: Context, chosen: LayoutChoice, request: FitRequest, target: OpenTable
) -> LayoutChoice:
    """The choice for a table with the same rows in other files, such as a copy.

    A design speaks of stored columns. Where these are called otherwise in the copy, because the
    source renamed some (Delta's column mapping), the same layout is fitted anew.
    """
    indices = target.file_indices
    here, there = context.snapshot.names, target.snapshot.names
    if here.display == there.display:
        return replace(
            chosen, prepared=replace(chosen.prepared, snapshot=target.snapshot, file_indices=indices)
        )
    paths = paths_between(here, there)
    entries = tuple(_renamed(entry, paths) for entry in request.entries)
    renamed = replace(request, file_indices=indices, entries=entries)
    again = choose_layout(replace(context, table=target, progress=None), chosen.layout, renamed)
    # What the table scans now is what its source scans.
    return replace(again, advice=chosen.advice)


def _renamed(entry: LoggedFilter, paths: Mapping[tuple[str, ...], tuple[str, ...]]) -> LoggedFilter:
    tops = {path[0]: other[0] for path, other in paths.items()}
    columns = tuple(tops.get(column, column) for column in entry.columns)
    return replace(entry, filter=with_columns(entry.filter, paths), columns=columns)

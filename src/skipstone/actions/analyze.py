"""``analyze``: what a query log says about a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from skipstone.actions.analysis_report import AnalysisReport
from skipstone.actions.context import Context
from skipstone.actions.logged_workload import logged_workload
from skipstone.actions.usable import with_usable
from skipstone.arguments import checked
from skipstone.estimate.columns_asked import columns_asked
from skipstone.estimate.prepared import view_of
from skipstone.layout.options import SAMPLE_ROWS
from skipstone.layout.select_features import select_features
from skipstone.progress import Progress, Steps
from skipstone.spark.engine.draw_sample import Request, count_rows, draw, ordered_inputs
from skipstone.spark.engine.open_table import OpenTable
from skipstone.view import View, Viewed, count
from skipstone.workload.analysis import analyze
from skipstone.workload.curves import curves
from skipstone.workload.parsed_json import parsed_workload_json
from skipstone.workload.predicates import LoggedFilter, query_predicates
from skipstone.workload.queries import BrokenQuery, Workload, broken_and_left_out
from skipstone.workload.selection import Selection
from skipstone.workload.unusable import Usable

__all__ = ["Analyze", "WorkloadAnalysis"]

_SHARES = {"reading": 2, "mining": 3, "sampling": 3, "drawing curves": 2}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WorkloadAnalysis(Viewed):
    """What ``analyze`` found: a printable report, the parsed log as plain data, and unusable statements."""

    report: AnalysisReport
    parsed: dict[str, object]
    unusable: tuple[BrokenQuery, ...]
    entries: tuple[LoggedFilter, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Everything, ready for JSON, with the columns that are asked about and how that changed."""
        unused = broken_and_left_out(self.unusable)
        return {**self.report.to_dict(), **unused, **columns_asked(self.entries).to_dict()}

    def view(self) -> View:
        """The report, and how much of the log it leaves out."""
        seen = self.report.view()
        left_out = f"{count(len(self.unusable), 'statement')} could not be used"
        return replace(seen, notes=(*seen.notes, left_out)) if self.unusable else seen

    def __str__(self) -> str:
        return str(self.report)


@dataclass(frozen=True, slots=True, eq=False)
class Analyze:
    """Show predicates, features, commonality and stability of these queries, or of the table's own log.

    ``num_features`` is how many features to mine and ``threshold`` how many queries each must subsume; both
    are chosen by cross-validation over the log when not given.
    """

    name: ClassVar[str] = "analyze"

    queries: Workload | None = None
    num_features: int | None = None
    threshold: float | None = None

    def validate(self, context: Context) -> None:
        """Refuse numbers out of range."""
        checked(num_features=self.num_features, threshold=self.threshold)

    def run(self, context: Context) -> WorkloadAnalysis:
        """Read the log, mine it, and judge its candidates by some rows of the table."""
        with context.steps(1000, _SHARES) as steps:
            _begin(steps.step("reading"), "reading queries")
            workload = logged_workload(context, self.queries)
            workload.require_entries(context.source.location)

            def work(usable: Usable) -> WorkloadAnalysis:
                found = self._analysis(context, usable, steps)
                return replace(found, unusable=(*workload.unusable, *found.unusable))

            return with_usable(context.table, workload.entries, work)

    def _analysis(self, context: Context, usable: Usable, steps: Steps) -> WorkloadAnalysis:
        name = context.source.called
        _begin(steps.step("mining"), "mining features")
        analysis = analyze(usable.entries, threshold=self.threshold, num_features=self.num_features)
        with context.engine.watch(steps.step("sampling"), "sampling blocks"):
            selection = _selection_of(context.table, usable.entries)
        _begin(steps.step("drawing curves"), "measuring commonality and stability")
        shown = curves(query_predicates(usable.entries))
        report = AnalysisReport(name, analysis, shown, selection)
        parsed = parsed_workload_json(usable.entries, analysis, table=name)
        return WorkloadAnalysis(report, parsed, usable.unusable, tuple(usable.entries))


def _begin(progress: Progress | None, what: str) -> None:
    if progress is not None:
        progress(what, 0, 1)


def _selection_of(table: OpenTable, entries: Sequence[LoggedFilter]) -> Selection | None:
    """What the layout ``selforg`` would use, by rows drawn as for a fit; None if no filter is understood."""
    view = view_of(entries)
    if not view.atoms:
        return None
    indices = table.file_indices
    request = Request(
        indices, count_rows(table, indices), SAMPLE_ROWS, view.atoms, ordered_inputs(view.atoms)
    )
    return select_features(view, draw(table, request).sample)

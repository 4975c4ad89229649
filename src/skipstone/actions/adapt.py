"""``adapt``: change the tree that a table is laid out by where the queries of a window gain by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from skipstone.actions.adapt_report import AdaptReport, AttributeShare, ChangeFigures
from skipstone.actions.context import Context
from skipstone.actions.cost_store import load_model
from skipstone.actions.decide_adaptation import SCANNED_FIRST, Decided, decide_adaptation
from skipstone.actions.gather_costs import gather_costs
from skipstone.actions.lay_out import RewriteWork, rewrite_table
from skipstone.actions.logged_workload import logged_workload, recent_scans
from skipstone.actions.prepare import FitRequest
from skipstone.actions.read_table_state import require_delta
from skipstone.actions.usable import prepare_usable
from skipstone.arguments import checked
from skipstone.catalog.column_sizes import ColumnSizes
from skipstone.catalog.layout_records import ADAPTED_FROM
from skipstone.errors import SkipstoneError
from skipstone.estimate.cost import CostModel
from skipstone.estimate.policy import Policy
from skipstone.estimate.prepared import Prepared
from skipstone.estimate.unclustered import files_by_layout, layouts_in_use
from skipstone.layout.assignment import Tree
from skipstone.layout.hyper import HYPER
from skipstone.layout.options import SAMPLE_ROWS, LayoutOptions
from skipstone.layout.stored_layout import StoredLayout, stored_layout
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.workload.logged_scans import filters_of
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import BrokenQuery, Workload

__all__ = ["Adapt", "tree_layout"]

_SHARES = {"sampling": 4, "deciding": 3, "rewriting": 8}
_ROWS_A_FILE = 100
_FEWEST_ROWS = 50_000
_DONE = "its tree was adapted to just these queries already"
_NOTHING = "no change of its tree saves more than rewriting the blocks would cost"


@dataclass(frozen=True, slots=True, eq=False)
class Adapt:
    """Rewrite, in one commit, those blocks of a tree where the queries of a window gain more than it costs.

    Without ``queries`` the window is the last ``window_days`` of the table's log. Ranges of a column that no
    query is about may skip less by the share ``most_given_up`` of what they skip now, at most. A dry run
    leaves no trace. ``model`` is the stored cost model by default.
    """

    name: ClassVar[str] = "adapt"

    queries: Workload | None = None
    window_days: float = Policy().window_days
    most_given_up: float = 0.5
    dry_run: bool = False
    model: CostModel | None = None

    def validate(self, context: Context) -> None:
        """Refuse numbers out of range, and a table that cannot be rewritten in place."""
        checked(window_days=self.window_days, most_given_up=self.most_given_up)
        require_delta(context)
        if not self.dry_run:
            Rewriting(context.table)  # refuses tables that must not be rewritten

    def run(self, context: Context) -> AdaptReport:
        """Look at the tree and the queries, decide, and rewrite what pays."""
        context.table.refresh()
        started = context.clock()
        stored, indices = tree_layout(context)
        entries, unusable = self._window(context)
        with context.steps(len(indices), _SHARES) as steps:
            request = _request(stored, indices, entries, unusable)
            prepared = prepare_usable(context.table, request, steps.step("sampling"))
            steps.begin("deciding", "adapting the tree")
            inputs = gather_costs(
                context.table, indices, self.model or load_model(context.engine), prepared.entries
            )
            decided = decide_adaptation(prepared, stored, inputs, self.most_given_up)
            report = _report(prepared, stored, decided)
            report = replace(report, fit_seconds=(context.clock() - started).total_seconds())
            if self.dry_run or not report.changes:
                return report
            return _rewritten(
                context.reporting_to(steps.step("rewriting")),
                (prepared, stored, decided),
                inputs.sizes,
                report,
            )

    def _window(self, context: Context) -> tuple[tuple[LoggedFilter, ...], tuple[BrokenQuery, ...]]:
        if self.queries is not None:
            found = logged_workload(context, self.queries)
            found.require_entries(context.snapshot.root)
            return found.entries, found.unusable
        entries = filters_of(recent_scans(context, self.window_days))
        if not entries:
            raise SkipstoneError(
                f"The log has no query of the last {self.window_days:g} days on {context.snapshot.root}; "
                "give a query file, or record queries with skipstone.enable(spark, log=True)."
            )
        return entries, ()


def tree_layout(context: Context) -> tuple[StoredLayout, Counts]:
    """The newest layout that is a tree, and the indices of the files that lie by it."""
    files, catalog, root = context.snapshot.files, context.catalog, context.snapshot.root
    for layout in layouts_in_use(files, catalog):
        stored = stored_layout(context.store, layout, root)
        if stored is not None and isinstance(stored.design.groups[0].assignment, Tree):
            lineage = dict.fromkeys(stored.record.adapted_from, layout)
            return stored, np.sort(files_by_layout(files, catalog, lineage)[layout])
    raise SkipstoneError(
        f"{root} is not laid out by a tree that could be adapted; lay it out by one first "
        "(skipstone optimize --layout hyper)."
    )


def _request(
    stored: StoredLayout,
    indices: Counts,
    entries: Sequence[LoggedFilter],
    unusable: Sequence[BrokenQuery],
) -> FitRequest:
    rows = min(SAMPLE_ROWS, max(_FEWEST_ROWS, _ROWS_A_FILE * len(indices)))
    options = LayoutOptions(block_rows=stored.record.block_rows, sample_rows=rows, own=stored.record.options)
    # All columns are sampled, as for hyper: the report says what each loses, whatever layout made the tree.
    return FitRequest(indices, tuple(entries), tuple(unusable), options, wanted=(HYPER.name,))


def _report(prepared: Prepared, stored: StoredLayout, decided: Decided) -> AdaptReport:
    found, names = decided.adaptation, prepared.snapshot.logical_names
    done_before = bool(stored.record.adapted_from) and stored.record.fingerprint == prepared.fingerprint
    changes = found.changes if decided.pays and not done_before else ()
    weights = max(float(prepared.workload.queries.weights.sum()), 1e-9)
    whole = 100 / max(prepared.total_rows, 1) / weights
    return AdaptReport(
        root=prepared.snapshot.root,
        strategy=stored.record.strategy,
        adapted_from=stored.record.id,
        layout_id="",
        reason="" if changes else _DONE if done_before else _NOTHING,
        queries=weights,
        files=len(prepared.file_indices),
        bytes=prepared.bytes,
        files_rewritten=len(decided.file_indices) if changes else 0,
        bytes_rewritten=prepared.snapshot.bytes_of(decided.file_indices) if changes else 0,
        files_written=sum(len(change.grown.leaves) for change in changes),
        percent_before=decided.before.rows * whole,
        percent_after=(decided.after if changes else decided.before).rows * whole,
        seconds_saved=decided.seconds_saved if changes else 0.0,
        rewrite_seconds_estimated=decided.rewrite_seconds if changes else 0.0,
        changes=tuple(
            ChangeFigures(len(change.units), len(change.grown.leaves), change.saved, change.cost)
            for change in changes
        ),
        attributes=tuple(
            AttributeShare(
                names.sql(expr),
                expr in found.queried,
                share,
                (found.after if changes else found.before)[expr],
            )
            for expr, share in found.before.items()
        ),
        fit_seconds=0.0,
        unusable=prepared.unusable,
    )


def _rewritten(
    context: Context,
    decision: tuple[Prepared, StoredLayout, Decided],
    sizes: ColumnSizes,
    report: AdaptReport,
) -> AdaptReport:
    prepared, stored, decided = decision
    started, record = context.clock(), stored.record
    at_first = {each.column: round(each.before, 6) for each in report.attributes}
    parameters = {
        SCANNED_FIRST: at_first,
        **record.parameters,
        ADAPTED_FROM: [record.id, *record.adapted_from],
        "scanned_by_ranges": {each.column: round(each.after, 6) for each in report.attributes},
    }
    chosen = replace(prepared, file_indices=decided.file_indices, total_rows=round(decided.rows))
    kept = replace(decided.stored, parameters=parameters)
    work = RewriteWork(chosen, record.strategy, decided.writing, sizes, stored=kept)
    done = rewrite_table(context, work)
    return replace(
        report,
        layout_id=done.layout_id,
        files_written=done.rewritten.files_after,
        rewrite_seconds=(context.clock() - started).total_seconds(),
        version=done.rewritten.version,
    )

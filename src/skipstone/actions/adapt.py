"""``adapt``: change the tree that a table is laid out by where the queries of a window gain by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from skipstone.actions.adapt_report import AdaptReport
from skipstone.actions.context import Context
from skipstone.actions.cost_store import load_model
from skipstone.actions.decide_adaptation import SCANNED_FIRST, AdaptTerms
from skipstone.actions.lay_out import RewriteWork, rewrite_table
from skipstone.actions.logged_workload import logged_workload, recent_scans
from skipstone.actions.plan_adaptation import PlannedAdaptation, Window, plan_adaptation
from skipstone.actions.read_table_state import require_delta
from skipstone.arguments import checked
from skipstone.catalog.layout_records import ADAPTED_FROM
from skipstone.errors import SkipstoneError
from skipstone.estimate.cost import CostModel
from skipstone.estimate.policy import Policy
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.workload.logged_scans import filters_of
from skipstone.workload.queries import Workload

__all__ = ["Adapt", "rewrite_adapted"]

_SHARES = {"planning": 7, "rewriting": 8}


@dataclass(frozen=True, slots=True, eq=False)
class Adapt:
    """Rewrite, in one commit, those blocks of a tree where the queries of a window gain more than it costs.

    Without ``queries`` the window is the last ``window_days`` of the table's log. Ranges of a column that no
    query is about may skip less by the share ``most_given_up`` of what they skip now, at most, and less than
    the share ``most_rewritten`` of the rows is rewritten. A dry run leaves no trace. ``model`` is the stored
    cost model by default.
    """

    name: ClassVar[str] = "adapt"

    queries: Workload | None = None
    window_days: float = Policy().window_days
    most_given_up: float = AdaptTerms().most_given_up
    most_rewritten: float = AdaptTerms().most_rewritten
    dry_run: bool = False
    model: CostModel | None = None

    def validate(self, context: Context) -> None:
        """Refuse numbers out of range, and a table that cannot be rewritten in place."""
        checked(
            window_days=self.window_days,
            most_given_up=self.most_given_up,
            most_rewritten=self.most_rewritten,
        )
        require_delta(context)
        if not self.dry_run:
            Rewriting(context.table)  # refuses tables that must not be rewritten

    def run(self, context: Context) -> AdaptReport:
        """Look at the tree and the queries, decide, and rewrite what pays."""
        context.table.refresh()
        model = self.model or load_model(context.engine)
        terms = AdaptTerms(self.most_given_up, self.most_rewritten)
        window = self._window(context)
        with context.steps(len(context.snapshot), _SHARES) as steps:
            planning = context.reporting_to(steps.step("planning"))
            planned = plan_adaptation(planning, window, model, terms)
            if self.dry_run or not planned.report.changes:
                return planned.report
            return rewrite_adapted(context.reporting_to(steps.step("rewriting")), planned)

    def _window(self, context: Context) -> Window:
        if self.queries is not None:
            found = logged_workload(context, self.queries)
            found.require_entries(context.snapshot.root)
            return Window(found.entries, found.unusable)
        entries = filters_of(recent_scans(context, self.window_days))
        if not entries:
            raise SkipstoneError(
                f"The log has no query of the last {self.window_days:g} days on {context.snapshot.root}; "
                "give a query file, or record queries with skipstone.enable(spark, log=True)."
            )
        return Window(tuple(entries))


def rewrite_adapted(context: Context, planned: PlannedAdaptation) -> AdaptReport:
    """Rewrite what was planned, in one commit, and store the adapted layout."""
    prepared, decided, report = planned.prepared, planned.decided, planned.report
    started, record = context.clock(), planned.stored.record
    at_first = {each.column: round(each.before, 6) for each in report.attributes}
    parameters = {
        SCANNED_FIRST: at_first,
        **record.parameters,
        ADAPTED_FROM: [record.id, *record.adapted_from],
        "scanned_by_ranges": {each.column: round(each.after, 6) for each in report.attributes},
    }
    chosen = replace(prepared, file_indices=decided.file_indices, total_rows=round(decided.rows))
    kept = replace(decided.stored, parameters=parameters)
    work = RewriteWork(chosen, record.strategy, decided.writing, planned.sizes, stored=kept)
    done = rewrite_table(context, work)
    return replace(
        report,
        layout_id=done.layout_id,
        files_written=done.rewritten.files_after,
        rewrite_seconds=(context.clock() - started).total_seconds(),
        version=done.rewritten.version,
    )

"""``append``: rows into a Delta table, in the blocks of the newest layout if that has proved itself.

Rows are appended exactly once. Neither the log, the catalog nor a layout may keep them out of the table: what
fails before the append, or with the layout, makes it an ordinary append. What fails after it is reported as a
decision, never as an error: whoever sees an append fail appends again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

from skipstone.actions.auto import Auto
from skipstone.actions.context import Context
from skipstone.actions.publish_append import publish_append
from skipstone.actions.read_table_state import read_table_state
from skipstone.catalog.decisions import Decision
from skipstone.catalog.layout_records import LayoutRecord
from skipstone.errors import SkipstoneError
from skipstone.estimate.cost import CostModel
from skipstone.estimate.policy import Policy, policy_or_default
from skipstone.progress import Steps
from skipstone.spark import DataFrame
from skipstone.spark.engine.append_by_layout import LayoutAppend, append_by_layout, append_plainly
from skipstone.spark.engine.cancellation import shielded
from skipstone.spark.failures import some_sentence_of
from skipstone.spark.querylog.query_log import logged

__all__ = ["Append"]

LOG = logging.getLogger("skipstone")
_SHARES = {"looking": 1, "appending": 4, "publishing": 1, "deciding": 6}


@dataclass(frozen=True, slots=True, eq=False)
class Append:
    """Append rows, then lay new data out if enough has gathered and it pays.

    If the newest layout still suits the recent queries, the rows are written by it at once. They are in the
    table whatever becomes of the layout: if that fails, the decision says why.
    """

    name: ClassVar[str] = "append"

    rows: DataFrame
    policy: Policy | None = None
    model: CostModel | None = None

    def validate(self, context: Context) -> None:
        """Refuse what is no policy, and a table that has no atomic append."""
        policy_or_default(self.policy)
        if not context.snapshot.is_delta:
            raise SkipstoneError(
                f"{context.source.location} is a directory of Parquet files, and rows can be appended to "
                "Delta tables only; make it one first (skipstone optimize --convert)."
            )

    def run(self, context: Context) -> Decision:
        """Append, and decide what becomes of the new data."""
        steps = context.steps(len(context.snapshot), _SHARES)
        steps.begin("looking", "looking at layout and log")
        layout = _proven_layout(context, policy_or_default(self.policy))
        started = context.clock()
        steps.begin("appending", "appending rows")
        placed = self._append(context, layout)
        try:
            seconds = (context.clock() - started).total_seconds()
            with steps:
                return self._follow_up(context, placed, seconds, steps)
        # The rows are in the table, and whoever sees an append fail appends them again.
        except Exception as problem:  # noqa: BLE001
            cancelled = "The work was cancelled"
            reason = cancelled if context.cancel.requested else some_sentence_of(problem).rstrip(".")
            LOG.warning("The rows were appended, but not laid out: %s.", reason)
            return Decision(context.clock().isoformat(), False, "FAILED", reason)
        finally:
            _bind(context)

    def _append(self, context: Context, layout: LayoutRecord | None) -> LayoutAppend | None:
        """Append by the layout; if there is none or it fails, as the rows come."""
        table, source = context.table, context.source
        if layout is not None:
            if (placed := append_by_layout(source, table, layout, self.rows)) is not None:
                return placed
            context.cancel.check()
        # What the user's rows read of other tables is a query of theirs.
        with logged(context.engine.spark):
            append_plainly(source, table, self.rows)
        return None

    def _follow_up(
        self, context: Context, placed: LayoutAppend | None, seconds: float, steps: Steps
    ) -> Decision:
        now = context.reopened()
        published = None
        if placed is not None:
            now.table.refresh()
            published = publish_append(now.reporting_to(steps.step("publishing")), placed, seconds)
        round_ = Auto(policy=self.policy, lazy=True, model=self.model)
        decision = round_.run(now.reporting_to(steps.step("deciding")))
        return decision if published is None or decision.acted else published


def _proven_layout(context: Context, policy: Policy) -> LayoutRecord | None:
    """The newest layout if it suits the recent queries."""
    try:
        context.table.refresh()
        return read_table_state(context, policy).proven
    # Neither the log nor the catalog may keep rows out of the table.
    except Exception as problem:  # noqa: BLE001
        context.cancel.check()
        LOG.warning("Rows are appended without a layout: %s", some_sentence_of(problem))
        return None


def _bind(context: Context) -> None:
    """Let queries see the new rows, also if what follows the append was cancelled."""
    try:
        with shielded(context.engine.spark):
            context.source.bind()
    # The rows are in the table: an error here would have them appended again.
    except Exception as problem:  # noqa: BLE001
        LOG.warning(
            "The rows were appended, but queries by name do not see them: %s", some_sentence_of(problem)
        )

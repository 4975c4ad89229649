"""Actions: what a user can ask for, whether in Python, at the command line or through the server.

An action is a plain value. It is validated before anything is written, and then run; both see the same
context. A shell only makes the value, performs it and renders the result.
"""

from __future__ import annotations

from typing import ClassVar, Protocol, TypeVar

from skipstone.actions.context import Clock, Context, now
from skipstone.cancel import Cancel
from skipstone.progress import Progress
from skipstone.spark.engine.cancellation import cancellable
from skipstone.spark.engine.executors import bounded_wait
from skipstone.spark.engine.source import Source
from skipstone.spark.querylog.query_log import unlogged

__all__ = ["Action", "perform"]

Result_co = TypeVar("Result_co", covariant=True)


class Action(Protocol[Result_co]):
    """One thing that a user can ask for of a table."""

    name: ClassVar[str]
    """The verb, as at the command line."""

    def validate(self, context: Context) -> None:
        """Refuse, in one sentence, what is known to fail; nothing has been written yet."""

    def run(self, context: Context) -> Result_co:
        """Do it."""


def perform(
    action: Action[Result_co],
    source: Source,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    clock: Clock = now,
) -> Result_co:
    """Open the table, validate the action and run it; its jobs are not logged and can be cancelled."""
    spark, token = source.engine.spark, cancel or Cancel()
    with bounded_wait(spark), unlogged(spark), cancellable(spark, token):
        context = Context(source, source.open(), progress, token, clock)
        action.validate(context)
        return action.run(context)

"""Actions without a table, such as a calibration: validated, run and cancelled as those with one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, TypeVar

from skipstone.actions.context import Clock, now
from skipstone.cancel import Cancel
from skipstone.progress import Progress, Steps
from skipstone.spark.engine.cancellation import cancellable
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.executors import bounded_wait
from skipstone.spark.querylog.query_log import unlogged

__all__ = ["EngineAction", "EngineContext", "perform_on_engine"]

Result_co = TypeVar("Result_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class EngineContext:
    """Spark, where to report, and whether to end."""

    engine: Engine
    progress: Progress | None = None
    cancel: Cancel = field(default_factory=Cancel)
    clock: Clock = now

    def steps(self, total: int, shares: Mapping[str, float]) -> Steps:
        """Announce the steps of an action, each with its share of the work; each of them can be cancelled."""
        return Steps(self.progress, total, shares, self.cancel)


class EngineAction(Protocol[Result_co]):
    """One thing that a user can ask for of Spark itself."""

    name: ClassVar[str]
    """The verb, as at the command line."""

    def validate(self, context: EngineContext) -> None:
        """Refuse, in one sentence, what is known to fail; nothing has been written yet."""

    def run(self, context: EngineContext) -> Result_co:
        """Do it."""


def perform_on_engine(
    action: EngineAction[Result_co],
    engine: Engine,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    clock: Clock = now,
) -> Result_co:
    """Validate the action and run it; its jobs are not logged and can be cancelled."""
    token = cancel or Cancel()
    with bounded_wait(engine.spark), unlogged(engine.spark), cancellable(engine.spark, token):
        context = EngineContext(engine, progress, token, clock)
        action.validate(context)
        return action.run(context)

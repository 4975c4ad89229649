"""A listener on commits: it looks at the table's version now and then, and decides after a new one.

Polling sees the commits of every writer, on any cluster, and costs one listing of Delta's log. A listener in
the JVM would see only those of its own driver.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from skipstone.actions.action import perform
from skipstone.actions.auto import Auto
from skipstone.arguments import checked
from skipstone.catalog.decisions import Decision
from skipstone.estimate.policy import Policy, policy_or_default
from skipstone.spark.engine.source import Source
from skipstone.spark.failures import some_sentence_of
from skipstone.spark.running import require_running

__all__ = ["Report", "Watch", "watch_table"]

LOG = logging.getLogger("skipstone")
Report = Callable[[Decision], None]


def watch_table(
    source: Source,
    seconds: float = 30.0,
    policy: Policy | None = None,
    report: Report = lambda _: None,
) -> Watch:
    """Watch a table's commits, whoever makes them, and run a round of ``auto`` after each.

    The table's version is looked up every ``seconds``; ``report`` is called with each decision. Nothing
    happens before :meth:`Watch.start`.
    """
    policy_or_default(policy)
    require_running(source.engine.spark, source.location)

    def version() -> int:
        require_running(source.engine.spark, source.location)
        return source.open().snapshot.version

    return Watch(version, lambda: perform(Auto(policy=policy, lazy=True), source), seconds, report=report)


class Watch:
    """Runs a round of the optimiser after commits, in a thread of its own, until it is stopped.

    ``version`` returns the table's version and ``decide`` runs a round. Its own commits count too, so that
    old data is laid out anew step by step until nothing pays any more. A round also runs every
    ``idle_checks`` looks without a commit, for the log grows while the table does not. ``report`` is called
    with each decision. A round that fails is logged, and the watch goes on.
    """

    def __init__(
        self,
        version: Callable[[], int],
        decide: Callable[[], Decision],
        seconds: float = 30.0,
        idle_checks: int = 60,
        report: Report = lambda _: None,
    ) -> None:
        numbers = checked(seconds=seconds, idle_checks=idle_checks)
        self._version = version
        self._decide = decide
        self._seconds: float = numbers["seconds"]
        self._idle_checks: int = numbers["idle_checks"]
        self._report = report
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._seen = -1
        self._idle = 0

    def start(self) -> Watch:
        """Watch in the background."""
        self._thread = threading.Thread(target=self.run, name="skipstone-watch", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Watch no more; a round that is running is awaited."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def run(self) -> None:
        """Watch until stopped."""
        while True:
            self.look()
            if self._stop.wait(self._seconds):
                return

    def look(self) -> Decision | None:
        """Look once; the decision if there was a reason for one."""
        try:
            version = self._version()
            self._idle += 1
            if version == self._seen and self._idle < self._idle_checks:
                return None
            self._idle = 0
            decision = self._decide()
            self._seen = version
        # A table that cannot be read now may be readable at the next look.
        except Exception as problem:  # noqa: BLE001
            LOG.warning("The table was not looked at: %s", some_sentence_of(problem))
            return None
        self._report(decision)
        return decision

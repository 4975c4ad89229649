"""What an action works with: a table at one snapshot, where to report, and whether to end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from skipstone.cancel import Cancel
from skipstone.catalog import Catalog
from skipstone.catalog.replica_store import FolderStore
from skipstone.catalog.snapshot import Snapshot
from skipstone.progress import Progress, Steps
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.source import Source

__all__ = ["Clock", "Context", "now"]

Clock = Callable[[], datetime]


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """One table, opened once. ``source`` opens it again for whoever has changed it."""

    source: Source
    table: OpenTable
    progress: Progress | None = None
    cancel: Cancel = field(default_factory=Cancel)
    clock: Clock = now

    @property
    def engine(self) -> Engine:
        """Spark, and what answers for the catalogs."""
        return self.table.engine

    @property
    def snapshot(self) -> Snapshot:
        """The table as it was when the action began."""
        return self.table.snapshot

    @property
    def catalog(self) -> Catalog:
        """What is known about the table's blocks."""
        return self.table.catalog

    @property
    def store(self) -> FolderStore:
        """Where the table's catalog, layouts and decisions are kept."""
        return self.table.store

    def report(self, what: str, done: int, total: int) -> None:
        """Say how far the action is, to whoever wants to know; raises if somebody has asked for an end."""
        self.cancel.check()
        if self.progress is not None:
            self.progress(what, done, total)

    def steps(self, total: int, shares: Mapping[str, float]) -> Steps:
        """Announce the steps of an action, each with its share of the work; each of them can be cancelled."""
        return Steps(self.progress, total, shares, self.cancel)

    def reporting_to(self, progress: Progress | None) -> Context:
        """The same, for a part of the action whose progress goes elsewhere."""
        return replace(self, progress=progress)

    def reopened(self) -> Context:
        """The same for the table as it is now."""
        return replace(self, table=self.source.open())

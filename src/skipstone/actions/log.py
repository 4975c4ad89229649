"""A table's own query log: shown or cleared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from skipstone.actions.context import Context
from skipstone.spark.querylog.query_log import clear_log, read_log
from skipstone.workload.logged_scans import LoggedScan

__all__ = ["ClearLog", "ShowLog"]


@dataclass(frozen=True, slots=True)
class ShowLog:
    """The logged scans, oldest first; ``since``, a datetime with a time zone, leaves older ones out.

    So does ``newest``, which is how many are shown.
    """

    name: ClassVar[str] = "log show"

    since: datetime | None = None
    newest: int | None = None

    def validate(self, context: Context) -> None:
        """Any table has a log, which may be empty."""

    def run(self, context: Context) -> tuple[LoggedScan, ...]:
        """Append what was just recorded, and read."""
        context.report("reading the query log", 0, 1)
        scans = read_log(context.engine, context.table.root, self.since, self.newest)
        context.report("reading the query log", 1, 1)
        return scans


@dataclass(frozen=True, slots=True)
class ClearLog:
    """Delete every entry of the log."""

    name: ClassVar[str] = "log clear"

    def validate(self, context: Context) -> None:
        """An empty log is cleared too."""

    def run(self, context: Context) -> int:
        """Delete, and say how many entries there were."""
        context.report("clearing the query log", 0, 1)
        return clear_log(context.engine, context.table.root)

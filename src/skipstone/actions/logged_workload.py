"""The workload of an action: given queries, or the table's own log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from skipstone.actions.context import Context
from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.parse_sql import TableSource, parse_queries
from skipstone.spark.querylog.query_log import usable_log
from skipstone.workload.logged_scans import LoggedScan, filters_of
from skipstone.workload.predicates import LoggedFilter, logged_filters
from skipstone.workload.queries import BrokenQuery, Workload, first_of

__all__ = ["LoggedWorkload", "logged_workload", "recent_scans"]


@dataclass(frozen=True, slots=True)
class LoggedWorkload:
    """The filters that queries put on a table, and the statements that cannot be used."""

    entries: tuple[LoggedFilter, ...]
    unusable: tuple[BrokenQuery, ...] = ()

    def require_entries(self, location: str) -> None:
        """Refuse a workload that does not read the table."""
        if not self.entries:
            raise SkipstoneError(f"No query of the log reads {location}{first_of(self.unusable)}.")


def logged_workload(context: Context, queries: Workload | None, required: bool = True) -> LoggedWorkload:
    """The filters of the given queries, or of the table's own log, which may be empty unless required."""
    if queries is not None:
        return _parsed(context, queries)
    scans, left_out = usable_log(context.table)
    if required and not scans:
        raise SkipstoneError(
            left_out
            or f"{context.source.location} has no query log yet: give a query file, import one with "
            "skipstone log import, or record queries with skipstone.enable(spark, log=True)."
        )
    return LoggedWorkload(filters_of(scans))


def _parsed(context: Context, queries: Workload) -> LoggedWorkload:
    name, snapshot = context.source.called, context.snapshot
    tables = {name: TableSource(snapshot.schema, snapshot.root)}
    parsed = parse_queries(context.engine.spark, queries, tables)
    return LoggedWorkload(logged_filters(parsed, name), parsed.unusable)


def recent_scans(context: Context, window_days: float, newest: int | None = None) -> tuple[LoggedScan, ...]:
    """The scans of the table's log in the last days, as far as a table of its columns can be asked them."""
    scans, _ = usable_log(context.table, context.clock() - timedelta(days=window_days), newest)
    return scans

"""Query logs from elsewhere, made entries of a table's own log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, NamedTuple

from skipstone.actions.context import Context
from skipstone.predicate.normalize import normalize_filter
from skipstone.spark.bridge.parse_sql import TableSource, parse_queries
from skipstone.spark.querylog.query_log import append_log
from skipstone.workload.logged_scans import LoggedScan
from skipstone.workload.queries import BrokenQuery, Query, TableScan, Workload

__all__ = ["ImportLog", "ImportedLog"]


class ImportedLog(NamedTuple):
    """``added`` is how many scans the log has more; ``unusable`` are the statements that cannot be used."""

    added: int
    unusable: tuple[BrokenQuery, ...]


@dataclass(frozen=True, slots=True)
class ImportLog:
    """Add the scans that these queries make to the table's query log; nothing is run."""

    name: ClassVar[str] = "log import"

    queries: Workload

    def validate(self, context: Context) -> None:
        """What cannot be used is left out, with its reason."""

    def run(self, context: Context) -> ImportedLog:
        """Parse all queries, then append the scans in one batch."""
        table, name = context.table, context.source.called
        known = {name: TableSource(table.snapshot.schema, table.root)}
        parsed = parse_queries(context.engine.spark, self.queries, known, progress=context.report)
        now = context.clock()
        scans = [_logged(query, scan, len(table.files), now) for query, scan in parsed.scans_of(name)]
        context.report("appending to the query log", len(self.queries.queries), len(self.queries.queries))
        append_log(context.engine, table.root, scans)
        return ImportedLog(len(scans), parsed.unusable)


def _logged(query: Query, scan: TableScan, files_total: int, now: datetime) -> LoggedScan:
    """The scan without figures, since it was not seen to run here."""
    asked = query.timestamp or now
    return LoggedScan(
        time=asked.replace(tzinfo=UTC) if asked.tzinfo is None else asked.astimezone(UTC),
        filter=normalize_filter(scan.filter),
        columns=scan.columns,
        files_total=files_total,
        files_read=0,
        bytes_read=0,
        rows_read=0,
        rows_needed=None,
        seconds=0.0,
        user=query.user or "",
        application="import",
        count=query.count,
    )

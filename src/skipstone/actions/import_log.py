"""Query logs from elsewhere, made entries of a table's own log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from pyspark.sql import SparkSession

from skipstone.predicate.normalize import normalize_filter
from skipstone.spark.bridge.parse_sql import TableSource, parse_queries
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.open_table import TableFiles
from skipstone.spark.querylog.query_log import append_log
from skipstone.workload.logged_scans import LoggedScan
from skipstone.workload.queries import BrokenQuery, Query, TableScan, Workload

__all__ = ["import_queries"]


def import_queries(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    name: str,
    queries: Workload,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> tuple[int, tuple[BrokenQuery, ...]]:
    """Append the scans that queries make of one table; how many, and the statements that cannot be used."""
    parsed = parse_queries(spark, queries, {name: TableSource(files.schema, files.root)})
    now = clock()
    scans = [_logged(query, scan, len(files.files), now) for query, scan in parsed.scans_of(name)]
    append_log(spark, runtime, files.root, scans)
    return len(scans), parsed.unusable


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

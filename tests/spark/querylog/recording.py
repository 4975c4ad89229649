"""Small tables whose queries are recorded, and what was recorded of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from pyspark.sql import SparkSession

import skipstone
from skipstone.predicate.expr import Column, Comparison, Literal
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import LONG
from skipstone.spark.querylog.query_log import recorder_of
from skipstone.spark.querylog.recorder import Recorder
from skipstone.workload.logged_scans import LoggedScan

ROWS = (
    "id AS k",
    "if(id % 100 = 50, 'Oslo', 'Porto') AS city",
    "date_add(DATE'2024-01-01', cast(id AS int)) AS day",
)
NEVER = {"spillSeconds": "3600", "intervalSeconds": "3600"}


def make_rows(spark: SparkSession, path: Path, format_: str = "delta") -> None:
    """400 rows in four files, k from 0 to 399 in order."""
    spark.range(0, 400, 1, 4).selectExpr(*ROWS).write.format(format_).save(str(path))


def make_table(spark: SparkSession, path: Path, name: str, format_: str = "delta") -> skipstone.Table:
    """The same rows as a table with statistics."""
    make_rows(spark, path, format_)
    table = skipstone.table(spark, f"{name}={path}")
    table.index()
    return table


@contextmanager
def logging(spark: SparkSession, spill: Path, **settings: str) -> Iterator[Recorder]:
    """Record queries meanwhile; nothing is appended in the background unless asked for."""
    given = {"spillDirectory": str(spill), **NEVER, **settings}
    for key, value in given.items():
        spark.conf.set(f"spark.skipstone.log.{key}", value)
    skipstone.enable(spark, log=True)
    recorder = recorder_of(spark)
    assert recorder is not None
    try:
        yield recorder
    finally:
        skipstone.enable(spark, log=False)
        for key in given:
            spark.conf.unset(f"spark.skipstone.log.{key}")


def seen(scans: tuple[LoggedScan, ...]) -> list[tuple[str, int, int, int | None]]:
    """Filters without null tests, files read, rows read and needed."""
    return [
        (without_null_tests(scan), scan.files_read, scan.rows_read, scan.rows_needed)
        for scan in scans
    ]  # fmt: skip


def without_null_tests(scan: LoggedScan) -> str:
    """The filter of a scan as SQL."""
    parts = to_sql(scan.filter).split(" AND ")
    return " AND ".join(part for part in parts if not part.endswith("IS NOT NULL")) or "TRUE"


def spilled(recorder: Recorder) -> list[Path]:
    """The files of scans that wait on local disk."""
    return sorted(recorder.folder.path.glob("*.jsonl"))


def scan_at(time: datetime, k: int = 5) -> LoggedScan:
    """A scan that needed ``k`` rows."""
    low = Comparison("<", Column(("k",), LONG), Literal(k, LONG))
    return LoggedScan(time, low, ("k",), 4, 1, 900, 100, k, 0.1, "ada", "test")

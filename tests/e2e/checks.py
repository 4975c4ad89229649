"""What every end-to-end test of skipping asserts: the same rows with skipping on and off, and fewer files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from tests.light_plans import settings_of

import skipstone
from skipstone.pruning.report import ScanReport
from skipstone.spark.bridge.jvm import JavaObject

SWITCH = "spark.skipstone.enabled"
Query = str | Callable[[], DataFrame]


@contextmanager
def settings(spark: SparkSession, **values: str) -> Iterator[None]:
    """The session's settings for a while; two underscores in a name stand for a dot."""
    with settings_of(spark, {key.replace("__", "."): value for key, value in values.items()}):
        yield


def frame_of(spark: SparkSession, query: Query) -> DataFrame:
    """A frame that is planned now: an older one keeps the plan it was given first."""
    return spark.sql(query) if isinstance(query, str) else query()


def answer(spark: SparkSession, query: Query) -> list[str]:
    """The rows as a multiset; as text, for NaN is to be equal to itself."""
    return sorted(map(repr, frame_of(spark, query).collect()))


def assert_same(spark: SparkSession, query: Query, rows: int | None = None) -> list[str]:
    """The query answers the same with skipping on and off; ``rows`` is how many rows it has."""
    return assert_same_by(spark, query, rows)[0]


def assert_same_by(
    spark: SparkSession, query: Query, rows: int | None = None
) -> tuple[list[str], JavaObject]:
    """The same, and Spark's ``QueryExecution`` by which it was answered with skipping on."""
    with settings(spark, spark__skipstone__enabled="false"):
        truth = answer(spark, query)
    frame = frame_of(spark, query)
    assert sorted(map(repr, frame.collect())) == truth, query
    assert rows is None or len(truth) == rows, (query, len(truth))
    return truth, frame._jdf.queryExecution()


def assert_skips(
    table: skipstone.Table, query: Query, rows: int | None = None, read: int | None = None
) -> ScanReport:
    """The same rows, from fewer files, ``read`` of them. Returns the report on the first scan."""
    found = assert_same(table.spark, query, rows)
    scan = scan_of(table, query)
    assert not scan.failure, scan.failure
    assert scan.files_skipped > 0, f"{query} skips nothing: {scan}"
    assert scan.files_read < scan.files_total
    assert scan.files_read > 0 or not found
    assert read is None or scan.files_read == read, scan
    return scan


def assert_reads_all(table: skipstone.Table, query: Query, rows: int | None = None) -> ScanReport:
    """The same rows, and nothing is skipped."""
    assert_same(table.spark, query, rows)
    scan = scan_of(table, query)
    assert scan.files_skipped == 0, scan
    return scan


def scan_of(table: skipstone.Table, query: Query) -> ScanReport:
    """What was decided about the query's first scan."""
    return table.explain(frame_of(table.spark, query)).scans[0]


def write_files(path: Path, columns: Sequence[pa.Table], **options: object) -> None:
    """One Parquet file per table, by another writer than Spark."""
    path.mkdir(parents=True, exist_ok=True)
    for index, table in enumerate(columns):
        pq.write_table(table, path / f"part-{index:03d}.parquet", **options)


def indexed(spark: SparkSession, name: str, path: Path, **options: Sequence[str]) -> skipstone.Table:
    """The table at a path, with statistics, known to SQL by ``name``."""
    table = skipstone.table(spark, f"{name}={path}")
    report = table.index(**options)  # type: ignore[arg-type]
    assert report.files_indexed > 0
    return table

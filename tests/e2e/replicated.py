"""Small tables with replicas, and what tests of them assert."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession
from tests.e2e.checks import Query, assert_same, frame_of, scan_of

import skipstone
from skipstone.actions.replicate import Replicate, ReplicateReport
from skipstone.layout.options import LayoutOptions
from skipstone.pruning.report import ScanReport
from skipstone.workload.queries import Query as LoggedQuery
from skipstone.workload.queries import Workload

ROWS, FILES = 400, 8
COLUMNS = (
    "id",
    "CAST(pmod(xxhash64(id), 1000) AS INT) AS k",
    "IF(id % 7 = 0, NULL, concat('n', id)) AS name",
    "id % 3 AS p",
    "named_struct('a', id * 2, 'b', IF(id % 5 = 0, NULL, 'x')) AS st",
)
STEPS = (100, 200, 400, 600, 800)


def write_rows(spark: SparkSession, path: Path, start: int = 0, rows: int = ROWS, by: str = "") -> None:
    """Append rows with consecutive ids, 50 to a file, or to the files of some partitions."""
    frame = spark.range(start, start + rows, 1, max(1, rows * FILES // ROWS)).selectExpr(*COLUMNS)
    writer = frame.write.format("delta").mode("append")
    (writer.partitionBy(by) if by else writer).save(str(path))


def replicate(table: skipstone.Table, partition_rows: int | None = 200, by: str = "k") -> ReplicateReport:
    """A replica in the order of a column, in two horizontal partitions if the table has 400 rows."""
    queries = (f"SELECT 1 FROM delta.`{table.source}` WHERE {by} < {most}" for most in STEPS)
    log = Workload(tuple(map(LoggedQuery, queries)))
    report = table.perform(Replicate(log, "qdtree", LayoutOptions(block_rows=40), partition_rows))
    assert report.replica
    return report


def make_replicated(spark: SparkSession, path: Path, by: str = "") -> skipstone.Table:
    """400 rows in 8 files in the order of id, with a replica in the order of k and without statistics."""
    write_rows(spark, path, by=by)
    table = skipstone.table(spark, str(path))
    assert replicate(table).partitions == 2
    return table


def verdicts(scan: ScanReport) -> Mapping[str, int]:
    """How many horizontal partitions have each verdict."""
    assert not scan.failure, scan.failure
    return {copy.code: copy.partitions for copy in scan.copies}


def replica_files(spark: SparkSession, query: Query) -> int:
    """How many files of replicas a query reads."""
    return sum("_skipstone" in path for path in frame_of(spark, query).inputFiles())


def assert_copied(
    table: skipstone.Table, query: Query, rows: int | None = None, partitions: int | None = None
) -> ScanReport:
    """The same rows, from fewer files than the table has, and all or so many partitions are read."""
    partitions = partition_count(table) if partitions is None else partitions
    found = assert_same(table.spark, query, rows)
    scan = scan_of(table, query)
    assert verdicts(scan).get("CHEAPER") == partitions, scan
    assert scan.files_read < scan.files_total, scan
    assert scan.files_read > 0 or not found, scan
    assert replica_files(table.spark, query) > 0 or not found
    return scan


def assert_base(table: skipstone.Table, query: Query, verdict: str, rows: int | None = None) -> list[str]:
    """The same rows, none of them from a replica, for this one reason."""
    found = assert_same(table.spark, query, rows)
    assert list(verdicts(scan_of(table, query))) == [verdict]
    assert replica_files(table.spark, query) == 0
    return found


def partition_count(table: skipstone.Table) -> int:
    """How many horizontal partitions the replicas have."""
    return sum(replica.partitions for replica in table.replicas().replicas)


def log_text(path: Path) -> str:
    """All of Delta's log."""
    return "".join(each.read_text() for each in sorted((path / "_delta_log").glob("*.json")))

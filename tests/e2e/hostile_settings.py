"""A program for a process of its own: what skipstone does under hostile settings of the session.

Some of these settings leave traces in the JVM, such as compiled code, so no other test shares it.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from tests.e2e.conftest import SETTINGS
from tests.light_java import LIGHT_JAVA
from tests.light_plans import LIGHT_PLANS
from tests.opened import opened

import skipstone
from skipstone.predicate.render import to_sql
from skipstone.workload.queries import Query, Workload

HOSTILE = {
    # How files become partitions.
    "spark.sql.files.maxPartitionNum": "1",
    "spark.sql.files.maxPartitionBytes": "500",
    "spark.sql.files.openCostInBytes": "1",
    "spark.sql.files.minPartitionNum": "5",
    "spark.sql.leafNodeDefaultParallelism": "3",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    # How files are read.
    "spark.sql.parquet.mergeSchema": "true",
    "spark.sql.parquet.aggregatePushdown": "true",
    "spark.sql.parquet.enableVectorizedReader": "false",
    "spark.sql.parquet.columnarReaderBatchSize": "3",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.parquet.recordLevelFilter.enabled": "true",
    # How files are written.
    "spark.sql.files.maxRecordsPerFile": "5",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "EXCEPTION",
    "spark.sql.parquet.int96RebaseModeInWrite": "EXCEPTION",
    "spark.sql.parquet.writeLegacyFormat": "true",
    "spark.databricks.delta.optimizeWrite.enabled": "true",
    "spark.databricks.delta.stats.collect": "false",
    "spark.databricks.delta.schema.autoMerge.enabled": "true",
    # How expressions are read and evaluated.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.enforceReservedKeywords": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.storeAssignmentPolicy": "LEGACY",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # How plans are made and run.
    "spark.sql.optimizer.excludedRules": ",".join(
        f"org.apache.spark.sql.catalyst.optimizer.{rule}"
        for rule in ("ColumnPruning", "ConstantFolding", "NullPropagation", "CollapseRepartition")
    ),
    "spark.sql.optimizer.disableHints": "true",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.broadcastTimeout": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.forceApply": "true",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "1GB",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.maxFields": "1",
    "spark.sql.codegen.hugeMethodLimit": "10",
    "spark.sql.subexpressionElimination.enabled": "true",
    "spark.sql.execution.useHashAggregateExec": "false",
    "spark.sql.execution.replaceHashWithSortAgg": "true",
    "spark.sql.execution.usePartitionEvaluator": "true",
    "spark.sql.inMemoryColumnarStorage.batchSize": "1",
    "spark.sql.limit.initialNumPartitions": "1",
    # How rows reach the driver.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
    "spark.sql.debug.maxToStringFields": "1",
    "spark.sql.maxMetadataStringLength": "4",
}
# The last two have values that only exact writing keeps, in the rows that skipstone writes by itself.
COLUMNS = (
    "id",
    "CAST(id * 37 % 600 AS INT) AS k",
    "concat('it''s ', CAST(id * 7 % 30 AS STRING)) AS name",
    "map('c', CAST(id % 10 AS STRING)) AS attrs",
    "CAST(id AS DECIMAL(20, 4)) / 8 AS price",
    "date_add(if(id < 600, DATE'1500-01-01', DATE'2000-01-01'), CAST(id * 11 % 600 AS INT)) AS day",
    "timestamp_micros(1700000000000000 + id * if(id < 600, 1000001, 1000000)) AS moment",
)
CONDITIONS = (
    "k < 60",
    "k BETWEEN 300 AND 360 AND price > 4",
    "name LIKE '%s 2'",
    "attrs['c'] = '3' OR k > 580",
    "day < DATE'1500-03-01'",
)
ROWS = 600


def _rows(spark: SparkSession, start: int, rows: int) -> DataFrame:
    return spark.range(start, start + rows, 1, 4).selectExpr(*COLUMNS)


def _queries(name: str) -> Workload:
    texts = [f"SELECT * FROM {name} WHERE {condition}" for condition in CONDITIONS]
    return Workload(tuple(Query(sql, position=n) for n, sql in enumerate(texts, 1)), ())


def _what_was_done(spark: SparkSession, path: Path) -> dict[str, Any]:
    """Index, optimize, append, replay and log, and what came of each."""
    out: dict[str, Any] = {}
    table = skipstone.table(spark, f"{path.name}={path}")
    indexed = table.index(expressions=["month(day)"], features=["k < 60 AND name LIKE '%2'"])
    out["indexed"] = (indexed.files_indexed, indexed.rows_indexed)
    blocks = opened(table).catalog.blocks
    out["bounds"] = {
        to_sql(key): sorted(zip(found.low.to_pylist(), found.high.to_pylist(), found.nulls, strict=True))
        for key, found in blocks.statistics.items()
        if found.low is not None and found.high is not None
    }
    report = table.optimize(_queries(path.name), layout="sop", block_rows=60)
    out["optimized"] = (report.layout, report.files_after, report.rows)
    out["replayed"] = _replayed(table, path.name)
    out["blocks"] = _files(spark, path)
    added, unusable = table.import_log(_queries(path.name))
    out["logged"] = (added, unusable, sorted(scan.columns for scan in table.log()))
    # Rows that come while a layout is there; how plain writes make files of them is the user's choice.
    out["appended"] = table.append(_rows(spark, ROWS, 240)).code
    after = _replayed(table, path.name)
    out["after"] = [(total, needed, same) for total, _, needed, _, same in after]
    return out


def _replayed(table: skipstone.Table, name: str) -> list[tuple[int, int, int, int, bool | None]]:
    report = table.replay(_queries(name))
    assert not report.broken
    return [
        (query.rows_total, query.rows_scanned, query.rows_needed, query.files_read, query.same_result)
        for query in report.queries
    ]


def _files(spark: SparkSession, path: Path) -> list[list[int]]:
    frame = spark.read.format("delta").load(str(path)).selectExpr("id", "_metadata.file_path AS file")
    found = frame.groupBy("file").agg({"id": "collect_list"}).collect()
    return sorted(sorted(row[1]) for row in found)


def compare(spark: SparkSession, folder: Path) -> None:
    """Do the same on two tables of the same rows, on one of them under hostile settings."""
    calm, hostile = folder / "calm", folder / "hostile"
    _rows(spark, 0, ROWS).write.format("delta").save(str(calm))
    shutil.copytree(calm, hostile)
    expected = _what_was_done(spark, calm)
    assert expected["indexed"] == (4, ROWS)
    assert any(scanned < total and same for total, scanned, _, _, same in expected["replayed"])
    before = {key: spark.conf.get(key, None) for key in HOSTILE}
    try:
        for key, value in HOSTILE.items():
            spark.conf.set(key, value)
        found = _what_was_done(spark, hostile)
        assert {key: spark.conf.get(key) for key in HOSTILE} == HOSTILE, "the session's own settings stay"
    finally:
        for key, old in before.items():
            spark.conf.unset(key) if old is None else spark.conf.set(key, old)
    assert found == expected
    read = [spark.read.format("delta").load(str(path)).drop("attrs") for path in (calm, hostile)]
    assert read[0].exceptAll(read[1]).count() == read[1].exceptAll(read[0]).count() == 0


if __name__ == "__main__":
    config = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": f"-Duser.timezone=UTC {LIGHT_JAVA}",
        **LIGHT_PLANS,
        **SETTINGS,
    }
    compare(skipstone.session(master="local[2]", config=config), Path(sys.argv[1]))
    print("the same")

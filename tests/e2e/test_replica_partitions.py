"""Replicas of partitioned tables: filters on partitions are evaluated by whoever lists the files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import answer, assert_same, scan_of, settings
from tests.e2e.replicated import (
    assert_copied,
    make_replicated,
    replica_files,
    replicate,
    verdicts,
    write_rows,
)
from tests.templates import Templates

import skipstone

ODD = ("a b", "50%", "x=y", "%20", "é/ß")


@pytest.fixture(scope="module")
def partitioned(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[skipstone.Table]:
    """300 rows in 6 partitions with odd values and NULL, two files each, known to SQL as ``parts``."""
    path = tmp_path_factory.mktemp("partitioned") / "my table 100%20"
    values = ", ".join(f"'{value}'" for value in ODD)
    for start in (0, 150):
        spark.range(start, start + 150, 1, 1).selectExpr(
            "id", "CAST(pmod(xxhash64(id), 1000) AS INT) AS k", f"array({values}, NULL)[id % 6] AS p"
        ).write.format("delta").mode("append").partitionBy("p").save(str(path))
    table = skipstone.table(spark, f"parts={path}")
    assert replicate(table, partition_rows=None).partitions == 1
    yield table
    spark.catalog.dropTempView("parts")


@pytest.mark.parametrize(
    "condition",
    [
        "k < 99",
        *(f"k < 99 AND p = '{value}'" for value in ODD),
        "k < 99 AND p IS NULL",
        "k < 99 AND p IN ('50%', 'x=y')",
        "k < 99 AND p <> 'x=y'",
        # Spark evaluates these on partitions alone, and the statistics of a replica cannot judge them.
        "k < 99 AND hash(p) % 2 = 0",
        "k < 99 AND p RLIKE '[%=]'",
        "k < 99 AND length(p) = 3",
        "k < 99 AND coalesce(reverse(p), 'none') > 'a'",
        "k < 99 AND p = (SELECT max(p) FROM parts WHERE k < 99)",
        "k < 99 AND p IN (SELECT p FROM parts WHERE id = 7)",
        "hash(p) % 2 = 0",
        "p = '50%'",
    ],
)
def test_filters_on_partitions_of_any_kind_answer_the_same(
    partitioned: skipstone.Table, condition: str
) -> None:
    query = f"SELECT * FROM parts WHERE {condition}"
    assert assert_same(partitioned.spark, query), "rows match"
    scan = scan_of(partitioned, query)
    assert not scan.failure
    assert 0 < scan.files_read < scan.files_total or "k <" not in condition
    if "k <" in condition:
        assert verdicts(scan) == {"CHEAPER": 1}
    if "SELECT" not in condition:
        # What is listed at planning is what is read: filters on partitions have been applied to it.
        assert scan.files_read == files_listed(partitioned.spark, query), scan


def files_listed(spark: SparkSession, query: str) -> int:
    """How many files the scan of a query lists."""
    with settings(spark, spark__sql__adaptive__enabled="false"):
        leaves = spark.sql(query)._jdf.queryExecution().executedPlan().collectLeaves()
    assert "Scan" in leaves.head().nodeName()
    return int(leaves.head().selectedPartitions().totalNumberOfFiles())


def test_joins_that_prune_partitions_at_run_time_answer_the_same(partitioned: skipstone.Table) -> None:
    spark = partitioned.spark
    small = spark.createDataFrame([("50%", 1), ("x=y", 2)], "p STRING, z INT").where("z = 1")
    small.createOrReplaceTempView("small")
    query = "SELECT parts.id, z FROM parts JOIN small ON parts.p = small.p WHERE k < 99 AND z < 2"
    with settings(
        spark,
        spark__sql__optimizer__dynamicPartitionPruning__reuseBroadcastOnly="false",
        spark__sql__optimizer__dynamicPartitionPruning__fallbackFilterRatio="100",
    ):
        assert_same(spark, query)
        assert replica_files(spark, query) > 0


@pytest.mark.parametrize("condition", ["", "WHERE p = '50%'", "WHERE hash(p) % 2 = 0", "WHERE p IS NULL"])
@pytest.mark.parametrize("limit", [1, 7])
def test_a_limit_with_and_without_a_partition_filter(
    partitioned: skipstone.Table, condition: str, limit: int
) -> None:
    matching = set(assert_same(partitioned.spark, f"SELECT * FROM parts {condition}"))
    found = answer(partitioned.spark, f"SELECT * FROM parts {condition} LIMIT {limit}")
    assert len(found) == limit
    assert set(found) <= matching


def test_a_partitioned_table_that_grows_reads_new_files_from_the_base(
    spark: SparkSession, templates: Templates, tmp_path: Path
) -> None:
    path = templates.copy("partitioned", lambda path: make_replicated(spark, path, by="p"), tmp_path / "t")
    table = skipstone.table(spark, str(path))
    write_rows(spark, path, start=1000, rows=100, by="p")
    name = f"delta.`{path}`"
    assert_copied(table, f"SELECT * FROM {name} WHERE k < 100 AND pmod(hash(p), 2) = 1")
    assert_same(spark, f"SELECT * FROM {name} WHERE k < 100")
    table.refresh()
    assert_copied(table, f"SELECT * FROM {name} WHERE k < 100 AND pmod(hash(p), 2) = 1")

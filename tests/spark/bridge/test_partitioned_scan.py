"""A scan whose tasks are ours reads the same rows as Spark's, in every way that a plan is run or copied."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from tests.light_plans import settings_of
from tests.spark.bridge.java_calls import call, call_static
from tests.spark.bridge.partitioned import Parts, Scan

FILES, ROWS = 6, 600
PLANS = [
    {"spark.sql.codegen.wholeStage": generated, "spark.sql.adaptive.enabled": adaptive}
    for generated, adaptive in (("true", "true"), ("false", "false"), ("true", "false"))
]


@pytest.fixture(scope="module")
def path(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Delta table in 6 files, with partitions, deleted rows and a renamed column."""
    path = str(tmp_path_factory.mktemp("partitioned") / "t")
    wanted = {
        "spark.databricks.delta.properties.defaults.enableDeletionVectors": "true",
        "spark.databricks.delta.properties.defaults.columnMapping.mode": "name",
    }
    with settings_of(spark, wanted):
        frame = spark.range(0, ROWS, 1, FILES).selectExpr("id", "id DIV 300 AS part", "lpad(id, 6, '0') AS s")
        frame.write.format("delta").partitionBy("part").save(path)
        spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN s TO name")
        spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 100 = 7")
    return path


@pytest.fixture(scope="module")
def row_groups(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Parquet file of many row groups."""
    path = tmp_path_factory.mktemp("groups") / "t"
    writer = spark.range(0, 20_000, 1, 1).selectExpr("id", "lpad(id, 9, '0') AS s").write
    writer.option("parquet.block.size", 4096).option("parquet.page.size.row.check.min", 10).parquet(str(path))
    return path


def in_pairs(files: int) -> Parts:
    """Two files to a task, and a task that reads nothing."""
    return [[], *((file, file + 1) for file in range(0, files, 2))]


def test_files_grouped_into_tasks_are_the_same_table(spark: SparkSession, path: str) -> None:
    for query, plans in product(
        (
            f"SELECT * FROM delta.`{path}` WHERE id >= 50",
            f"SELECT part, count(name), min(name) FROM delta.`{path}` GROUP BY part",
        ),
        PLANS,
    ):
        with settings_of(spark, plans):
            scan = Scan(spark, spark.sql(query))
            plan = scan.with_tasks(in_pairs)
            assert plan.collectLeaves().head().execute().getNumPartitions() == 4
            expected = scan.rows(scan.plan)
            assert expected
            assert scan.rows(plan) == expected
            assert scan.rows(plan.clone()) == expected
            leaf = plan.collectLeaves().head()
            copied = leaf.makeCopy(argument_array(spark, leaf))
            assert copied.equals(leaf)
            assert copied.execute().getNumPartitions() == 4


def argument_array(spark: SparkSession, plan: Any) -> Any:
    """What Spark copies a node from."""
    arguments = [plan.productElement(index) for index in range(plan.productArity())]
    gateway: Any = spark.sparkContext._gateway
    array = gateway.new_array(gateway.jvm.java.lang.Object, len(arguments))
    for index, argument in enumerate(arguments):
        array[index] = argument
    return array


def test_a_file_is_read_by_every_task_that_names_it_and_by_no_other(spark: SparkSession, path: str) -> None:
    scan = Scan(spark, spark.sql(f"SELECT id FROM delta.`{path}`"))
    expected = scan.rows(scan.plan)
    twice = scan.rows(scan.with_tasks(lambda files: [list(range(files)), [0], list(range(1, files))]))
    assert twice == sorted(expected * 2)
    some = scan.rows(scan.with_tasks(lambda files: [[file] for file in range(1, files)]))
    assert len(expected) == ROWS - FILES
    assert len(some) == ROWS - FILES - 99
    assert scan.rows(scan.with_tasks(lambda _files: [])) == []
    halves: Parts = [[(file, start, 400) for file in range(FILES)] for start in (0, 400)]
    rest: Parts = [[(file, 800, 1 << 40)] for file in range(FILES)]
    assert scan.rows(scan.with_tasks(lambda _files: [*halves, *rest])) == expected


def test_row_groups_of_a_file_are_read_by_several_tasks(spark: SparkSession, row_groups: Path) -> None:
    scan = Scan(spark, spark.read.parquet(str(row_groups)))
    expected = scan.rows(scan.plan)
    size = call(spark, scan.tasks(lambda _files: []), "file", 0).getLen()
    third = size // 3
    parts: Parts = [[(0, 2 * third, size)], [(0, third, third), (0, 0, third)]]
    tasks = scan.tasks(lambda _files: parts)
    plan = call_static(spark, "PartitionedScan", "in", scan.plan, scan.node, tasks)
    assert scan.rows(plan) == expected
    rows = plan.collectLeaves().head()
    read = [len(task.files()) for task in rows.inputRDD().partitions()]
    assert read == [1, 1], "adjacent parts are merged"
    one = scan.rows(scan.with_tasks(lambda _files: [[(0, 0, third)]]))
    assert 0 < len(one) < len(expected)
    with pytest.raises(Py4JJavaError, match="twice"):
        scan.with_tasks(lambda _files: [[(0, 0, 2 * third), (0, third, third)]])


def test_scans_with_other_tasks_are_not_equal_nor_give_the_same_result(
    spark: SparkSession, path: str
) -> None:
    scan = Scan(spark, spark.sql(f"SELECT id, name FROM delta.`{path}`"))
    whole, again = (scan.with_tasks(in_pairs) for _ in range(2))
    half = scan.with_tasks(lambda _files: [[0]])
    assert whole.equals(again)
    assert whole.hashCode() == again.hashCode()
    assert whole.sameResult(again)
    for other in (half, scan.plan):
        assert not whole.equals(other)
        assert not other.equals(whole)
        assert not whole.sameResult(other)
        assert not other.sameResult(whole)


def test_what_cannot_have_other_tasks_says_why(spark: SparkSession, path: str) -> None:
    scan = Scan(spark, spark.sql(f"SELECT id FROM delta.`{path}`"))
    ours = scan.with_tasks(in_pairs).collectLeaves().head()
    assert call_static(spark, "PartitionedScan", "obstacle", scan.node) is None
    assert call_static(spark, "PartitionedScan", "obstacle", ours) == "it is a scan of another kind"

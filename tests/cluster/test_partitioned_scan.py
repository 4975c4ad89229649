"""Scans with tasks of our own, on executors that have no class of skipstone."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cluster.test_actions import on_executors
from tests.light_plans import GENERATED, settings_of
from tests.spark.bridge.partitioned import Parts, Scan


def two_to_a_task(files: int) -> Parts:
    """The first file is read in two tasks, half in each, and the others two by two."""
    return [[(0, 0, 300)], [(0, 300, 1 << 40)], *((file, file + 1) for file in range(1, files - 1, 2))]


@pytest.fixture(scope="module")
def folder(spark: SparkSession, shared_tables: Path) -> Path:
    """Five files, each with a deletion vector."""
    path = shared_tables / "tasks"
    vectors = {"spark.databricks.delta.properties.defaults.enableDeletionVectors": "true"}
    with settings_of(spark, vectors):
        frame = spark.range(0, 500, 1, 5).selectExpr("id", "lpad(id, 9, '0') AS s")
        frame.write.format("delta").save(str(path))
        spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 50 = 3")
    return path


@pytest.mark.parametrize("generated", ["true", "false"])
def test_tasks_run_there_and_read_the_same_rows(spark: SparkSession, folder: Path, generated: str) -> None:
    with settings_of(spark, GENERATED[generated]):
        for query in (
            f"SELECT id, s FROM delta.`{folder}` WHERE id > 10",
            f"SELECT id % 7, count(*), max(s) FROM delta.`{folder}` GROUP BY 1",
        ):
            scan = Scan(spark, spark.sql(query))
            expected = scan.rows(scan.plan)
            assert expected
            with on_executors(spark):
                assert scan.rows(scan.with_tasks(two_to_a_task)) == expected

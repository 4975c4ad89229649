"""Scans with tasks of our own, on executors that have no class of skipstone."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cluster.test_actions import on_executors
from tests.light_plans import settings_of
from tests.spark.bridge.partitioned import Parts, Scan


def two_to_a_task(files: int) -> Parts:
    """The first file is read in two tasks, half in each, and the others two by two."""
    return [[(0, 0, 300)], [(0, 300, 1 << 40)], *((file, file + 1) for file in range(1, files - 1, 2))]


@pytest.mark.parametrize(("generated", "adaptive"), [("true", "true"), ("false", "false")])
def test_tasks_run_there_and_read_the_same_rows(
    spark: SparkSession, shared_tables: Path, generated: str, adaptive: str
) -> None:
    path = shared_tables / f"tasks-{generated}"
    vectors = {"spark.databricks.delta.properties.defaults.enableDeletionVectors": "true"}
    with settings_of(spark, vectors):
        frame = spark.range(0, 500, 1, 5).selectExpr("id", "lpad(id, 9, '0') AS s")
        frame.write.format("delta").save(str(path))
        spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 50 = 3")
    wanted = {"spark.sql.codegen.wholeStage": generated, "spark.sql.adaptive.enabled": adaptive}
    with settings_of(spark, wanted):
        for query in (
            f"SELECT id, s FROM delta.`{path}` WHERE id > 10",
            f"SELECT id % 7, count(*), max(s) FROM delta.`{path}` GROUP BY 1",
        ):
            scan = Scan(spark, spark.sql(query))
            expected = scan.rows(scan.plan)
            assert expected
            with on_executors(spark):
                assert scan.rows(scan.with_tasks(two_to_a_task)) == expected

"""Scans whose files are chosen at run time, on executors that have no class of skipstone."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cluster.test_actions import on_executors
from tests.light_plans import settings_of

import skipstone


@pytest.mark.parametrize("generated", ["true", "false"])
@pytest.mark.parametrize("threshold", ["10000000", "-1"])
def test_a_join_skips_files_there(
    spark: SparkSession, shared_tables: Path, generated: str, threshold: str
) -> None:
    facts, keys = (shared_tables / f"{name}-{generated}{threshold}" for name in ("facts", "keys"))
    spark.range(0, 4000, 1, 8).selectExpr("id", "lpad(id, 9, '0') AS s").write.format("delta").save(
        str(facts)
    )
    some = spark.range(0, 40, 1, 1).selectExpr("id * 7 AS k", "id % 2 AS odd")
    some.write.format("delta").save(str(keys))
    table = skipstone.table(spark, f"facts={facts}")
    table.index()
    spark.read.format("delta").load(str(keys)).createOrReplaceTempView("some_keys")
    query = "SELECT id, s, k FROM facts JOIN some_keys ON id = k WHERE odd = 1"
    wanted = {
        "spark.skipstone.joins.enabled": "true",
        "spark.sql.codegen.wholeStage": generated,
        "spark.sql.autoBroadcastJoinThreshold": threshold,
    }
    with settings_of(spark, wanted):
        with on_executors(spark):
            found = sorted(spark.sql(query).collect())
        (join,) = (join for scan in table.explain(query).scans for join in scan.joins)
        assert join.last is not None
        assert (join.last.keys, join.last.files_read, join.last.files) == (20, 1, 8)
        with settings_of(spark, {"spark.skipstone.enabled": "false"}):
            assert sorted(spark.sql(query).collect()) == found
    assert len(found) == 20

"""Scans whose files are chosen at run time, on executors that have no class of skipstone."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cluster.test_actions import on_executors
from tests.light_plans import GENERATED, settings_of

import skipstone

QUERY = "SELECT id, s, k FROM facts JOIN some_keys ON id = k WHERE odd = 1"


@pytest.fixture(scope="module")
def facts(spark: SparkSession, shared_tables: Path) -> skipstone.Table:
    """Facts in eight files, and a view of keys of which half are in the first."""
    facts, keys = shared_tables / "facts", shared_tables / "keys"
    spark.range(0, 4000, 1, 8).selectExpr("id", "lpad(id, 9, '0') AS s").write.format("delta").save(
        str(facts)
    )
    some = spark.range(0, 40, 1, 1).selectExpr("id * 7 AS k", "id % 2 AS odd")
    some.write.format("delta").save(str(keys))
    table = skipstone.table(spark, f"facts={facts}")
    table.index()
    spark.read.format("delta").load(str(keys)).createOrReplaceTempView("some_keys")
    return table


@pytest.mark.parametrize("generated", ["true", "false"])
@pytest.mark.parametrize("threshold", ["10000000", "-1"])
def test_a_join_skips_files_there(
    spark: SparkSession, facts: skipstone.Table, generated: str, threshold: str
) -> None:
    with settings_of(spark, {"spark.skipstone.enabled": "false"}):
        expected = sorted(spark.sql(QUERY).collect())
    assert len(expected) == 20
    wanted = {
        **GENERATED[generated],
        "spark.sql.autoBroadcastJoinThreshold": threshold,
    }
    with settings_of(spark, wanted):
        with on_executors(spark):
            assert sorted(spark.sql(QUERY).collect()) == expected
        (join,) = (join for scan in facts.explain(QUERY).scans for join in scan.joins)
        assert join.last is not None
        assert (join.last.keys, join.last.files_read, join.last.files) == (20, 1, 8)

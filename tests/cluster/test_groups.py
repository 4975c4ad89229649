"""Column groups are written and read on executors that have no class of skipstone."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.cluster.test_actions import on_executors
from tests.e2e.grouped import write_grouped
from tests.e2e.test_groups import ALWAYS, SHAPES, assert_grouped, plan_of, scans
from tests.light_plans import GENERATED, settings_of

import skipstone


def test_groups_are_put_together_there(spark: SparkSession, shared_tables: Path) -> None:
    path = shared_tables / "grouped"
    with on_executors(spark):
        write_grouped(spark, path)
    skipstone.table(spark, f"t={path}")
    with settings_of(spark, {"spark.skipstone.enabled": "false"}):
        expected = sorted(map(repr, spark.sql(SHAPES[0]).collect()))
    assert expected
    for generated in ("true", "false"):
        for most in ("67108864", "0"):
            wanted = {
                **ALWAYS,
                **GENERATED[generated],
                "spark.skipstone.groups.hashBytes": most,
            }
            with settings_of(spark, wanted):
                with on_executors(spark):
                    assert sorted(map(repr, spark.sql(SHAPES[0]).collect())) == expected
                assert scans(plan_of(spark, SHAPES[0]))["groups"] > 0
                assert_grouped(spark, "SELECT id, st, weight, many FROM t WHERE k < 100", 3)

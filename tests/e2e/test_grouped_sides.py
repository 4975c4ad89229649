"""What is below a join without a shuffle: files skipped at run time, broadcasts, partitions, other keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same
from tests.light_plans import settings_of

import skipstone
from skipstone.pruning.join_report import JoinReport

SETTINGS = {
    "spark.sql.autoBroadcastJoinThreshold": "3000",
    "spark.skipstone.joins.grouped": "true",
    "spark.skipstone.joins.enabled": "true",
    "spark.sql.shuffle.partitions": "4",
    "spark.skipstone.joins.hashedBytes": "9000",
}
LINES = (
    "IF(id % 41 = 7, NULL, id DIV 4) AS o",
    "CAST(id % 30 AS INT) AS small",
    "CASE id % 5 WHEN 0 THEN double('NaN') WHEN 1 THEN -0.0D WHEN 2 THEN 0.0D ELSE 1.5D END AS f",
    "id AS row",
    "sha2(CAST(id AS STRING), 256) AS wide",
)
ORDERS = (
    "IF(id % 37 = 5, NULL, id) AS o",
    "CAST(id % 30 AS INT) AS small",
    "CASE id % 4 WHEN 0 THEN double('NaN') WHEN 1 THEN 0.0D WHEN 2 THEN -0.0D ELSE 1.5D END AS f",
    "id DIV 20 AS week",
    "sha2(CAST(id AS STRING), 256) AS wide",
)


def joins(spark: SparkSession, table: skipstone.Table, sql: str) -> list[JoinReport]:
    return [join for scan in table.explain(sql).scans for join in scan.joins]


@pytest.fixture(scope="module", autouse=True)
def lines(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[skipstone.Table]:
    """Lines and orders in the order of their key, and some 30 small rows that can be broadcast to both."""
    home = tmp_path_factory.mktemp("sides")
    tables = []
    for name, columns, rows, files in (("gs_lines", LINES, 1200, 8), ("gs_orders", ORDERS, 320, 5)):
        path = home / name
        spark.range(0, rows, 1, files).selectExpr(*columns).write.format("delta").save(str(path))
        tables.append(skipstone.table(spark, f"{name}={path}"))
        tables[-1].index()
    small = spark.range(0, 30, 1, 1).selectExpr("CAST(id AS INT) AS id", "concat('n', id % 3) AS name")
    small.write.format("delta").save(str(home / "gs_small"))
    spark.read.format("delta").load(str(home / "gs_small")).createOrReplaceTempView("gs_small")
    with settings_of(spark, SETTINGS):
        yield tables[0]


BROADCAST = {
    "inner": "SELECT l.row, o.week, s.name FROM gs_lines l JOIN gs_small s ON l.small = s.id "
    "JOIN gs_orders o ON l.o = o.o",
    "filtered": "SELECT l.row, o.week FROM gs_lines l JOIN gs_small s ON l.small = s.id AND s.name = 'n1' "
    "JOIN gs_orders o ON l.o = o.o",
    "to both": "SELECT * FROM (SELECT l.* FROM gs_lines l JOIN gs_small s ON l.small = s.id) l "
    "LEFT JOIN (SELECT o.*, t.name FROM gs_orders o LEFT JOIN gs_small t ON o.small = t.id + 9) o "
    "ON l.o = o.o",
    "full": "SELECT * FROM (SELECT l.* FROM gs_lines l JOIN gs_small s ON l.small = s.id) l "
    "FULL JOIN (SELECT o.* FROM gs_orders o LEFT ANTI JOIN gs_small t ON o.small = t.id + 9) o ON l.o = o.o",
    "semi": "SELECT l.row FROM gs_lines l LEFT SEMI JOIN gs_small s ON l.small = s.id * 2 "
    "LEFT ANTI JOIN gs_orders o ON l.o = o.o AND o.week < 9",
    "not in": "SELECT l.row, o.week FROM gs_orders o JOIN gs_lines l ON l.o = o.o "
    "WHERE l.small NOT IN (SELECT id FROM gs_small WHERE name = 'n2')",
    "repeating": "SELECT l.row, o.week, s.id FROM gs_lines l JOIN gs_small s ON l.small % 3 = s.id % 3 "
    "JOIN gs_orders o ON l.o = o.o",
    "with a subquery": "SELECT l.row, o.week FROM gs_lines l JOIN gs_small s ON l.small = s.id "
    "JOIN gs_orders o ON l.o = o.o WHERE l.row < (SELECT 40 * max(id) FROM gs_small)",
}


@pytest.mark.parametrize(("aqe", "codegen"), [("true", "true"), ("false", "true"), ("true", "false")])
def test_rows_that_something_is_broadcast_to_stay_in_their_task(
    spark: SparkSession, lines: skipstone.Table, aqe: str, codegen: str
) -> None:
    wanted = {"spark.sql.adaptive.enabled": aqe, "spark.sql.codegen.wholeStage": codegen}
    with settings_of(spark, wanted):
        for name, sql in BROADCAST.items():
            assert assert_same(spark, sql), name
            codes = [join.code for join in joins(spark, lines, sql)]
            assert codes.count("GROUPED") == 2, (name, codes)
            plan = str(spark.sql(sql)._jdf.queryExecution().executedPlan().toString())
            assert "Exchange hashpartitioning" not in plan, plan


RUN_TIME = {
    "the other side": "SELECT l.row, o.week FROM gs_lines l JOIN gs_orders o ON l.o = o.o AND o.week = 3",
    "semi": "SELECT l.row FROM gs_lines l LEFT SEMI JOIN gs_orders o ON l.o = o.o AND o.week = 3",
    "right": "SELECT l.row, o.week FROM gs_lines l RIGHT JOIN (SELECT * FROM gs_orders WHERE week = 3) o "
    "ON l.o = o.o",
    "nothing is left": "SELECT l.row FROM gs_lines l JOIN gs_orders o ON l.o = o.o "
    "AND o.week * o.week = 1000000",
    "and what is broadcast": "SELECT l.row, o.week FROM gs_lines l JOIN (SELECT DISTINCT id FROM gs_small "
    "WHERE name = 'n9' OR id < 2) s ON l.o = s.id JOIN gs_orders o ON l.o = o.o",
}


@pytest.mark.parametrize("aqe", ["true", "false"])
@pytest.mark.parametrize("hashed", ["9000", "1"])
def test_files_are_left_out_of_the_groups_when_the_keys_are_known(
    spark: SparkSession, lines: skipstone.Table, aqe: str, hashed: str
) -> None:
    skipping = {}
    with settings_of(spark, {"spark.sql.adaptive.enabled": aqe, "spark.skipstone.joins.hashedBytes": hashed}):
        for name, sql in RUN_TIME.items():
            found = assert_same(spark, sql)
            assert bool(found) == (name != "nothing is left"), name
            every = joins(spark, lines, sql)
            skipping[name] = [join.last for join in every if join.used and join.last is not None]
            if skipping[name]:
                # Spark broadcasts a side of which nothing is left.
                assert name == "nothing is left" or "GROUPED" in {join.code for join in every}, (name, every)
                assert not any(run.failure for run in skipping[name])
    runs = [run for name in ("the other side", "semi", "right") for run in skipping[name]]
    assert len(runs) >= 3, skipping
    assert all(0 < run.files_read < run.files for run in runs), runs


def test_the_same_plan_runs_again_and_is_cached_and_united(spark: SparkSession) -> None:
    for sql in (RUN_TIME["the other side"], BROADCAST["inner"], BROADCAST["with a subquery"]):
        frame = spark.sql(sql)
        first = sorted(map(repr, frame.collect()))
        assert sorted(map(repr, frame.collect())) == first
        assert frame.union(frame).count() == 2 * len(first)
        frame.cache()
        try:
            assert sorted(map(repr, frame.collect())) == first
            assert sorted(map(repr, frame.where("week >= 0").collect())) == first
        finally:
            frame.unpersist()


def test_keys_beside_may_be_floating_point_numbers_and_alone_they_are_left_to_spark(
    spark: SparkSession, lines: skipstone.Table
) -> None:
    for kind in ("JOIN", "LEFT JOIN", "FULL JOIN", "LEFT ANTI JOIN"):
        both = f"FROM gs_lines l {kind} gs_orders o ON l.o = o.o AND l.f = o.f"
        assert assert_same(spark, f"SELECT l.row {both}")
        assert {join.code for join in joins(spark, lines, f"SELECT l.row {both}")} >= {"GROUPED"}
    alone = "SELECT count(*), sum(l.row) FROM gs_lines l JOIN gs_orders o ON l.f = o.f"
    assert_same(spark, alone)
    assert "KEY_TYPE" in {join.code for join in joins(spark, lines, alone)}


MOVING = (
    "SELECT * FROM (SELECT o, count(*) AS n FROM gs_lines GROUP BY o) l JOIN gs_orders o ON l.o = o.o",
    "SELECT l.row, m.row FROM gs_lines l JOIN gs_lines m ON l.o = m.o JOIN gs_orders o ON m.o = o.o",
)


def test_a_side_that_moves_rows_is_left_to_spark_with_a_reason(
    spark: SparkSession, lines: skipstone.Table
) -> None:
    for sql in MOVING:
        assert_same(spark, sql)
        sides = [join for join in joins(spark, lines, sql) if join.code == "SIDE"]
        assert len(sides) == 2, joins(spark, lines, sql)
        assert "a side is more than a scan and what is broadcast to it" in sides[0].line()


def test_partitions_that_spark_prunes_at_run_time_are_left_out_of_the_groups(
    spark: SparkSession, lines: skipstone.Table, tmp_path: Path
) -> None:
    for format_ in ("delta", "parquet"):
        path = tmp_path / format_
        rows = spark.range(0, 1200, 1, 4).selectExpr("id DIV 4 AS o", "id AS row", "id DIV 150 AS part")
        rows.write.format(format_).partitionBy("part").save(str(path))
        skipstone.table(spark, f"gs_parts_{format_}={path}").index()
        for kind in ("JOIN", "LEFT JOIN", "LEFT ANTI JOIN"):
            sql = (
                f"SELECT p.row FROM gs_parts_{format_} p JOIN gs_small s ON p.part = s.id AND s.name = 'n1' "
                f"{kind} gs_orders o ON p.o = o.o AND o.week > 4"
            )
            assert assert_same(spark, sql)
            assert "GROUPED" in {join.code for join in joins(spark, lines, sql)}, sql

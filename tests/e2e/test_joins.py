"""Files skipped by the keys of joins, when the query runs: the same rows as without, and fewer files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same, settings
from tests.e2e.stars import FACT, FILES, ROWS, Star, plan_of, write
from tests.light_plans import settings_of

import skipstone

SETTINGS = {
    "aqe": "spark.sql.adaptive.enabled",
    "codegen": "spark.sql.codegen.wholeStage",
    "threshold": "spark.sql.autoBroadcastJoinThreshold",
}


@pytest.fixture(scope="module")
def delta_star(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Star:
    return write(spark, tmp_path_factory.mktemp("delta"), "delta")


@pytest.fixture(scope="module")
def parquet_star(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Star:
    return write(spark, tmp_path_factory.mktemp("parquet"), "parquet")


@pytest.fixture
def unbroadcast(spark: SparkSession) -> Iterator[None]:
    """Nothing is small enough to be broadcast."""
    with settings(spark, spark__sql__autoBroadcastJoinThreshold="-1"):
        yield


# Joins that drop facts without a partner. The other side can be broadcast in those of ``INNER`` only.
INNER = (
    "SELECT f.id, x.k FROM {fact} f JOIN {dim} x ON f.id = x.k",
    "SELECT f.id, x.k FROM {dim} x JOIN {fact} f ON f.id = x.k AND f.i > x.i - 1",
    "SELECT f.id FROM {fact} f LEFT SEMI JOIN {dim} x ON f.id = x.k",
    "SELECT f.id FROM {fact} f WHERE f.id IN (SELECT k FROM {dim})",
    "SELECT f.id, x.k FROM {fact} f CROSS JOIN {dim} x WHERE f.id = x.k",
)
OUTER = (
    "SELECT x.k FROM {dim} x LEFT ANTI JOIN {fact} f ON f.id = x.k",
    "SELECT f.id, x.k FROM {fact} f RIGHT JOIN {dim} x ON f.id = x.k",
    "SELECT f.id, x.k FROM {dim} x LEFT JOIN {fact} f ON f.id = x.k",
)
PRESERVED = (
    "SELECT f.id, x.k FROM {fact} f LEFT JOIN {dim} x ON f.id = x.k",
    "SELECT f.id, x.k FROM {fact} f FULL JOIN {dim} x ON f.id = x.k",
    "SELECT f.id FROM {fact} f LEFT ANTI JOIN {dim} x ON f.id = x.k",
    "SELECT f.id FROM {fact} f WHERE NOT EXISTS (SELECT 1 FROM {dim} x WHERE f.n = x.k)",
    "SELECT f.id, x.k FROM {dim} x RIGHT JOIN {fact} f ON f.id = x.k",
)


@pytest.mark.parametrize(
    ("format_", "aqe", "codegen"),
    [
        ("delta", "true", "true"),
        ("delta", "false", "false"),
        ("parquet", "true", "false"),
        ("parquet", "false", "true"),
    ],
)
def test_joins_that_drop_rows_without_a_partner_skip_and_others_do_not(
    request: pytest.FixtureRequest, format_: str, aqe: str, codegen: str
) -> None:
    star: Star = request.getfixturevalue(f"{format_}_star")
    wanted = {SETTINGS["aqe"]: aqe, SETTINGS["codegen"]: codegen}
    with settings_of(star.spark, wanted):
        for text in INNER:
            found = star.skips(text.format(fact=star.fact, dim=star.dim), read=2)
            assert found.code == "BROADCAST"
        for text in PRESERVED:
            star.leaves_alone(text.format(fact=star.fact, dim=star.dim), "PRESERVED")
        star.same(f"SELECT * FROM {star.fact} WHERE n NOT IN (SELECT k FROM {star.dim} WHERE k > 0)")


@pytest.mark.usefixtures("unbroadcast")
@pytest.mark.parametrize(("aqe", "codegen"), [("true", "true"), ("false", "false")])
def test_without_a_broadcast_the_keys_are_computed_if_that_pays(
    delta_star: Star, aqe: str, codegen: str
) -> None:
    wanted = {SETTINGS["aqe"]: aqe, SETTINGS["codegen"]: codegen}
    with settings_of(delta_star.spark, wanted):
        for text in (*INNER, *OUTER):
            found = delta_star.skips(text.format(fact=delta_star.fact, dim=delta_star.dim), read=2)
            assert found.code == "COLLECTED"
        for text in PRESERVED:
            delta_star.leaves_alone(text.format(fact=delta_star.fact, dim=delta_star.dim), "PRESERVED")


KEYS = tuple(f"f.{name} = x.{name}" for name in ("i", "n", "d", "dec", "ts", "s", "bin"))


@pytest.mark.parametrize("on", [*KEYS, "lower(f.s) = lower(x.s)", "f.i = x.k", "f.dec = x.k"])
def test_keys_of_every_type_skip(delta_star: Star, on: str) -> None:
    delta_star.skips(f"SELECT f.id FROM {delta_star.fact} f JOIN {delta_star.dim} x ON {on}", read=2)


def test_nan_and_negative_zero_are_found(spark: SparkSession, tmp_path: Path) -> None:
    rows = "VALUES (0D), (-0D), (1D), (double('NaN')), (NULL), (double('Infinity'))"
    frame = spark.sql(f"SELECT f, CAST(f AS FLOAT) g FROM {rows} t(f)").repartition(6, "f")
    frame.write.format("delta").save(str(tmp_path / "floats"))
    skipstone.table(spark, f"floats={tmp_path / 'floats'}").index()
    for value, column in product(("0D", "-0D", "double('NaN')", "NULL"), ("f", "g")):
        other = f"(SELECT CAST({value} AS DOUBLE) AS f, CAST({value} AS FLOAT) AS g)"
        assert_same(spark, f"SELECT a.* FROM floats a JOIN {other} b ON a.{column} = b.{column}")
        assert_same(spark, f"SELECT a.* FROM floats a JOIN {other} b ON a.{column} <=> b.{column}")
        assert_same(spark, f"SELECT a.* FROM floats a JOIN {other} b ON a.f = CAST(b.g AS DOUBLE)")


SHAPES = {
    "cte": "WITH x AS (SELECT k FROM {dim}) SELECT f.id FROM {fact} f JOIN x ON f.id = x.k",
    "two keys": "SELECT f.id FROM {fact} f JOIN {dim} x ON f.id = x.k AND f.d = x.d",
    "two keys, one random": "SELECT f.id FROM {fact} f JOIN {dim} x ON f.id = x.k AND f.spread = x.spread",
    "null-safe and equal": "SELECT f.id FROM {fact} f JOIN {dim} x ON f.id = x.k AND f.n <=> x.n",
    "a grouping": "SELECT g.* FROM (SELECT i, count(*) FROM {fact} GROUP BY i) g JOIN {dim} x ON g.i = x.i",
    "below a projection": "SELECT g.m FROM (SELECT id + 0, id AS m FROM {fact}) g JOIN {dim} x ON g.m = x.k",
    "with a filter of its own": "SELECT f.id FROM {fact} f JOIN {dim} x ON f.id = x.k WHERE f.i < 300",
    "in a scalar subquery": "SELECT (SELECT count(*) FROM {fact} f JOIN {dim} x ON f.id = x.k) AS c",
    "twice": "SELECT f.id FROM {fact} f JOIN {dim} x ON f.id = x.k JOIN {dim} y ON f.i = y.i",
    "chain": "SELECT f.i FROM {fact} f JOIN (SELECT m.k FROM {dim} m JOIN {dim} y USING (k)) x ON f.id = x.k",
    "below an outer": "SELECT f.id FROM {fact} f LEFT JOIN {dim} y ON f.s = y.s JOIN {dim} x ON f.id = x.k",
    "self": "SELECT f.id FROM {fact} f JOIN {fact} g ON f.id = g.id WHERE g.i < 30 AND g.spread > 3",
}


@pytest.mark.parametrize("aqe", ["true", "false"])
def test_joins_of_every_shape_skip(delta_star: Star, aqe: str) -> None:
    with settings_of(delta_star.spark, {SETTINGS["aqe"]: aqe}):
        for text in SHAPES.values():
            delta_star.skips(text.format(fact=delta_star.fact, dim=delta_star.dim))


def test_an_empty_side_reads_nothing(delta_star: Star) -> None:
    for aqe in ("true", "false"):
        with settings_of(delta_star.spark, {SETTINGS["aqe"]: aqe}):
            query = f"SELECT f.id FROM {delta_star.fact} f JOIN dim_delta x ON f.id = x.k AND x.grp = 'zz'"
            assert_same(delta_star.spark, query, rows=0)


def test_many_keys_are_taken_as_ranges(delta_star: Star) -> None:
    other = "(SELECT id AS k FROM range(120, 100000) WHERE id < 140 OR id > 90000)"
    query = f"SELECT /*+ BROADCAST(x) */ f.id, f.s FROM {delta_star.fact} f JOIN {other} x ON f.id = x.k"
    found = delta_star.skips(query, read=1)
    assert found.last is not None
    assert found.last.keys > 9_000
    texts = "(SELECT lpad(id, 6, '0') AS k FROM range(120, 100000) WHERE id < 140 OR id > 90000)"
    query = f"SELECT /*+ BROADCAST(x) */ f.id FROM {delta_star.fact} f JOIN {texts} x ON f.s = x.k"
    delta_star.skips(query)


LEFT_ALONE = {
    "NOT_FILTERED": "SELECT f.id FROM {fact} f JOIN dim_delta x ON f.id = x.k",
    "SPREAD": "SELECT f.id FROM {fact} f JOIN {dim} x ON f.spread = x.spread",
    "NOT_REPEATABLE": "SELECT f.id FROM {fact} f JOIN (SELECT k FROM {dim} LIMIT 9) x ON f.id = x.k",
}
RANDOM = (
    "(SELECT k FROM {dim} WHERE rand(1) < 0.9)",
    "(SELECT k FROM {dim} TABLESAMPLE (90 PERCENT))",
    "(SELECT k FROM (SELECT k, row_number() OVER (ORDER BY grp) r FROM {dim}) WHERE r < 3)",
    "(SELECT k FROM {dim} GROUP BY k HAVING sum(fl) > 1)",
)


def test_what_would_not_be_sound_is_left_alone_with_a_reason(delta_star: Star) -> None:
    names = {"fact": delta_star.fact, "dim": delta_star.dim}
    for code, text in LEFT_ALONE.items():
        delta_star.leaves_alone(text.format(**names), code)
    for other in RANDOM:
        query = f"SELECT f.id FROM {delta_star.fact} f JOIN {other.format(**names)} x ON f.id = x.k"
        assert [join.code for join in delta_star.joins(query)] == ["NOT_REPEATABLE"], query


def test_below_what_makes_up_rows_or_counts_them_nothing_is_skipped(delta_star: Star) -> None:
    below = (
        f"SELECT id, rand(3) AS r FROM {delta_star.fact} WHERE rand(5) < 2",
        f"SELECT id FROM {delta_star.fact} ORDER BY id LIMIT 70",
        f"SELECT id, row_number() OVER (ORDER BY id DESC) AS r FROM {delta_star.fact}",
        f"SELECT max(id) AS id FROM {delta_star.fact} GROUP BY file",
        f"SELECT id FROM {delta_star.fact} UNION ALL SELECT i FROM {delta_star.fact}",
    )
    for side in below:
        query = f"SELECT g.* FROM ({side}) g JOIN {delta_star.dim} x ON g.id = x.k"
        assert delta_star.joins(query) == [], side
        assert_same(delta_star.spark, query)


@pytest.mark.usefixtures("unbroadcast")
def test_files_that_may_be_overwritten_are_not_read_twice(parquet_star: Star) -> None:
    query = f"SELECT f.id FROM {parquet_star.fact} f JOIN {parquet_star.dim} x ON f.id = x.k"
    assert [join.code for join in parquet_star.joins(query)] == ["NOT_REPEATABLE"]


def test_explain_says_what_will_be_decided_and_after_a_run_what_was(delta_star: Star) -> None:
    query = (
        f"SELECT f.id, x.grp FROM {delta_star.fact} f JOIN {delta_star.dim} x ON f.id = x.k AND f.ts = x.ts"
    )
    before = delta_star.joins(query)
    assert [(join.code, join.last) for join in before] == [("BROADCAST", None)] * 2
    assert delta_star.spark.sql(query).count() == 3
    # Counting prunes columns, and that is another query.
    delta_star.spark.sql(query).collect()
    text = str(delta_star.table.explain(query))
    assert "inner join by id = k with dim_delta where" in text
    assert "at run time: files are skipped by the keys that are broadcast for the join" in text
    assert "last run: 3 keys, 2 of 8 files read" in text


def test_switches_turn_it_off(delta_star: Star) -> None:
    query = f"SELECT f.id FROM {delta_star.fact} f JOIN {delta_star.dim} x ON f.id = x.k"
    for switch in (
        "spark.skipstone.joins.enabled",
        "spark.skipstone.enabled",
        "spark.sql.optimizer.dynamicPartitionPruning.enabled",
    ):
        with settings_of(delta_star.spark, {switch: "false"}):
            assert delta_star.joins(query) == []
            assert "dynamicpruning" not in plan_of(delta_star.spark, query)
    assert "dynamicpruning" in plan_of(delta_star.spark, query)


@pytest.mark.parametrize("aqe", ["true", "false"])
def test_the_broadcast_of_the_join_is_used(delta_star: Star, aqe: str) -> None:
    with settings_of(delta_star.spark, {SETTINGS["aqe"]: aqe}):
        frame = delta_star.spark.sql(
            f"SELECT f.id, x.even FROM {delta_star.fact} f JOIN {delta_star.dim} x ON f.id = x.k"
        )
        assert len(frame.collect()) == 3
        plan = str(frame._jdf.queryExecution().executedPlan().toString())
    final = plan.split("== Initial Plan ==", maxsplit=1)[0]
    assert "ReusedExchange" in final
    assert final.count("SubqueryBroadcast") >= 1


def test_a_plan_runs_again_and_is_cached(delta_star: Star) -> None:
    query = f"SELECT f.id, x.d FROM {delta_star.fact} f JOIN {delta_star.dim} x ON f.id = x.k"
    frame = delta_star.spark.sql(query)
    first = sorted(map(repr, frame.collect()))
    assert sorted(map(repr, frame.collect())) == first
    frame.cache()
    try:
        assert sorted(map(repr, frame.collect())) == first
        assert len(frame.join(frame.selectExpr("id AS other"), frame.id == frame.id).collect()) == 9
    finally:
        frame.unpersist()


@pytest.mark.parametrize("aqe", ["true", "false"])
def test_changes_after_planning_and_deletion_vectors(spark: SparkSession, tmp_path: Path, aqe: str) -> None:
    wanted = {
        "spark.databricks.delta.properties.defaults.enableDeletionVectors": "true",
        "spark.databricks.delta.properties.defaults.columnMapping.mode": "name",
        SETTINGS["aqe"]: aqe,
    }
    with settings_of(spark, wanted):
        star = write(spark, tmp_path, "delta")
        path = tmp_path / "fact_delta"
        spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN id TO ident")
        spark.sql(f"DELETE FROM delta.`{path}` WHERE ident = 55 OR ident = 77")
        skipstone.table(spark, f"fact_delta={path}")
        query = f"SELECT f.ident, f.s FROM fact_delta f JOIN {star.dim} x ON f.ident = x.k"
        star.skips(query, read=2)
        frame = spark.sql(query)
        frame._jdf.queryExecution().executedPlan()
        spark.sql(f"DELETE FROM delta.`{path}` WHERE ident = 3")
        more = spark.range(3, 4).selectExpr("id AS ident", *FACT[1:])
        more.write.format("delta").mode("append").save(str(path))
        assert [row.ident for row in frame.collect()] == [3, 3]
        star.truths.clear()  # of the rows as they were
        star.skips(query)
        spark.catalog.dropTempView("fact_delta")


def test_partitions_and_replicas(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "parts"
    spark.range(0, ROWS, 1, FILES).selectExpr(*FACT).write.format("delta").partitionBy("file").save(str(path))
    table = skipstone.table(spark, f"parts={path}")
    table.index()
    other = "(SELECT 3 AS a UNION ALL SELECT 4)"
    both = "(SELECT id AS a, 'x' AS b FROM range(0, 500) WHERE id IN (3, 55))"
    by_key = f"SELECT p.* FROM parts p JOIN {both} x ON p.id = x.a"
    assert_same(spark, by_key, rows=2)
    (scan,) = table.explain(by_key).scans
    assert [join.code for join in scan.joins] == ["BROADCAST"]
    by_partition = f"SELECT p.* FROM parts p JOIN {both} x ON p.file = x.a"
    assert_same(spark, by_partition, rows=50)
    assert [join.code for scan in table.explain(by_partition).scans for join in scan.joins] == ["PARTITIONS"]
    assert_same(spark, f"SELECT p.* FROM parts p JOIN {both} x ON p.file = x.a - 2 AND p.id = x.a + 50")
    assert_same(spark, f"SELECT p.* FROM parts p JOIN {other} x ON p.id = x.a", rows=2)

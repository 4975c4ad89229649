"""What might make skipping by the keys of joins unsound: the rows are those that there are without it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.ml.functions import array_to_vector, vector_to_array
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from tests.e2e.checks import SWITCH, answer, assert_same, indexed
from tests.e2e.stars import FACT, FILES, ROWS, Star, execution_of, plan_of, pruned_scans, write
from tests.light_plans import settings_of

AQE = "spark.sql.adaptive.enabled"
AT_ONCE = 8
NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}


@pytest.fixture(scope="module")
def star(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Star:
    return write(spark, tmp_path_factory.mktemp("sound"), "delta")


SAME = {
    "not in, the facts on the right": "SELECT k FROM {dim} WHERE k NOT IN (SELECT n FROM {fact})",
    "not in, no NULL there": "SELECT k FROM {dim} WHERE k NOT IN (SELECT id FROM {fact})",
    "not in, the facts on the left": "SELECT id FROM {fact} WHERE n NOT IN (SELECT k FROM {dim})",
    "anti, the facts on the right": "SELECT x.k FROM {dim} x LEFT ANTI JOIN {fact} f ON f.id = x.k",
    "exists or": "SELECT id FROM {fact} f WHERE id < 9 OR EXISTS (SELECT 1 FROM {dim} x WHERE x.k = f.id)",
    "counted for each": "SELECT k, (SELECT count(*) FROM {fact} f WHERE f.id = x.k) AS c FROM {dim} x",
    "the greatest of each": "SELECT k, (SELECT max(s) FROM {fact} f WHERE f.id = x.k) AS m FROM {dim} x",
    "a lateral join": "SELECT * FROM {dim} x, LATERAL (SELECT f.s FROM {fact} f WHERE f.id = x.k)",
    "null-safe": "SELECT f.id, x.k FROM {fact} f JOIN {dim} x ON f.n <=> x.k",
    "null-safe, outer": "SELECT f.id, x.k FROM {fact} f RIGHT JOIN {dim} x ON f.n <=> x.n",
    "a rollup": "SELECT g.* FROM (SELECT i, even, count(*) AS c FROM {fact} GROUP BY ROLLUP (i, even)) g "
    "JOIN {dim} x ON g.i = x.i",
    "all distinct": "SELECT g.* FROM (SELECT DISTINCT i, file FROM {fact}) g JOIN {dim} x ON g.i = x.i",
    "exploded": "SELECT g.* FROM (SELECT i, explode(array(i, i + 1)) AS e FROM {fact}) g "
    "JOIN {dim} x ON g.e = x.i",
    "sampled": "SELECT g.id FROM (SELECT id FROM {fact} TABLESAMPLE (40 PERCENT) REPEATABLE (7)) g "
    "JOIN {dim} x ON g.id = x.k",
    "the first by another order": "SELECT g.id FROM (SELECT id FROM {fact} ORDER BY spread LIMIT 300) g "
    "JOIN {dim} x ON g.id = x.k",
    "without the first": "SELECT g.id FROM (SELECT id FROM {fact} ORDER BY spread OFFSET 100) g "
    "JOIN {dim} x ON g.id = x.k",
    "ranked": "SELECT g.* FROM (SELECT id, rank() OVER (PARTITION BY file ORDER BY spread) AS r "
    "FROM {fact}) g JOIN {dim} x ON g.id = x.k",
    "a share of all": "SELECT g.* FROM (SELECT id, sum(id) OVER () AS whole FROM {fact}) g "
    "JOIN {dim} x ON g.id = x.k",
    "except": "SELECT k FROM (SELECT id AS k FROM {fact} EXCEPT SELECT k FROM {dim}) JOIN {dim} USING (k)",
    "intersected": "SELECT id FROM {fact} INTERSECT SELECT k FROM {dim}",
    "a key of an outer join": "SELECT f.id, g.s FROM {fact} f LEFT JOIN {fact} g ON f.id = g.id + 50 "
    "JOIN {dim} x ON g.id = x.k",
    "the key may be made up": "SELECT f.id FROM {fact} f LEFT JOIN {fact} g ON f.id = g.id + 50 "
    "JOIN {dim} x ON coalesce(g.id, 3) = x.k",
    "on a key of rows that are not": "SELECT f.id, x.k FROM {fact} f LEFT JOIN {dim} x ON f.id = x.k "
    "WHERE x.k IS NULL",
    "with itself by other keys": "SELECT f.id, g.id FROM {fact} f JOIN {fact} g ON f.id = g.spread "
    "WHERE g.id < 20 AND g.even",
    "recursive": "WITH RECURSIVE r(at, depth) AS (SELECT k, 0 FROM {dim} WHERE k < 99 UNION ALL "
    "SELECT f.id, depth + 1 FROM r JOIN {fact} f ON f.id = at + 50 WHERE depth < 3) SELECT * FROM r",
    "an older version": "SELECT f.id FROM {path} VERSION AS OF 0 f JOIN {dim} x ON f.id = x.k",
    "another time zone": "SELECT f.id FROM {fact} f JOIN {dim} x ON CAST(f.ts AS DATE) = CAST(x.ts AS DATE)",
    "text and number": "SELECT f.id FROM {fact} f JOIN {dim} x ON CAST(f.s AS INT) = x.k",
    "a narrower number": "SELECT f.id FROM {fact} f JOIN {dim} x ON CAST(f.id AS TINYINT) = x.i",
    "a rounded number": "SELECT f.id FROM {fact} f JOIN {dim} x ON CAST(f.fl AS INT) = x.i",
    "computed": "SELECT f.id FROM {fact} f JOIN {dim} x ON f.id * 2 = x.k + 3",
}


@pytest.mark.parametrize("way", ["plain", "AQE, nothing broadcast"])
def test_every_shape_has_the_same_rows(spark: SparkSession, star: Star, way: str) -> None:
    wanted = {"spark.sql.ansi.enabled": "false"}
    if way != "plain":
        wanted |= {AQE: "true", **NO_BROADCAST, "spark.sql.session.timeZone": "Asia/Kolkata"}
    names = {"fact": star.fact, "dim": star.dim, "path": f"delta.`{star.table.source}`"}
    texts = [(name, text.format(**names)) for name, text in SAME.items()]
    with settings_of(spark, wanted):
        for at in range(0, len(texts), AT_ONCE):
            every = " UNION ALL ".join(
                f"SELECT '{name}' AS name, count(*) AS n, sum(hash(*)) AS h FROM ({text})"
                for name, text in texts[at : at + AT_ONCE]
            )
            assert len(assert_same(spark, every)) == len(texts[at : at + AT_ONCE])


@pytest.mark.parametrize("aqe", ["true", "false"])
def test_without_reuse_of_exchanges_no_broadcast_is_made_for_keys_alone(
    spark: SparkSession, star: Star, aqe: str
) -> None:
    off = ("spark.sql.exchange.reuse", "spark.sql.execution.reuseSubquery")
    with settings_of(spark, {AQE: aqe, **dict.fromkeys(off, "false")}):
        query = f"SELECT f.id, x.fl FROM {star.fact} f JOIN {star.dim} x ON f.id = x.k"
        assert_same(spark, query, rows=3)
        assert "SubqueryBroadcast" not in plan_of(spark, query)


def test_numbers_that_a_grouping_takes_for_one_are_all_counted(spark: SparkSession, tmp_path: Path) -> None:
    for value in ("0", "-0", "1", "2"):
        row = spark.sql(f"SELECT CAST('{value}' AS DOUBLE) AS f")
        row.write.format("delta").mode("append").save(str(tmp_path / "z"))
    indexed(spark, "zeros", tmp_path / "z", expressions=["CAST(f AS STRING)"])
    groups = "(SELECT f, count(*) AS c FROM zeros GROUP BY f)"
    for text in ("0.0", "1.0"):
        one = f"(SELECT k FROM VALUES ('{text}'), ('7') t(k) WHERE length(k) > 1)"
        assert_same(spark, f"SELECT g.c FROM {groups} g JOIN {one} x ON CAST(g.f AS STRING) = x.k", rows=1)
        alone = f"SELECT z.f FROM zeros z JOIN {one} x ON CAST(z.f AS STRING) = x.k"
        assert_same(spark, alone, rows=1)
        assert pruned_scans(execution_of(spark, alone)) == 1


def test_texts_that_a_collation_takes_for_one_are_all_found(spark: SparkSession, tmp_path: Path) -> None:
    for value in ("a", "A", "b", "c"):
        row = spark.sql(f"SELECT '{value}' AS p, CAST('{value}' AS STRING COLLATE UTF8_LCASE) AS c")
        row.write.mode("append").parquet(str(tmp_path / "t"))
    table = indexed(spark, "collated", tmp_path / "t")
    one = "(SELECT p, CAST(p AS STRING COLLATE UTF8_LCASE) AS c FROM VALUES ('A'), ('C') t(p) WHERE p < 'Z')"
    wanted = {
        "t.c = x.c": (3, "NOT_KNOWN"),
        "t.p COLLATE UTF8_LCASE = x.c": (3, "KEY_TYPE"),
        "t.p = x.p": (1, "BROADCAST"),
    }
    for on, (rows, code) in wanted.items():
        query = f"SELECT t.p FROM collated t JOIN {one} x ON {on}"
        assert len(assert_same(spark, query)) == rows, on
        assert [join.code for scan in table.explain(query).scans for join in scan.joins] == [code], on


@pytest.fixture(scope="module")
def shops(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Facts of ten shops, and a shop more without facts, whose town is no number."""
    home = tmp_path_factory.mktemp("shops")
    pad = ", ".join(f"sha2(CAST(id + {number} AS STRING), 512) AS t{number}" for number in range(6))
    facts = spark.sql(f"SELECT id, id DIV 50 AS shop, {pad} FROM range(500)").repartitionByRange(8, "id")
    facts.write.format("delta").save(str(home / "facts"))
    towns = "SELECT id AS shop, IF(id = 10, 'none', CAST(id DIV 2 AS STRING)) AS town FROM range(11)"
    spark.sql(towns).coalesce(1).write.format("delta").save(str(home / "shops"))
    names = "SELECT id AS town, IF(id = 3, 'north', 'south') AS region FROM range(5)"
    spark.sql(names).coalesce(1).write.format("delta").save(str(home / "towns"))
    for name in ("shops", "towns"):
        spark.read.format("delta").load(str(home / name)).createOrReplaceTempView(f"s_{name}")
    indexed(spark, "s_facts", home / "facts")
    return home


@pytest.mark.usefixtures("shops")
def test_keys_that_may_fail_are_not_computed_for_rows_that_a_join_would_have_dropped(
    spark: SparkSession,
) -> None:
    query = (
        "SELECT f.id FROM s_facts f JOIN s_shops s ON f.shop = s.shop "
        "JOIN (SELECT * FROM s_towns WHERE region = 'north') t ON {} = t.town"
    )
    with settings_of(spark, {"spark.sql.ansi.enabled": "true"}):
        assert_same(spark, query.format("CAST(s.town AS BIGINT)"), rows=100)
        assert pruned_scans(execution_of(spark, query.format("CAST(s.town AS BIGINT)"))) == 0
        # The shops' own number cannot fail.
        assert pruned_scans(execution_of(spark, query.format("CAST(s.shop AS BIGINT)"))) == 1
        assert_same(spark, query.format("CAST(s.shop AS BIGINT)"), rows=50)


def test_functions_of_users_are_not_run_twice(spark: SparkSession, star: Star) -> None:
    def frame() -> DataFrame:
        asked = vector_to_array(array_to_vector(F.array(F.coalesce("fl", F.lit(0.0)))))[0] > 0.5
        some = spark.table("dim_delta").where(asked).where("grp = 'a'").select(F.col("k").alias("key"))
        return spark.table(star.fact).join(some, F.col("id") == F.col("key"))

    found = {}
    for threshold in ("10MB", "-1"):
        with settings_of(spark, {"spark.sql.autoBroadcastJoinThreshold": threshold}):
            assert len(assert_same(spark, frame)) == 3
            found[threshold] = [
                join.code for scan in star.table.explain(frame()).scans for join in scan.joins
            ]
    assert found == {"10MB": ["BROADCAST"], "-1": ["NOT_REPEATABLE"]}


def test_more_keys_than_are_collected_skip_nothing(spark: SparkSession, star: Star) -> None:
    pairs = "range(400) a CROSS JOIN range(400) b WHERE a.id >= {}"
    query = (
        f"SELECT count(*) FROM {star.fact} f JOIN (SELECT a.id * 400 + b.id AS k FROM {pairs}) x ON id = k"
    )
    with settings_of(spark, NO_BROADCAST):
        for least, failure in ((300, ""), (100, "there are more than 100000 keys")):
            assert_same(spark, query.format(least))
            (join,) = star.joins(query.format(least))
            assert join.code == "COLLECTED"
            assert join.last is not None
            assert join.last.failure == failure
            assert (join.last.files_read < join.last.files) == (not failure)


REASONS = {
    "NOT_KNOWN": "SELECT f.id FROM {fact} f JOIN {dim} x ON f.fl = x.fl",
    "KEY_TYPE": "SELECT f.id FROM {fact} f JOIN {dim} x ON array(f.id) = array(x.k)",
}


def test_keys_of_which_nothing_is_known_are_left_alone(spark: SparkSession, star: Star) -> None:
    for code, text in REASONS.items():
        star.leaves_alone(text.format(fact=star.fact, dim=star.dim), code)
    with settings_of(spark, NO_BROADCAST):
        large = f"(SELECT g.id AS k FROM {star.fact} g JOIN {star.fact} h USING (id) WHERE g.spread < 9)"
        query = f"SELECT f.id FROM {star.fact} f JOIN {large} x ON f.id = x.k"
        assert_same(spark, query, rows=9)
        assert "COST" in [join.code for join in star.joins(query)]
        small = f"SELECT f.id FROM {star.fact} f JOIN {star.dim} x ON f.id = x.k"
        assert [join.code for join in star.joins(small)] == ["COLLECTED"]
        with settings_of(spark, {"spark.skipstone.joins.collectedBytes": "10"}):
            assert [join.code for join in star.joins(small)] == ["COST"]


@pytest.mark.parametrize("aqe", ["true", "false"])
def test_partitions_that_spark_prunes_stay_pruned(
    spark: SparkSession, star: Star, tmp_path: Path, aqe: str
) -> None:
    path = tmp_path / f"parts{aqe}"
    spark.range(0, ROWS, 1, FILES).selectExpr(*FACT).write.format("delta").partitionBy("file").save(str(path))
    indexed(spark, "split", path)
    # What is broadcast are facts, of which the keys of the dimension skip some files.
    few = f"(SELECT f.file FROM {star.fact} f JOIN {star.dim} x ON f.id = x.k)"
    query = f"SELECT /*+ BROADCAST(y) */ p.id, p.s FROM split p JOIN {few} y ON p.file = y.file"
    with settings_of(spark, {AQE: aqe}):
        assert_same(spark, query, rows=150)
        assert pruned_scans(execution_of(spark, query)) == 1
        # That Spark prunes the other side by the facts is no filter to prune the facts by.
        assert sorted(join.code for join in star.joins(query)) == ["BROADCAST", "NOT_FILTERED"]
        frame = spark.sql(query)
        frame.collect()
        plan = frame._jdf.queryExecution().executedPlan().toString().split("== Initial Plan")[0]
        assert plan.count("dynamicpruningexpression(file") == 1, plan
        assert plan.count("dynamicpruningexpression(true)") == 0, plan


def test_metrics_that_are_observed_below_a_join_count_all_rows(spark: SparkSession, star: Star) -> None:
    counted = []
    for on in ("true", "false"):
        with settings_of(spark, {SWITCH: on}):
            seen = Observation()
            facts = spark.table(star.fact).observe(seen, F.count(F.lit(1)).alias("rows"))
            assert facts.join(spark.sql(f"SELECT k AS key FROM {star.dim}"), F.expr("id = key")).count() == 3
            counted.append(seen.get)
    assert counted == [{"rows": ROWS}] * 2


def test_a_catalog_that_changes_between_planning_and_running(spark: SparkSession, tmp_path: Path) -> None:
    own = write(spark, tmp_path, "delta")
    path = tmp_path / "fact_delta"
    query = f"SELECT f.id, f.s FROM delta.`{path}` f JOIN delta.`{tmp_path / 'dim_delta'}` x ON f.id = x.k"
    query += " WHERE x.grp = 'a'"
    truth = assert_same(spark, query, rows=3)
    frame = spark.sql(query)
    frame._jdf.queryExecution().executedPlan()
    spark.range(ROWS, 2 * ROWS, 1, 4).selectExpr(*FACT).write.format("delta").mode("append").save(str(path))
    own.table.index()
    assert sorted(map(repr, frame.collect())) == truth
    again = spark.sql(query)
    again._jdf.queryExecution().executedPlan()
    # What is known is gone; then all files are read.
    shutil.rmtree(path / "_skipstone")
    own.table.index(expressions=["s"])
    assert sorted(map(repr, again.collect())) == truth


CHANGES = (
    """MERGE INTO {t} t USING (SELECT DISTINCT f.id, f.i FROM {fact} f JOIN {dim} x ON f.id = x.k) s
    ON t.id = s.id WHEN MATCHED THEN UPDATE SET i = t.i + 1000
    WHEN NOT MATCHED BY SOURCE AND t.id < 5 THEN DELETE""",
    """MERGE INTO {t} t USING (SELECT DISTINCT f.id FROM {fact} f JOIN {t} u ON f.id = u.id
    JOIN {dim} x ON u.id = x.k) s ON t.id = s.id WHEN MATCHED THEN DELETE""",
    "MERGE INTO {t} t USING {dim} x ON t.file = x.i WHEN MATCHED THEN DELETE",
    "INSERT INTO {t} SELECT t.* FROM {t} t JOIN {dim} x ON t.id = x.k + 100",
    "INSERT OVERWRITE {t} SELECT t.* FROM {t} t JOIN {dim} x ON t.id = x.k + 100",
)


def test_statements_that_change_a_table_see_all_of_its_rows(
    spark: SparkSession, star: Star, tmp_path: Path
) -> None:
    outcomes = []
    for on in ("true", "false"):
        path = tmp_path / on
        shutil.copytree(str(star.table.source), path)
        found = []
        with settings_of(spark, {SWITCH: on}):
            for text in CHANGES:
                name = f"delta.`{path}`"
                spark.sql(text.format(t=name, fact=star.fact, dim=star.dim))
                rows = answer(spark, f"SELECT id, i, file, count(*) FROM {name} GROUP BY ALL")
                found.append(rows)
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]
    assert [len(rows) for rows in outcomes[0]] == [396, 394, 344, 344, 1]

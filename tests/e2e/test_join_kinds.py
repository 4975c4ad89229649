"""Joins that skip files when they run: every type of join, type of key, kind of row and way to plan."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import answer, assert_same, assert_same_by, indexed, settings
from tests.e2e.stars import pruned_scans
from tests.light_plans import settings_of

import skipstone

KEYS = {
    "i": "CAST(k AS INT)",
    "s": "lpad(k, 5, '0')",
    "dec": "CAST(k AS DECIMAL(9, 2))",
    "d": "date_add(DATE'2020-01-01', CAST(k AS INT))",
    "ts": "timestamp_seconds(k * 3600)",
    "ntz": "CAST(timestamp_seconds(k * 3600) AS TIMESTAMP_NTZ)",
    "bin": "CAST(lpad(k, 5, '0') AS BINARY)",
}
# 240 facts in eight files by their key: each key three times, every tenth NULL, key 4 has 30 rows more.
FACTS = "SELECT id, IF(id % 10 = 0, NULL, id DIV 3) AS k FROM range(240)"
SKEWED = "SELECT 1000 + id AS id, 4 AS k FROM range(30)"
# The skewed key three times, one with a few facts, one with none, NULL, and one that no filter wants.
PARTNERS = "VALUES (4, 20), (4, 21), (4, 22), (50, 1), (900, 1), (NULL, 1), (NULL, 2), (30, -1) t(k, v)"
JOINS = {
    "inner": "{f} JOIN {x} ON {on}",
    "inner, the facts second": "{x} JOIN {f} ON {on}",
    "inner, one condition more": "{f} JOIN {x} ON {on} AND f.id > x.v",
    "left": "{f} LEFT JOIN {x} ON {on}",
    "left, the facts second": "{x} LEFT JOIN {f} ON {on}",
    "right": "{f} RIGHT JOIN {x} ON {on}",
    "right, the facts second": "{x} RIGHT JOIN {f} ON {on}",
    "full": "{f} FULL JOIN {x} ON {on}",
}
ALONE = {
    "semi": "{f} LEFT SEMI JOIN {x} ON {on}",
    "anti": "{f} LEFT ANTI JOIN {x} ON {on}",
    "exists": "{f} WHERE EXISTS (SELECT 1 FROM {x} WHERE {on})",
    "not exists": "{f} WHERE NOT EXISTS (SELECT 1 FROM {x} WHERE {on})",
}
# As AQE, generated code, broadcasts, the format: with its opposite, each way is tried with each type of key.
WAYS = ("0000", "0011", "0101", "0110", "1001", "1010", "1100", "0001")


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Facts and partners in both formats, as views ``kf_FORMAT`` and ``kx_FORMAT``."""
    home = tmp_path_factory.mktemp("kinds")
    columns = [f"{text} AS {name}" for name, text in KEYS.items()]
    facts = (
        spark.sql(f"{FACTS} UNION ALL {SKEWED}").repartitionByRange(8, "k").selectExpr("id", "k", *columns)
    )
    partners = spark.sql(f"SELECT * FROM {PARTNERS}").selectExpr("k", "v", *columns).coalesce(1)
    for format_ in ("delta", "parquet"):
        facts.write.format(format_).save(str(home / f"kf_{format_}"))
        partners.write.format(format_).save(str(home / f"kx_{format_}"))
        indexed(spark, f"kf_{format_}", home / f"kf_{format_}")
        spark.read.format(format_).load(str(home / f"kx_{format_}")).createOrReplaceTempView(f"kx_{format_}")
    return home


def every_join(on: str, format_: str, filter_: str = "v > 0") -> str:
    """How many rows each type of join has, and which."""
    names = {"f": f"kf_{format_} f", "x": f"(SELECT * FROM kx_{format_} WHERE {filter_}) x", "on": on}
    both = [
        f"SELECT '{name}' AS j, count(*) AS n, sum(hash(f.id, x.k, x.v)) AS h FROM {text.format(**names)}"
        for name, text in JOINS.items()
    ]
    alone = [
        f"SELECT '{name}', count(*), sum(hash(f.id)) FROM {text.format(**names)}"
        for name, text in ALONE.items()
    ]
    return " UNION ALL ".join(both + alone)


@pytest.mark.parametrize(
    ("on", "way"),
    [
        *zip((f"f.{name} = x.{name}" for name in KEYS), WAYS, strict=False),
        ("f.i = x.i AND f.s = x.s AND f.d = x.d", WAYS[-1]),
    ],
)
def test_every_type_of_join_answers_the_same(spark: SparkSession, on: str, way: str) -> None:
    with settings(spark, spark__skipstone__enabled="false"):  # of the files alone, without a log
        truth = answer(spark, every_join(on, "parquet"))
        none = answer(spark, every_join(on, "parquet", "v > 99"))
    assert any("j='inner', n=101," in line for line in truth)
    for bits in (way, way.translate(str.maketrans("01", "10"))):
        aqe, code, broadcast, plain = (bit == "1" for bit in bits)
        format_ = "parquet" if plain else "delta"
        wanted = {
            "spark.sql.adaptive.enabled": str(aqe).lower(),
            "spark.sql.codegen.wholeStage": str(code).lower(),
            "spark.sql.autoBroadcastJoinThreshold": "10MB" if broadcast else "-1",
        }
        with settings_of(spark, wanted):
            frame = spark.sql(every_join(on, format_))
            assert sorted(map(repr, frame.collect())) == truth, bits
            # Keys of files that others may overwrite are not computed twice.
            least = 0 if plain and not broadcast else 5
            assert pruned_scans(frame._jdf.queryExecution()) >= least, bits
    assert answer(spark, every_join(on, "delta", "v > 99")) == none


FACT_JOIN = "SELECT f.id, f.s, x.v FROM kf_delta f JOIN kx_delta x ON f.i = x.i WHERE x.v {}"
COUNTED = "SELECT s, count(*) FROM ({}) GROUP BY s"
SHAPES = {
    "joined with itself": "WITH q AS ({one}) SELECT a.id, b.s FROM q a JOIN q b ON a.id = b.id",
    "twice, by other keys": f"{COUNTED.format('{one}')} UNION ALL {COUNTED.format('{other}')}",
    "twice, by the same keys": f"{COUNTED.format('{one}')} UNION ALL {COUNTED.format('{one}')}",
    "a subquery in the filter": "{one} AND f.i < (SELECT max(i) FROM kx_delta WHERE v = 1)",
    "a subquery as a value": "SELECT id, (SELECT count(*) FROM ({other})) AS c FROM ({one})",
    "below a limit": "SELECT * FROM ({one}) ORDER BY id, v LIMIT 4",
}


@pytest.mark.parametrize("aqe", ["true", "false"])
def test_plans_that_are_reused_and_have_subqueries(spark: SparkSession, aqe: str) -> None:
    with settings_of(spark, {"spark.sql.adaptive.enabled": aqe}):
        for text in SHAPES.values():
            query = text.format(one=FACT_JOIN.format("> 0"), other=FACT_JOIN.format("= 1"))
            found, execution = assert_same_by(spark, query)
            assert found, query
            assert pruned_scans(execution) >= 1, query


def test_a_copy_of_a_plan_runs_as_the_plan_does(spark: SparkSession) -> None:
    query = f"{FACT_JOIN.format('= 1')} AND f.i < (SELECT max(i) + 1 FROM kx_delta WHERE v = 1)"
    plan = spark.sql(query)._jdf.queryExecution().executedPlan()
    rows = [len(each.executeCollect()) for each in (plan.clone(), plan, plan.clone())]
    assert rows == [len(assert_same(spark, query))] * 3
    assert rows[0] > 0


@pytest.mark.parametrize("threshold", ["10MB", "-1"])
def test_partners_that_change_after_planning_are_read_as_they_were(
    spark: SparkSession, tmp_path: Path, threshold: str
) -> None:
    path = tmp_path / "x"
    spark.sql("SELECT * FROM kx_delta").write.format("delta").save(str(path))
    query = f"SELECT f.id, x.k FROM kf_delta f JOIN delta.`{path}` x ON f.i = x.i WHERE x.v > 0"
    with settings_of(spark, {"spark.sql.autoBroadcastJoinThreshold": threshold}):
        before = assert_same(spark, query)
        frame = spark.sql(query)
        frame._jdf.queryExecution().executedPlan()
        spark.sql(f"UPDATE delta.`{path}` SET k = 70, i = 70 WHERE v BETWEEN 20 AND 22")
        spark.sql(f"DELETE FROM delta.`{path}` WHERE k = 50")
        assert sorted(map(repr, frame.collect())) == before
        after, execution = assert_same_by(spark, query)
        assert after
        assert not set(after) & set(before)
        assert pruned_scans(execution) == 1


def test_partners_that_are_cached(spark: SparkSession) -> None:
    query = "SELECT f.id, x.v FROM kf_delta f JOIN cached_partners x ON f.i = x.k"
    for rows in (PARTNERS, "kx_delta"):
        cached = spark.sql(f"SELECT * FROM {rows} WHERE v > 0").cache()
        try:
            cached.createOrReplaceTempView("cached_partners")
            assert assert_same(spark, query)
            assert assert_same(spark, query), "now from what was cached"
        finally:
            cached.unpersist()


def test_a_stream_that_is_joined_reads_what_it_would_read(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    stream = spark.readStream.format("delta").load(str(tables / "kx_delta")).where("v > 0")
    joined = stream.alias("x").join(spark.table("kf_delta").alias("f"), "i").select("f.id", "x.v")
    writing = joined.writeStream.format("parquet").trigger(availableNow=True)
    query = writing.option("checkpointLocation", str(tmp_path / "checkpoint")).start(str(tmp_path / "out"))
    assert query.awaitTermination(120)
    found = sorted(map(repr, spark.read.parquet(str(tmp_path / "out")).collect()))
    assert found == answer(spark, FACT_JOIN.format("> 0").replace("f.s, ", ""))


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Kolkata"])
def test_the_time_zone_may_be_another_than_at_indexing(spark: SparkSession, zone: str) -> None:
    with settings(spark, spark__sql__session__timeZone=zone):
        for on in (
            "f.ts = x.ts",
            "CAST(f.ts AS DATE) = x.d",
            "f.d = CAST(x.ts AS DATE)",
            "f.ts = x.d",
            "f.ts = x.ntz",
            "CAST(f.ts AS STRING) = CAST(x.ts AS STRING)",
            "date_trunc('DAY', f.ts) = date_trunc('DAY', x.ts)",
        ):
            assert_same(spark, f"SELECT f.id, x.v FROM kf_delta f JOIN kx_delta x ON {on} WHERE x.v > 0")


def test_char_columns_are_joined_as_they_are_padded(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("facts", "partners"):
        spark.sql(f"CREATE TABLE delta.`{tmp_path / name}` (c CHAR(5), v VARCHAR(5), n INT) USING delta")
    for text in ("a", "b", "c"):
        spark.sql(f"INSERT INTO delta.`{tmp_path / 'facts'}` VALUES ('{text}', '{text}', 1)")
    spark.sql(f"INSERT INTO delta.`{tmp_path / 'partners'}` VALUES ('b', 'b  ', 1), ('c', 'c', 2)")
    table: skipstone.Table = indexed(spark, "padded", tmp_path / "facts")
    for on, rows in (("f.c = x.c", 1), ("f.v = x.c", 0), ("f.c = x.v", 0), ("rtrim(f.c) = rtrim(x.v)", 1)):
        query = f"SELECT f.* FROM {{}} f JOIN delta.`{tmp_path / 'partners'}` x ON {on} WHERE x.n = 1"
        for facts in (f"delta.`{table.source}`", "padded"):
            assert_same(spark, query.format(facts), rows=rows if facts != "padded" else None)


@pytest.fixture(scope="module")
def far(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """Facts in eight files by their shop; ten shops in each of five towns, two of them in the north."""
    home = tmp_path_factory.mktemp("far")
    text = ", ".join(f"sha2(CAST(id + {number} AS STRING), 512) AS t{number}" for number in range(6))
    rows = {
        "far_facts": f"SELECT id, id DIV 10 AS shop, (id * 7) % 50 AS other, {text} FROM range(500)",
        "far_shops": "SELECT id AS shop, id DIV 10 AS town FROM range(50)",
        "far_towns": "SELECT id AS town, IF(id IN (1, 4), 'north', 'south') AS region FROM range(5)",
    }
    for name, sql in rows.items():
        files = 8 if name == "far_facts" else 1
        frame = spark.sql(sql).repartitionByRange(files, "id") if files > 1 else spark.sql(sql).coalesce(1)
        frame.write.format("delta").save(str(home / name))
        spark.read.format("delta").load(str(home / name)).createOrReplaceTempView(name)
    return indexed(spark, "far_facts", home / "far_facts")


FAR = "SELECT f.id, f.t0 FROM far_facts f JOIN far_shops s ON f.shop = s.shop "
NORTH = "(SELECT * FROM far_towns WHERE region = 'north') t"
FAR_SKIPS = (
    f"{FAR} JOIN {NORTH} ON s.town = t.town",
    f"{FAR} WHERE s.town IN (SELECT town FROM {NORTH})",
    f"{FAR} JOIN far_towns v ON s.town = v.town JOIN {NORTH} ON v.town = t.town",
    f"{FAR} RIGHT JOIN {NORTH} ON s.town = t.town",
    # Spark moves this one below the other join itself.
    f"{FAR} LEFT ANTI JOIN {NORTH} ON s.town = t.town",
    f"{FAR} JOIN far_shops r ON f.other = r.shop JOIN {NORTH} ON s.town = t.town AND r.town <> t.town",
)
FAR_READS_ALL = (
    f"{FAR} LEFT JOIN {NORTH} ON s.town = t.town",
    f"{FAR} FULL JOIN {NORTH} ON s.town = t.town",
    f"{FAR} JOIN far_shops r ON f.other = r.shop JOIN {NORTH} ON r.town = t.town",
    f"{FAR} JOIN (SELECT town FROM far_towns WHERE region = 'north' LIMIT 1) t ON s.town = t.town",
)


@pytest.fixture(scope="module")
def far_rows(spark: SparkSession, far: skipstone.Table) -> dict[str, list[str]]:
    """The rows of each query, without skipping."""
    with settings(spark, spark__skipstone__enabled="false"):
        return {query: answer(spark, query) for query in (*FAR_SKIPS, *FAR_READS_ALL)}


@pytest.mark.parametrize("aqe", ["true", "false"])
def test_a_filter_on_what_is_joined_to_the_joined_table_skips(
    spark: SparkSession, far: skipstone.Table, far_rows: dict[str, list[str]], aqe: str
) -> None:
    with settings_of(spark, {"spark.sql.adaptive.enabled": aqe}):
        for query, expected in far_rows.items():
            frame = spark.sql(query)
            assert sorted(map(repr, frame.collect())) == expected, query
            assert pruned_scans(frame._jdf.queryExecution()) == (query in FAR_SKIPS), query
            if query in FAR_SKIPS:
                assert expected, query
                runs = [join.last for scan in far.explain(query).scans for join in scan.joins if join.last]
                assert [run.files_read < run.files for run in runs] == [True], query

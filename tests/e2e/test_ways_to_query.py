"""Unchanged SQL: whatever way a query is put, it skips and answers the same."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.e2e.checks import answer, assert_same, assert_skips, settings
from tests.e2e.conftest import Orders
from tests.first_row import first_row
from tests.opened import opened

import skipstone

pytestmark = pytest.mark.usefixtures("usual_plans")

# {t} is the table; the numbers are the files read by each scan that has a filter, in the order of the plan.
QUERIES = {
    "a CTE": ("WITH few AS (SELECT * FROM {t} WHERE id < 100) SELECT sum(id) FROM few", [1]),
    "a CTE used twice": (
        "WITH f AS (SELECT * FROM {t} WHERE id < 100) SELECT a.id FROM f a, f b WHERE a.id = b.k",
        [1, 1],
    ),
    "a union": ("SELECT id FROM {t} WHERE id < 5 UNION ALL SELECT id FROM {t} WHERE id > 790", [1, 1]),
    "both sides of a join": (
        "SELECT a.id FROM {t} a JOIN {t} b ON a.id = b.id + 700 WHERE b.id < 10 AND a.id >= 700",
        [1, 1],
    ),
    "a join that carries a filter over": (
        "SELECT a.id FROM {t} a JOIN {t} b USING (id) WHERE a.id = 7",
        [1, 1],
    ),
    "an outer join": (
        (
            "SELECT a.id, b.k FROM {t} a LEFT JOIN"
            " (SELECT * FROM {t} WHERE id < 50) b USING (id) WHERE a.id < 60"
        ),
        [1, 1],
    ),
    "a scalar subquery": (
        "SELECT id FROM {t} WHERE id = (SELECT max(id) FROM {t} WHERE id < 100) AND id < 200",
        [2, 1],
    ),
    "an IN subquery": (
        "SELECT id FROM {t} WHERE id IN (SELECT k FROM {t} WHERE id < 100) AND id < 50",
        [1, 1],
    ),
    "a NOT IN subquery": (
        "SELECT id FROM {t} WHERE id NOT IN (SELECT k FROM {t} WHERE id < 100) AND id < 50",
        [1, 1],
    ),
    "EXISTS": (
        (
            "SELECT id FROM {t} a WHERE id < 50 AND EXISTS"
            " (SELECT 1 FROM {t} b WHERE b.id = a.id + 1 AND b.id < 40)"
        ),
        [1, 1],
    ),
    "an aggregate": (
        "SELECT mode, count(*) FROM {t} WHERE day < '2020-01-05' GROUP BY mode HAVING count(*) > 1",
        [1],
    ),
    "a window": ("SELECT id, row_number() OVER (ORDER BY id) FROM {t} WHERE id >= 790", [1]),
    "ORDER BY and LIMIT": ("SELECT id FROM {t} WHERE id >= 750 ORDER BY id LIMIT 3", [1]),
    "DISTINCT": ("SELECT DISTINCT k FROM {t} WHERE id < 20", [1]),
    "LATERAL VIEW": ("SELECT e FROM {t} LATERAL VIEW explode(ids) AS e WHERE id < 20", [1]),
    "an alias inside": ("SELECT n FROM (SELECT id * 2 AS n, id FROM {t}) WHERE id < 20", [1]),
}


@pytest.mark.parametrize("case", QUERIES, ids=lambda case: case.replace(" ", "_"))
def test_sql_skips_unchanged(orders: Orders, case: str) -> None:
    text, read = QUERIES[case]
    query = text.format(t=orders.name)
    assert assert_same(orders.table.spark, query)
    scans = [scan for scan in orders.table.explain(query).scans if scan.filter]
    assert sorted(scan.files_read for scan in scans) == sorted(read)
    assert all(scan.files_total == 8 for scan in scans)


def test_the_data_frame_api_skips(orders: Orders) -> None:
    spark = orders.table.spark

    def query() -> DataFrame:
        return orders.table.frame().where((F.col("id") < 100) & F.col("name").startswith("n")).select("id")

    assert_skips(orders.table, query, rows=100, read=1)
    assert len(query().inputFiles()) == 1
    with settings(spark, spark__skipstone__enabled="false"):
        assert len(query().inputFiles()) == 8


def test_fewer_files_are_really_opened(orders: Orders) -> None:
    frame = orders.table.spark.sql(f"SELECT id FROM {orders.name} WHERE id BETWEEN 100 AND 299")
    assert frame.count() == 200
    plan = frame._jdf.queryExecution().executedPlan()
    frame.collect()
    leaves = plan.collectLeaves()
    assert leaves.head().metrics().apply("numFiles").value() == 2


def test_views_of_views_skip(orders: Orders) -> None:
    spark = orders.table.spark
    spark.sql(f"CREATE OR REPLACE TEMP VIEW inner_view AS SELECT id AS n, day FROM {orders.name}")
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW outer_view AS SELECT n + 0 AS m, day FROM inner_view WHERE n < 400"
    )
    assert_skips(orders.table, "SELECT m FROM outer_view WHERE day >= '2020-02-01'", rows=90, read=1)


@pytest.mark.parametrize("format_", ["parquet", "delta"])
def test_tables_of_the_catalog_skip_by_name_and_by_path(spark: SparkSession, format_: str) -> None:
    name = f"named_{format_}"
    spark.range(0, 400, 1, 4).selectExpr("id", "id % 3 AS k").write.format(format_).saveAsTable(name)
    try:
        table = skipstone.table(spark, name)
        table.index()
        assert_skips(table, f"SELECT k FROM {name} WHERE id = 5", rows=1, read=1)
        assert_skips(table, f"SELECT k FROM default.{name} WHERE id = 5", rows=1, read=1)
        path = opened(table).root.removeprefix("file:")
        assert_skips(table, f"SELECT k FROM {format_}.`{path}` WHERE id = 5", rows=1, read=1)
        spark.sql(f"INSERT INTO {name} VALUES (5, 9)")
        assert_skips(table, f"SELECT k FROM {name} WHERE id = 5", rows=2, read=2)
    finally:
        spark.sql(f"DROP TABLE {name}")


def test_a_cached_frame_answers_as_before(orders: Orders) -> None:
    spark = orders.table.spark
    cached = spark.sql(f"SELECT id, k FROM {orders.name} WHERE id < 150").cache()
    try:
        assert cached.count() == 150
        assert cached.where("id >= 100").count() == 50
        assert len(answer(spark, f"SELECT id, k FROM {orders.name} WHERE id < 150 AND id >= 140")) == 10
    finally:
        cached.unpersist()
    whole = spark.table(orders.name).cache()
    try:
        assert whole.count() == 800
        assert_same(spark, f"SELECT id FROM {orders.name} WHERE id = 3", rows=1)
    finally:
        whole.unpersist()


def test_counts_need_no_rows(orders: Orders) -> None:
    spark = orders.table.spark
    assert spark.table(orders.name).count() == 800
    assert first_row(spark.sql(f"SELECT count(*) FROM {orders.name} WHERE id < 0"))[0] == 0
    latest = spark.sql(f"SELECT max(id), min(day) FROM {orders.name} WHERE id >= 700")
    assert first_row(latest)[0] == 799


def test_a_user_defined_function_beside_a_usable_predicate(orders: Orders) -> None:
    spark = orders.table.spark
    spark.udf.register("is_odd", lambda n: n % 2 == 1, "boolean")
    assert_skips(orders.table, f"SELECT id FROM {orders.name} WHERE is_odd(id) AND id < 100", rows=50, read=1)
    assert_same(spark, f"SELECT id FROM {orders.name} WHERE is_odd(id)", rows=400)
    assert_same(spark, f"SELECT id FROM {orders.name} WHERE rand() >= 0 AND id = 9 OR id = 700", rows=2)
    assert_same(
        spark, f"SELECT id FROM {orders.name} WHERE input_file_name() LIKE '%parquet' AND id = 9", rows=1
    )

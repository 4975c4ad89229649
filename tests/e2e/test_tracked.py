"""Expressions and features to keep: what has no fixed value is refused with a reason, the rest is sound."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same, assert_skips, settings
from tests.e2e.conftest import Orders

import skipstone

REFUSED = {
    "rand() < 0.5": "NON_DETERMINISTIC",
    "id < rand() * 1000": "NON_DETERMINISTIC",
    "uuid() = name": "NON_DETERMINISTIC",
    "day = current_date()": "SESSION_DEPENDENT",
    "day < now()": "SESSION_DEPENDENT",
    "name = current_user()": "SESSION_DEPENDENT",
    "name = current_timezone()": "SESSION_DEPENDENT",
    "shout(name) = 'N'": "UDF",
    "id = (SELECT max(id) FROM orders_parquet)": "SUBQUERY",
    "name COLLATE UTF8_LCASE = 'N0001'": "COLLATION",
    "input_file_name() = name": "NON_DETERMINISTIC",
    "monotonically_increasing_id() < 5": "NON_DETERMINISTIC",
    "unknown_column = 1": "does not fit this table",
    "id +": "does not fit this table",
    "id": "not a boolean",
    "1 = 1": "reads no column",
}


@pytest.mark.parametrize("feature", REFUSED)
def test_a_feature_without_a_fixed_value_is_refused_with_a_reason(orders: Orders, feature: str) -> None:
    orders.table.spark.udf.register("shout", lambda text: text.upper())
    if "SELECT" in feature:
        feature = feature.replace("orders_parquet", orders.name)
    with pytest.raises(skipstone.SkipstoneError) as caught:
        orders.table.index(features=[feature])
    message = str(caught.value)
    assert next(why for text, why in REFUSED.items() if text[:8] == feature[:8]) in message
    assert "\n" not in message
    assert message.endswith(".")


@pytest.mark.parametrize(
    "expression", ["rand()", "current_date()", "shout(name)", "ids", "attrs", "missing + 1"]
)
def test_an_expression_without_a_fixed_value_or_order_is_refused(orders: Orders, expression: str) -> None:
    orders.table.spark.udf.register("shout", lambda text: text.upper())
    with pytest.raises(skipstone.SkipstoneError):
        orders.table.index(expressions=[expression])


@pytest.fixture(scope="module")
def zoned(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """Features and expressions that depend on the time zone or the overflow mode of the session."""
    path = tmp_path_factory.mktemp("zoned") / "t"
    spark.range(0, 96, 1, 4).selectExpr(
        "id",
        "TIMESTAMP'2024-01-01 00:00:00' + make_dt_interval(0, CAST(id AS INT)) AS ts",
        "CAST(id AS STRING) AS text",
        "CAST(id * 22000000 AS INT) AS big",
    ).write.parquet(str(path))
    table = skipstone.table(spark, f"zoned_features={path}")
    table.index(
        expressions=["CAST(ts AS DATE)", "hour(ts)", "big + big", "CAST(text AS INT)"],
        features=["CAST(ts AS DATE) = DATE'2024-01-02'", "date_format(ts, 'dd') = '03'", "big + big < 0"],
    )
    return table


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_time_zone_dependent_features_serve_only_their_own_zone(zoned: skipstone.Table, zone: str) -> None:
    with settings(zoned.spark, spark__sql__session__timeZone=zone):
        assert_same(
            zoned.spark, "SELECT id FROM zoned_features WHERE CAST(ts AS DATE) = DATE'2024-01-02'", rows=24
        )
        assert_same(zoned.spark, "SELECT id FROM zoned_features WHERE date_format(ts, 'dd') = '03'", rows=24)
        assert_same(zoned.spark, "SELECT id FROM zoned_features WHERE hour(ts) = 23")
    if zone == "UTC":
        query = "SELECT id FROM zoned_features WHERE date_format(ts, 'dd') = '03'"
        scan = assert_skips(zoned, query, rows=24, read=1)
        assert scan.skipped[0].code == "FEATURE"


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_overflow_dependent_features_serve_only_their_own_mode(zoned: skipstone.Table, ansi: str) -> None:
    spark = zoned.spark
    with settings(spark, spark__sql__ansi__enabled=ansi):
        assert_same(spark, "SELECT id FROM zoned_features WHERE CAST(text AS INT) = 50", rows=1)
        if ansi == "false":
            assert_same(spark, "SELECT id FROM zoned_features WHERE big + big < 0", rows=47)
            assert_same(
                spark, "SELECT id FROM zoned_features WHERE CAST(concat(text, 'x') AS INT) IS NULL", rows=96
            )


def test_a_feature_serves_every_filter_that_implies_it(orders: Orders) -> None:
    for condition, rows in {
        "mode = 'AIR' AND id < 300 AND k = 3": 15,
        "id BETWEEN 10 AND 20 AND mode = 'AIR'": 3,
        "mode IN ('AIR') AND id = 9": 1,
        "name > 'n' AND id < 250 AND mode <=> 'AIR'": 84,
    }.items():
        assert_skips(orders.table, f"SELECT id FROM {orders.name} WHERE {condition}", rows=rows)
    assert_same(orders.table.spark, f"SELECT id FROM {orders.name} WHERE mode = 'AIR' AND id < 301", rows=101)
    assert_same(
        orders.table.spark, f"SELECT id FROM {orders.name} WHERE NOT (mode = 'AIR' AND id < 300)", rows=700
    )


def test_what_was_asked_for_is_remembered_until_a_rebuild(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(0, 100, 1, 2).write.parquet(str(tmp_path / "t"))
    table = skipstone.table(spark, str(tmp_path / "t"))
    table.index(expressions=["id % 7"], features=["id % 11 = 3"])
    spark.range(100, 200, 1, 1).write.mode("append").parquet(str(tmp_path / "t"))
    report = table.index()
    assert report.files_indexed == 1
    assert (report.expressions, report.features) == (("id % 7",), ("id % 11 = 3",))
    assert table.index(features=["id % 13 = 3"]).files_indexed == 3
    report = table.index(rebuild=True)
    assert (report.expressions, report.features) == ((), ())

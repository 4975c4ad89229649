"""NaN, infinities, zeros, overflow, wide decimals, and functions that do not keep the order."""

from __future__ import annotations

import pytest
from pyspark.errors import ArithmeticException, NumberFormatException
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_reads_all, assert_same, assert_skips, indexed, settings

import skipstone

DIGITS = "1234567890123456789012345678"


@pytest.fixture(scope="module")
def numbers(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """Four files, told apart by ``part``; what is special is in file 1."""
    path = tmp_path_factory.mktemp("numbers") / "table"
    spark.range(0, 40, 1, 4).selectExpr(
        "id",
        "id DIV 10 AS part",
        # file 1 has nothing but NaN, file 2 has some NaN, file 3 has infinities
        "CASE WHEN id DIV 10 = 1 OR id = 25 THEN double('NaN') WHEN id = 30 THEN double('Infinity')"
        " WHEN id = 31 THEN double('-Infinity') ELSE id / 2D END AS d",
        "CASE WHEN id DIV 10 = 1 OR id = 25 THEN float('NaN') ELSE float(id / 10F) END AS f",
        "CASE id DIV 10 WHEN 0 THEN -0.0D WHEN 1 THEN 0.0D ELSE double(id) END AS zero",
        "CAST(CASE WHEN id DIV 10 = 1 THEN 2147483647 - (id % 10) ELSE id END AS INT) AS i",
        "CASE WHEN id DIV 10 = 1 THEN 9223372036854775807 - (id % 10) ELSE id END AS l",
        f"CAST(concat('{DIGITS}', id DIV 10, '.', lpad(id, 9, '0')) AS DECIMAL(38, 9)) AS wide",
        "CAST(id * 1.01 AS DECIMAL(10, 2)) AS money",
        "CAST(id AS STRING) AS text",
        "id % 2 = 0 AND id < 10 AS flag",
    ).write.parquet(str(path))
    return indexed(spark, "numbers", path, expressions=["abs(id - 20)", "i + 1", "CAST(d AS INT)"])


def test_nan_in_min_max_is_greater_than_everything(numbers: skipstone.Table) -> None:
    assert_skips(numbers, "SELECT id FROM numbers WHERE d > 1000 AND part < 3", rows=11, read=2)
    assert_skips(numbers, "SELECT id FROM numbers WHERE d = double('NaN')", rows=11, read=2)
    assert_skips(numbers, "SELECT id FROM numbers WHERE isnan(d) AND part = 1", rows=10, read=1)
    assert_skips(numbers, "SELECT id FROM numbers WHERE f > 100", rows=11, read=2)
    assert_skips(numbers, "SELECT id FROM numbers WHERE d < 4", rows=9)
    assert_same(numbers.spark, "SELECT id FROM numbers WHERE NOT (d > 3)", rows=8)
    assert_same(numbers.spark, "SELECT id FROM numbers WHERE NOT isnan(f)", rows=29)
    assert_skips(numbers, "SELECT id FROM numbers WHERE d != double('NaN') AND part = 1", rows=0)


def test_infinities_are_ordinary_values_at_the_ends(numbers: skipstone.Table) -> None:
    assert_skips(numbers, "SELECT id FROM numbers WHERE d = double('Infinity')", rows=1, read=1)
    assert_skips(numbers, "SELECT id FROM numbers WHERE d <= double('-Infinity')", rows=1, read=1)
    assert_same(numbers.spark, "SELECT id FROM numbers WHERE d >= double('Infinity')", rows=12)


def test_the_two_zeros_are_one_value(numbers: skipstone.Table) -> None:
    # Spark's own pushdown into Parquet tells them apart and loses rows.
    numbers.spark.conf.set("spark.sql.parquet.filterPushdown", "false")
    for zero in ("0.0D", "-0.0D"):
        assert_skips(numbers, f"SELECT id FROM numbers WHERE zero = {zero}", rows=20, read=2)
        assert_skips(numbers, f"SELECT id FROM numbers WHERE zero <= {zero}", rows=20, read=2)
        assert_same(numbers.spark, f"SELECT id FROM numbers WHERE zero < {zero}", rows=0)
        assert_skips(numbers, f"SELECT id FROM numbers WHERE zero IN ({zero}, 25)", rows=21, read=3)
    assert_same(numbers.spark, "SELECT id FROM numbers WHERE CAST(zero AS STRING) = '-0.0'", rows=10)


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_integer_overflow_never_hides_a_row(numbers: skipstone.Table, ansi: str) -> None:
    with settings(numbers.spark, spark__sql__ansi__enabled=ansi):
        for condition in ("i + 1 < 0", "i + 1 < 5", "l + 5 < 0", "-i < 0", "i * 2 < 0", "CAST(l AS INT) < 0"):
            query = f"SELECT id FROM numbers WHERE {condition}"
            overflows = ansi == "true" and condition != "-i < 0"
            if not overflows:
                assert_same(numbers.spark, query)
                continue
            with (
                settings(numbers.spark, spark__skipstone__enabled="false"),
                pytest.raises(ArithmeticException),
            ):
                numbers.spark.sql(query).collect()
        assert_skips(numbers, "SELECT id FROM numbers WHERE i + 1 < 5 AND part = 0", rows=4, read=1)


def test_decimals_of_high_precision_are_not_rounded(numbers: skipstone.Table) -> None:
    literal = "CAST('12345678901234567890123456780.000000003' AS DECIMAL(38, 9))"
    assert_skips(numbers, f"SELECT id FROM numbers WHERE wide = {literal}", rows=1, read=1)
    assert_skips(numbers, f"SELECT id FROM numbers WHERE wide <= {literal}", rows=4, read=1)
    assert_skips(
        numbers, "SELECT id FROM numbers WHERE wide > 12345678901234567890123456783.00000003", rows=9
    )
    assert_same(numbers.spark, "SELECT id FROM numbers WHERE wide = 1.2345678901234568E28D")
    assert_skips(numbers, "SELECT id FROM numbers WHERE money = 5.05", rows=1, read=1)
    assert_skips(numbers, "SELECT id FROM numbers WHERE money > 30.305", rows=9, read=1)
    assert_same(numbers.spark, "SELECT id FROM numbers WHERE money = 5.05D", rows=1)


def test_casts_and_functions_that_do_not_keep_the_order(numbers: skipstone.Table) -> None:
    spark = numbers.spark
    assert_same(spark, "SELECT id FROM numbers WHERE CAST(id AS STRING) < '2'", rows=12)
    assert_same(spark, "SELECT id FROM numbers WHERE CAST(text AS INT) < 5", rows=5)
    assert_same(spark, "SELECT id FROM numbers WHERE abs(id - 20) < 3", rows=5)
    assert_skips(numbers, "SELECT id FROM numbers WHERE abs(id - 20) > 18", rows=3, read=2)
    for condition in (
        "id % 7 = 3",
        "id & 1 = 0",
        "sin(id) > 0.9",
        "hash(id) > 0",
        "id * id < 20",
        "-id > -3",
    ):
        assert_same(spark, f"SELECT id FROM numbers WHERE {condition}")
    with settings(spark, spark__sql__ansi__enabled="false"):
        assert_same(spark, "SELECT id FROM numbers WHERE CAST(d AS INT) = 0 AND part = 1", rows=10)
        assert_same(spark, "SELECT id FROM numbers WHERE CAST(i AS TINYINT) < 0")
        assert_same(spark, "SELECT id FROM numbers WHERE text > 5")


def test_booleans_skip(numbers: skipstone.Table) -> None:
    assert_skips(numbers, "SELECT id FROM numbers WHERE flag", rows=5, read=1)
    assert_same(numbers.spark, "SELECT id FROM numbers WHERE NOT flag", rows=35)


def test_a_condition_that_fails_on_some_rows_hides_none_that_it_does_not_reach(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("failing") / "table"
    spark.range(0, 30, 1, 3).selectExpr(
        "id AS x", "IF(id < 10, concat('no', id), CAST(id AS STRING)) AS s"
    ).write.parquet(str(path))
    table = indexed(spark, "failing", path, features=["CAST(s AS INT) = 15 OR x = 5"])
    # Evaluating the feature fails for x = 5, which it is true for.
    assert_skips(table, "SELECT x FROM failing WHERE x = 5", rows=1)
    assert_same(spark, "SELECT x FROM failing WHERE x = 5 OR x = 15 AND CAST(s AS INT) = 15", rows=2)
    with pytest.raises(NumberFormatException):
        spark.sql("SELECT x FROM failing WHERE CAST(s AS INT) = 5").collect()
    assert_reads_all(table, "SELECT x FROM failing WHERE x % 10 = 5", rows=3)

"""What is kept of an expression holds for one way of evaluating it: a mode, a setting, a language."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same, assert_skips, indexed, settings

import skipstone


def write(spark: SparkSession, path: Path, column: str) -> None:
    """40 rows in four files; ``n`` is 0 to 3, the number of the file."""
    rows = spark.range(0, 40, 1, 4).selectExpr("id", "CAST(id DIV 10 AS INT) AS n")
    rows.selectExpr("id", column).write.parquet(str(path))


@contextmanager
def language(spark: SparkSession, tag: str) -> Iterator[None]:
    locale = spark._jvm.java.util.Locale  # type: ignore[union-attr]
    before = locale.getDefault()
    locale.setDefault(locale.forLanguageTag(tag))
    try:
        yield
    finally:
        locale.setDefault(before)


def test_letters_change_their_case_by_the_language_of_the_machine(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "towns"
    write(spark, path, "concat('IĞDIR', n) AS town")
    with language(spark, "tr-TR"):
        table = indexed(spark, "towns", path, expressions=["lower(town)"])
        assert_skips(table, "SELECT id FROM towns WHERE lower(town) = 'ığdır1'", rows=10, read=1)
        assert_same(spark, "SELECT id FROM towns WHERE lower(town) = 'iğdir1'", rows=0)
    with language(spark, "en-US"):
        assert_same(spark, "SELECT id FROM towns WHERE lower(town) = 'iğdir1'", rows=10)
        assert_same(spark, "SELECT id FROM towns WHERE lower(town) = 'ığdır1'", rows=0)


def test_decimals_in_maps_become_texts_by_the_mode(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "prices"
    write(spark, path, "map('k', CAST(n * 0.0000001 AS DECIMAL(10, 7))) AS m")
    text = "CAST(m AS MAP<STRING, STRING>)['k']"
    with settings(spark, spark__sql__ansi__enabled="true"):
        table = indexed(spark, "prices", path, expressions=[text])
        assert_skips(table, f"SELECT id FROM prices WHERE {text} = '0.0000002'", rows=10, read=1)
    with settings(spark, spark__sql__ansi__enabled="false"):
        assert_same(spark, f"SELECT id FROM prices WHERE {text} = '2E-7'", rows=10)
        assert_same(spark, f"SELECT id FROM prices WHERE {text} = '0.0000002'", rows=0)


def test_what_one_session_keeps_is_known_by_the_settings_of_that_session(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "days"
    write(spark, path, "concat('2024-2-', n + 1) AS s")
    text = "to_date(s, 'yyyy-MM-dd')"
    with settings(spark, spark__sql__legacy__timeParserPolicy="LEGACY", spark__sql__ansi__enabled="false"):
        # Its settings are those of the application, in which such texts are no dates.
        other = spark.newSession()
        skipstone.table(other, f"days={path}").index(expressions=[text])
        skipstone.table(spark, f"days={path}")
        assert_same(spark, f"SELECT id FROM days WHERE {text} = DATE'2024-02-03'", rows=10)

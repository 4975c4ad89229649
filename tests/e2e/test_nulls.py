"""NULL in all the places where three-valued logic, or a missing statistic, invites a wrong skip."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_reads_all, assert_same, assert_skips, indexed, settings, write_files
from tests.opened import opened

import skipstone
from skipstone.catalog.segment import decode
from skipstone.catalog.store import publish


@pytest.fixture(scope="module")
def nulls(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """Four files: without NULL, half NULL, all NULL, and again without."""
    path = tmp_path_factory.mktemp("nulls") / "table"
    spark.range(0, 40, 1, 4).selectExpr(
        "id",
        "id DIV 10 AS part",
        "CASE WHEN id DIV 10 = 2 OR id BETWEEN 15 AND 19 THEN NULL ELSE CAST(id AS INT) END AS x",
        "CASE WHEN id DIV 10 = 2 OR id BETWEEN 15 AND 19 THEN NULL ELSE 'same' END AS s",
        "CASE WHEN id DIV 10 = 2 THEN NULL ELSE named_struct('a', id, 'b', IF(id < 10, NULL, id)) END AS st",
        "IF(id < 20, array(id), NULL) AS arr",
    ).write.parquet(str(path))
    return indexed(spark, "nulls", path)


def test_not_equal_and_not_in_drop_null_rows(nulls: skipstone.Table) -> None:
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE x != 3", rows=24)
    assert_skips(nulls, "SELECT id FROM nulls WHERE s != 'same'", rows=0)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE x NOT IN (1, 2)", rows=23)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE x NOT IN (1, NULL)", rows=0)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE x IN (1, NULL)", rows=1)
    assert_skips(nulls, "SELECT id FROM nulls WHERE s NOT IN ('same', 'other')", rows=0)


def test_not_over_null_stays_null(nulls: skipstone.Table) -> None:
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE NOT (x < 100)", rows=0)
    assert_skips(nulls, "SELECT id FROM nulls WHERE NOT (x < 5 OR x > 12)", rows=8)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE NOT (x < 5 AND s = 'same')", rows=20)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE (x < 5) IS NULL", rows=15)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE (x < 5) IS NOT TRUE", rows=35)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE coalesce(x > 5, TRUE)", rows=34)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE x > 5 OR x IS NULL", rows=34)


def test_null_safe_equality_finds_null_rows(nulls: skipstone.Table) -> None:
    assert_skips(nulls, "SELECT id FROM nulls WHERE x <=> NULL", rows=15, read=2)
    assert_skips(nulls, "SELECT id FROM nulls WHERE x <=> 3", rows=1, read=1)
    assert_skips(nulls, "SELECT id FROM nulls WHERE NOT (s <=> 'same')", rows=15, read=2)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE NOT (x <=> NULL)", rows=25)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE x <=> st.b", rows=25)


def test_is_null_skips_by_null_counts(nulls: skipstone.Table) -> None:
    assert_skips(nulls, "SELECT id FROM nulls WHERE x IS NULL", rows=15, read=2)
    assert_skips(nulls, "SELECT id FROM nulls WHERE x IS NOT NULL", rows=25, read=3)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE arr IS NULL", rows=20)


def test_a_field_is_null_where_its_struct_is(nulls: skipstone.Table) -> None:
    assert_skips(nulls, "SELECT id FROM nulls WHERE st.a IS NULL", rows=10, read=1)
    assert_skips(nulls, "SELECT id FROM nulls WHERE st.b IS NULL", rows=20, read=2)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE st IS NULL", rows=10)
    assert_same(nulls.spark, "SELECT id FROM nulls WHERE st IS NOT NULL AND st.b IS NULL", rows=10)


def _field(required: bool) -> pa.Field:
    return pa.field("st", pa.struct([pa.field("a", pa.int32(), nullable=not required)]))


def test_a_required_field_under_a_null_struct_is_null(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "required"
    values = [[{"a": 1}, {"a": 2}], [None, {"a": 5}], [None, None]]
    schema = pa.schema([pa.field("part", pa.int32()), _field(required=True)])
    write_files(path, [pa.table({"part": [p] * 2, "st": v}, schema) for p, v in enumerate(values)])
    table = indexed(spark, "required", path)
    assert_skips(table, "SELECT part FROM required WHERE st.a IS NULL", rows=3, read=2)
    assert_skips(table, "SELECT part FROM required WHERE st.a = 5", rows=1, read=1)
    assert_skips(table, "SELECT part FROM required WHERE st.a IS NOT NULL", rows=3, read=2)
    assert_same(spark, "SELECT part FROM required WHERE NOT (st.a <=> 5)", rows=5)


def test_missing_statistics_do_not_mean_all_null(spark: SparkSession, tmp_path: Path) -> None:
    """Bounds and counts that an older index did not make are unknown, and unknown means read."""
    path = tmp_path / "missing"
    write_files(path, [pa.table({"x": [1, 2], "y": [1, None]}), pa.table({"x": [5, 6], "y": [3, 4]})])
    table = indexed(spark, "missing", path)
    (segment,) = (path / "_skipstone" / "blocks").glob("*.parquet")
    stored = decode(segment.read_bytes())
    for statistics in stored.blocks.statistics.values():
        object.__setattr__(statistics, "low", pa.nulls(2, statistics.low.type))
        object.__setattr__(statistics, "high", pa.nulls(2, statistics.high.type))
        object.__setattr__(statistics, "values", None)
        object.__setattr__(statistics, "nulls", np.full(2, -1))
    publish(opened(table).store, stored, replace=True)
    opened(table).refresh()
    for condition, rows in {
        "x = 5": 1,
        "x IS NULL": 0,
        "y IS NULL": 1,
        "y IS NOT NULL": 3,
        "x < 2": 1,
    }.items():
        assert_reads_all(table, f"SELECT x FROM missing WHERE {condition}", rows)


def test_a_column_that_some_files_lack_is_null_there(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "lacking"
    write_files(path, [pa.table({"x": [1, 2]}), pa.table({"x": [5, 6], "y": [3, None]})])
    with settings(spark, spark__sql__parquet__mergeSchema="true"):
        table = indexed(spark, "lacking", path)
        assert_skips(table, "SELECT x FROM lacking WHERE y = 3", rows=1, read=1)
        assert_same(spark, "SELECT x FROM lacking WHERE y IS NULL", rows=3)

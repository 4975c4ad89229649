"""Sizes of columns, as footers tell them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.opened import opened

import skipstone
from skipstone.spark.engine.read_column_sizes import read_column_sizes


def test_a_struct_has_a_value_per_field_and_a_map_two_per_entry(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    spark.range(100).selectExpr(
        "id",
        "named_struct('a', id, 'b', CAST(id AS STRING)) AS s",
        "map('x', 1, 'y', 2, 'z', 3) AS m",
        "IF(id % 2 = 0, array(1, 2, 3), array(1)) AS l",
    ).write.format("delta").save(path)
    found = opened(skipstone.table(spark, path))
    sizes = read_column_sizes(found, found.file_indices)
    values = {name: column.values for name, column in sizes.columns.items()}
    assert values == {"id": 1.0, "s": 2.0, "m": 6.0, "l": 2.0}
    assert sizes.of().bytes == pytest.approx(sum(column.bytes for column in sizes.columns.values()))
    assert all(column.bytes > 0 for column in sizes.columns.values())

"""The hash of rows is the same in any order, and another for other rows."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from skipstone.spark.engine.row_hash import hash_of


def test_order_and_files_do_not_matter(spark: SparkSession) -> None:
    rows = spark.range(0, 500, 1, 3).selectExpr("id", "map(id, id % 7) AS m", "array(id) AS a")
    assert hash_of(rows) == hash_of(rows.orderBy("a").repartition(2))
    assert hash_of(rows).rows == 500


@pytest.mark.parametrize(
    "different",
    [
        ["map('a', 1, 'b', 2)", "map('a', 1, 'b', 3)", "map('a', 1, 'c', 2)", "map('a', 1)"],
        ["map('a', NULL, 'b', 1)", "map('a', 1, 'b', NULL)"],
        ["map('a', CAST(NULL AS INT))", "map('a', 0)", "CAST(map() AS MAP<STRING, INT>)"],
        ["CAST(map() AS MAP<STRING, INT>)", "CAST(NULL AS MAP<STRING, INT>)"],
        ["map('a', map('b', 1))", "map('a', map('b', 2))", "map('a', map('c', 1))"],
        ["struct(map('a', 1) AS x)", "struct(map('a', 2) AS x)"],
        ["array(map('a', 1), map('b', 2))", "array(map('b', 2), map('a', 1))"],
        ["parse_json('{\"a\": 1}')", "parse_json('{\"a\": 2}')"],
        [
            "CAST(NULL AS INT) AS x, 5",
            "5 AS x, CAST(NULL AS INT)",
            "CAST(NULL AS INT) AS x, CAST(NULL AS INT)",
        ],
        ["CAST(array() AS ARRAY<INT>)", "CAST(NULL AS ARRAY<INT>)"],
        ["struct(CAST(NULL AS INT) AS x)", "CAST(NULL AS STRUCT<x: INT>)"],
    ],
)
def test_what_is_inside_matters(spark: SparkSession, different: list[str]) -> None:
    found = [hash_of(spark.sql(f"SELECT 1 AS one, {value} AS value")).total for value in different]
    assert len(set(found)) == len(different)

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType
from tests.spark.bridge.java_calls import call_static

SCHEMA = "k INT, Seen TIMESTAMP, plain TIMESTAMP_NTZ, day DATE"


def schema(spark: SparkSession, columns: str) -> Any:
    text = StructType.fromDDL(columns).json() if columns else StructType([]).json()
    return spark._jvm.org.apache.spark.sql.types.DataType.fromJson(text)  # type: ignore[union-attr]


def marks(marked: Any) -> dict[str, bool]:
    return {
        field["name"]: field["metadata"].get("skipstone.zoned", False)
        for field in json.loads(marked.json())["fields"]
    }


def test_timestamps_among_the_partition_columns_are_marked_whatever_their_case(spark: SparkSession) -> None:
    partitions = schema(spark, "seen TIMESTAMP, plain TIMESTAMP_NTZ, day DATE")
    marked = call_static(spark, "TableSchema", "marked", schema(spark, SCHEMA), partitions)
    assert marks(marked) == {"k": False, "Seen": True, "plain": False, "day": False}


def test_a_timestamp_that_is_stored_in_the_files_is_not_marked(spark: SparkSession) -> None:
    whole = schema(spark, SCHEMA)
    marked = call_static(spark, "TableSchema", "marked", whole, schema(spark, "day DATE"))
    assert marked.equals(whole)


def test_marking_leaves_the_schema_as_it_was(spark: SparkSession) -> None:
    whole = schema(spark, SCHEMA)
    call_static(spark, "TableSchema", "marked", whole, schema(spark, "Seen TIMESTAMP"))
    assert not any(marks(whole).values())


def test_the_json_of_a_schema_is_given_back_as_it_is_unless_something_is_marked(spark: SparkSession) -> None:
    whole = schema(spark, SCHEMA)
    as_is = call_static(spark, "TableSchema", "markedJson", "its text", whole, schema(spark, "day DATE"))
    assert as_is == "its text"
    marked = call_static(
        spark, "TableSchema", "markedJson", "its text", whole, schema(spark, "seen TIMESTAMP")
    )
    assert "skipstone.zoned" in marked


def test_columns_are_left_out_by_their_lower_case_names(spark: SparkSession) -> None:
    names = spark._jvm.java.util.HashSet()  # type: ignore[union-attr]
    names.add("seen")
    names.add("day")
    left = call_static(spark, "TableSchema", "without", schema(spark, SCHEMA), names)
    assert list(left.fieldNames()) == ["k", "plain"]

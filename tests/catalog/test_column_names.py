"""A filter speaks about physical columns, whatever they are called today."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.spark.bridge.live_filters import live_filter, without_null_checks

from skipstone.catalog.column_names import ColumnNames
from skipstone.predicate.expr import Column, Comparison, Literal, Opaque
from skipstone.predicate.types import INT
from skipstone.spark.bridge.catalyst import expr_from_catalyst
from skipstone.spark.bridge.jvm import JavaObject


def delta_schema(spark: SparkSession, path: str) -> str:
    jvm: JavaObject = spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)
    defaults = (getattr(log, f"update$default${n}")() for n in (1, 2, 3))
    return str(log.update(*defaults).metadata().schemaString())


def test_delta_column_is_found_by_physical_name_after_renames(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    spark.sql(
        f"create table delta.`{path}` (a int, b int, st struct<x int, y int>) using delta "
        "tblproperties ('delta.columnMapping.mode' = 'name')"
    )
    before = ColumnNames.from_schema(delta_schema(spark, path))
    physical = {name: path for path, name in before.display.items()}
    for old, new in (("a", "old_a"), ("b", "a"), ("st.x", "z")):
        spark.sql(f"alter table delta.`{path}` rename column {old} to {new}")
    after = ColumnNames.from_schema(delta_schema(spark, path))
    frame = spark.read.format("delta").load(path)

    found = without_null_checks(live_filter(frame.where("a = 1"), after))
    assert found == Comparison("=", Column(physical["b"], INT), Literal(1, INT))
    found = without_null_checks(live_filter(frame.where("st.z = 1"), after))
    assert found == Comparison("=", Column(physical["st.x"], INT), Literal(1, INT))
    assert after.display[physical["st.x"]] == "st.z"


def test_column_outside_the_schema_is_not_used() -> None:
    names = ColumnNames.from_schema({"type": "struct", "fields": [{"name": "a", "type": "integer"}]})
    kind = "org.apache.spark.sql.catalyst.expressions.AttributeReference"
    fields: dict[str, object] = {"name": "__internal", "metadata": "{}"}
    found = expr_from_catalyst(
        {"settings": {}, "nodes": [{"c": kind, "n": 0, "t": '"boolean"', "f": fields}]}, names
    )
    assert isinstance(found, Opaque)
    assert found.code == "UNKNOWN_COLUMN"


def test_without_a_schema_the_physical_name_attached_to_the_attribute_counts() -> None:
    resolved = ColumnNames().resolve((), "a", '{"delta.columnMapping.physicalName": "col-1"}')
    assert (resolved.path, resolved.problem) == (("col-1",), "")


def test_field_below_a_column_with_a_default_is_not_used_either() -> None:
    inner = {"type": "struct", "fields": [{"name": "x", "type": "integer", "metadata": {}}]}
    schema = {"fields": [{"name": "st", "type": inner, "metadata": {"EXISTS_DEFAULT": "struct(1)"}}]}
    assert ColumnNames.from_schema(schema).resolve(("st",), "x").problem == "COLUMN_DEFAULT"

"""Columns under the names by which Delta stores them, which stay the same when a column is renamed."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from skipstone.catalog.column_names import quoted
from skipstone.catalog.types_json import PHYSICAL_NAME

__all__ = ["stored_schema", "with_stored_names"]


def with_stored_names(frame: DataFrame, schema: str) -> DataFrame:
    """The frame with the columns of a schema under their stored names; other columns stay as they are."""
    if PHYSICAL_NAME not in schema:
        return frame
    renamed = {
        field.name: F.col(quoted(field.name)).cast(_stored(field.dataType)).alias(_name(field))
        for field in StructType.fromJson(json.loads(schema)).fields
    }
    return frame.select(*(renamed.get(name, F.col(quoted(name))) for name in frame.columns))


def stored_schema(schema: str, columns: Sequence[str]) -> StructType:
    """The types of some columns, by their stored names."""
    found = {_name(field): field for field in StructType.fromJson(json.loads(schema)).fields}
    return StructType([StructField(name, _stored(found[name].dataType)) for name in columns])


def _name(field: StructField) -> str:
    return str(field.metadata.get(PHYSICAL_NAME, field.name))


def _stored(kind: DataType) -> DataType:
    if isinstance(kind, StructType):
        fields = [StructField(_name(field), _stored(field.dataType), field.nullable) for field in kind.fields]
        return StructType(fields)
    if isinstance(kind, ArrayType):
        return ArrayType(_stored(kind.elementType), kind.containsNull)
    if isinstance(kind, MapType):
        return MapType(_stored(kind.keyType), _stored(kind.valueType), kind.valueContainsNull)
    return kind

"""Types as they stand after AS in a cast.

A struct, map or array is described by JSON (see ``spark/types_json.py``), everything else by Spark's name.

>>> type_sql(Type(Kind.OTHER, '{"elementType":"integer","type":"array"}'))
'ARRAY<INT>'
"""

from __future__ import annotations

import json

from skipstone.json_types import JsonObject, json_object, json_text
from skipstone.predicate.types import Kind, Type

__all__ = ["described", "inner_type", "type_sql"]

_NAMES = {
    Kind.BYTE: "TINYINT",
    Kind.SHORT: "SMALLINT",
    Kind.INT: "INT",
    Kind.LONG: "BIGINT",
    # What TIMESTAMP means is up to the session.
    Kind.TIMESTAMP: "TIMESTAMP_LTZ",
}


def type_sql(type_: Type) -> str:
    """The type's name in SQL."""
    if (shape := described(type_)) is not None:
        return _nested(shape)
    return _NAMES.get(type_.kind, type_.text if "<" in type_.text else type_.text.upper())


def described(type_: Type) -> JsonObject | None:
    """The description of a struct, map or array; None for other types."""
    if type_.kind is not Kind.OTHER or not type_.text.startswith("{"):
        return None
    return json_object(json.loads(type_.text))


def inner_type(shape: object) -> Type:
    """The type of a field, an element, a key or a value."""
    if isinstance(shape, str):
        # Type.parse takes what it does not know for a type without an order, but not a plain interval.
        return Type(Kind.OTHER, shape) if shape == "interval" else Type.parse(shape)
    return Type(Kind.OTHER, json.dumps(shape, sort_keys=True, separators=(",", ":")))


def _nested(shape: JsonObject) -> str:
    match shape:
        case {"type": "array", "elementType": element}:
            return f"ARRAY<{type_sql(inner_type(element))}>"
        case {"type": "map", "keyType": key, "valueType": value}:
            return f"MAP<{type_sql(inner_type(key))}, {type_sql(inner_type(value))}>"
        case {"type": "struct", "fields": [*fields]}:
            inside = (
                f"{_quoted(json_text(field['name']))}: {type_sql(inner_type(field['type']))}"
                for field in map(json_object, fields)
            )
            return f"STRUCT<{', '.join(inside)}>"
    return str(shape.get("type", "?"))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"

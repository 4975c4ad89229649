"""Constants without an order as SQL: arrays, maps and structs.

Such a constant is a call ``literal`` without arguments. Its param ``value`` is JSON: an array is the list of
its elements, a struct that of its fields, a map the lists of its keys and of its values. Inside, numbers are
as they are, doubles and decimals are texts and bytes are hexadecimal, as Catalyst holds them.

>>> texts = inner_type({"type": "array", "elementType": "string"})
>>> container_sql(Call("literal", (), texts, (("value", '["a"]'),)))
"array('a')"
"""

from __future__ import annotations

import json
from decimal import Decimal

from skipstone.json_types import json_list, json_object, json_scalar, json_text
from skipstone.predicate.expr import Call, Literal
from skipstone.predicate.literals import literal_sql, text_sql
from skipstone.predicate.type_names import described, inner_type, type_sql
from skipstone.predicate.types import Kind, Type

__all__ = ["container_sql", "scalar"]


def container_sql(call: Call) -> str | None:
    """The constant as Spark parses it; None if it is not one, or of a type that SQL has no constants of."""
    try:
        return _sql(json.loads(dict(call.params)["value"]), call.type)
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return None


def scalar(value: object, type_: Type) -> Literal:
    """A constant with an order, or a NULL, in its canonical form, from the JSON of Catalyst's value."""
    match type_.kind if value is not None else None:
        case Kind.FLOAT | Kind.DOUBLE:
            return Literal(float(json_scalar(value)), type_)
        case Kind.DECIMAL:
            return Literal(Decimal(json_scalar(value)), type_)
        case Kind.BINARY:
            return Literal(bytes.fromhex(json_text(value)), type_)
    return Literal(value, type_)


def _sql(value: object, type_: Type) -> str:
    if value is None or type_.kind is not Kind.OTHER:
        return literal_sql(scalar(value, type_))
    match described(type_):
        case {"type": "array", "elementType": element}:
            inside = [_sql(each, inner_type(element)) for each in json_list(value)]
            return f"array({', '.join(inside)})" if inside else f"CAST(array() AS {type_sql(type_)})"
        case {"type": "map", "keyType": key, "valueType": item}:
            pairs = zip(*map(json_list, json_list(value)), strict=True)
            inside = [f"{_sql(k, inner_type(key))}, {_sql(v, inner_type(item))}" for k, v in pairs]
            return f"map({', '.join(inside)})" if inside else f"CAST(map() AS {type_sql(type_)})"
        case {"type": "struct", "fields": [*fields]}:
            named = [
                (json_text(field["name"]), inner_type(field["type"])) for field in map(json_object, fields)
            ]
            filled = zip(named, json_list(value), strict=True)
            inside = [f"{text_sql(name)}, {_sql(each, own)}" for (name, own), each in filled]
            return f"named_struct({', '.join(inside)})"
    raise ValueError(f"no constant of type {type_.text}")

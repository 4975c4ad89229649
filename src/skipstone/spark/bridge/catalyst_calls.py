"""Literals and function calls out of Catalyst's fields.

Everything that changes a call's value becomes one of its ``params``; what does not is left out, so that
the same call is equal in every session: the time zone of a cast that does not depend on it, the overflow
mode of a cast that only widens. Settings that change values behind an expression's back are params too,
when they are set.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from skipstone.json_types import JsonObject, json_scalar, json_text
from skipstone.predicate.expr import Call, Expr, Literal, type_of
from skipstone.predicate.types import Kind, Type

__all__ = ["Params", "call", "literal", "lost", "params_of", "snake_case"]

Params = tuple[tuple[str, str], ...]
_RENAMED = {"evalMode": "mode", "timeZoneId": "timezone"}
_ANSI_FLAGS = {"failOnError", "ansiEnabled"}
_FOR_MESSAGES = {"suggestedFuncOnFail"}


def snake_case(name: str) -> str:
    """``DayOfMonth`` to ``day_of_month``.

    >>> snake_case("GetJsonObject"), snake_case("IsNaN"), snake_case("Murmur3Hash")
    ('get_json_object', 'is_nan', 'murmur3_hash')
    """
    plain = name.replace("NaN", "Nan")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", plain).lower()


def lost(value: object) -> bool:
    """Whether something in a field could not be written as JSON."""
    if isinstance(value, list):
        return any(lost(item) for item in value)
    return isinstance(value, Mapping) and ("lost" in value or any(lost(item) for item in value.values()))


def literal(value: object, type_: Type) -> Expr | None:
    """A constant in its canonical form; None when the value did not survive.

    Values without an order (arrays, structs, maps) are a ``literal`` call, equal when they are the same.
    """
    if lost(value):
        return None
    if value is None:
        return Literal(None, type_)
    match type_.kind:
        case Kind.FLOAT | Kind.DOUBLE:
            return Literal(float(json_scalar(value)), type_)
        case Kind.DECIMAL:
            return Literal(Decimal(json_scalar(value)), type_)
        case Kind.BINARY:
            return Literal(bytes.fromhex(json_text(value)), type_)
        case Kind.OTHER:
            return Call("literal", (), type_, (("value", json.dumps(value, sort_keys=True)),))
        case _:
            return Literal(value, type_)


def call(name: str, args: Sequence[Expr], type_: Type, params: Params = ()) -> Call:
    """A call with its params sorted."""
    return Call(name, tuple(args), type_, tuple(sorted(params)))


def params_of(fields: JsonObject, args: Sequence[Expr], type_: Type) -> Params | None:
    """The params for an expression's fields; None when one of them was lost."""
    if lost(dict(fields)):
        return None
    decimal = any(t.kind is Kind.DECIMAL for t in (type_, *map(type_of, args)))
    params = [
        (_RENAMED.get(key, key), _text(key, value))
        for key, value in _flat(fields)
        if value is not None
        and not _is_child(value)
        and key not in _FOR_MESSAGES
        and (decimal or key != "allowDecimalPrecisionLoss")
    ]
    shape = _shape(fields)
    return tuple(sorted([*_ansi_as_mode(params), *shape]))


def _flat(fields: JsonObject) -> list[tuple[str, object]]:
    out: list[tuple[str, object]] = []
    for key, value in fields.items():
        if isinstance(value, Mapping) and "evalMode" in value:
            out += [(inner, item) for inner, item in value.items() if inner != "product"]
        else:
            out.append((key, value))
    return out


def _text(key: str, value: object) -> str:
    if key in ("evalMode", "timeZoneId"):
        return str(value).lower() if key == "evalMode" else str(value)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _ansi_as_mode(params: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [
        ("mode", "ansi" if text == "true" else "legacy") if key in _ANSI_FLAGS else (key, text)
        for key, text in params
    ]


def _is_child(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_child(item) for item in value)
    if not isinstance(value, Mapping):
        return False
    inner = [item for key, item in value.items() if key != "product"]
    return value.keys() == {"child"} or ("product" in value and bool(inner) and all(map(_is_child, inner)))


def _shape(fields: JsonObject) -> Params:
    """How the arguments are spread over the fields, where their number alone is ambiguous."""
    spread = {key: value for key, value in fields.items() if value is None or _is_child(value)}
    lists = sum(isinstance(value, list) for value in spread.values())
    if None not in spread.values() and lists <= 1:
        return ()
    return (("shape", json.dumps({key: value for key, value in spread.items() if value is not None})),)

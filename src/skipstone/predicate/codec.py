"""Expressions as JSON, and back, without loss.

A node is a list that starts with its tag. Values that JSON cannot hold exactly are objects with
one key: ``{"float": "nan"}``, ``{"decimal": "1.50"}``, ``{"bytes": "00ff"}``. The same expression
gives the same text in every run, which is what :func:`fingerprint` hashes.

>>> from skipstone.predicate.types import INT
>>> to_json(IsNull(Column(("a", "b"), INT)))
['is_null', ['column', ['a', 'b'], 'integer']]
"""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import TypeVar

from skipstone.json_types import json_int, json_list
from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Opaque,
    Or,
    Value,
)
from skipstone.predicate.types import Kind, Type

__all__ = ["canonical_text", "fingerprint", "from_json", "to_json", "value_from_json", "value_to_json"]

Leaf = TypeVar("Leaf", Column, Literal)


def to_json(expr: Expr) -> object:
    """The expression as lists, objects, strings and numbers."""
    match expr:
        case Column(path, type_):
            return ["column", list(path), _type(type_)]
        case Literal(value, type_):
            return ["literal", value_to_json(value, type_), _type(type_)]
        case Call(name, args, type_, params):
            return ["call", name, [to_json(arg) for arg in args], _type(type_), [list(p) for p in params]]
        case Comparison(op, left, right):
            return ["comparison", op, to_json(left), to_json(right)]
        case In(arg, values):
            return ["in", to_json(arg), [to_json(value) for value in values]]
        case IsNull(arg):
            return ["is_null", to_json(arg)]
        case Like(arg, pattern, escape):
            return ["like", to_json(arg), pattern, escape]
        case Match(kind, arg, pattern):
            return ["match", kind, to_json(arg), pattern]
        case And(args):
            return ["and", [to_json(arg) for arg in args]]
        case Or(args):
            return ["or", [to_json(arg) for arg in args]]
        case Not(arg):
            return ["not", to_json(arg)]
        case Opaque(text, code, columns, type_):
            return ["opaque", text, code, [to_json(column) for column in columns], _type(type_)]


def from_json(obj: object) -> Expr:
    """The expression that :func:`to_json` wrote; raises ValueError on anything else."""
    try:
        return _read(obj)
    except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"not an expression: {str(obj)[:200]}") from error


def canonical_text(expr: Expr) -> str:
    """One line of JSON, the same in every run: a sort key and the input of the fingerprint."""
    return json.dumps(to_json(expr), separators=(",", ":"), sort_keys=True)


def fingerprint(expr: Expr) -> str:
    """Sixteen hexadecimal digits that identify the expression as written."""
    return hashlib.blake2b(canonical_text(expr).encode(), digest_size=8).hexdigest()


def _read(obj: object) -> Expr:
    match obj:
        case ["column", [*path], type_]:
            return Column(tuple(_str(part) for part in path), _read_type(type_))
        case ["literal", value, type_]:
            return Literal(_read_value(value), _read_type(type_))
        case ["call", name, [*args], type_, [*params]]:
            settings = tuple((_str(key), _str(value)) for key, value in map(json_list, params))
            return Call(_str(name), tuple(map(_read, args)), _read_type(type_), settings)
        case ["comparison", "=" | "<" | "<=" | ">" | ">=" | "<=>" as op, left, right]:
            return Comparison(op, _read(left), _read(right))
        case ["in", arg, [*values]]:
            return In(_read(arg), tuple(_read_as(Literal, value) for value in values))
        case ["is_null", arg]:
            return IsNull(_read(arg))
        case ["like", arg, pattern, escape]:
            return Like(_read(arg), _str(pattern), _str(escape))
        case ["match", "starts_with" | "ends_with" | "contains" | "rlike" as kind, arg, pattern]:
            return Match(kind, _read(arg), _str(pattern))
        case ["and", [*args]]:
            return And(tuple(map(_read, args)))
        case ["or", [*args]]:
            return Or(tuple(map(_read, args)))
        case ["not", arg]:
            return Not(_read(arg))
        case ["opaque", text, code, [*columns], type_]:
            read = tuple(_read_as(Column, column) for column in columns)
            return Opaque(_str(text), _str(code), read, _read_type(type_))
    raise ValueError("unknown node")


def _read_as(kind: type[Leaf], obj: object) -> Leaf:
    found = _read(obj)
    if not isinstance(found, kind):
        raise TypeError(f"expected a {kind.__name__}")
    return found


def _str(obj: object) -> str:
    if not isinstance(obj, str):
        raise TypeError("expected text")
    return obj


def _type(type_: Type) -> object:
    # Spark's name says it all, except for a type that was not made from its name.
    if Type.parse(type_.text) == type_:
        return type_.text
    return [type_.kind.name, type_.text, type_.precision, type_.scale]


def _read_type(obj: object) -> Type:
    if isinstance(obj, str):
        return Type.parse(obj)
    kind, text, precision, scale = json_list(obj)
    return Type(Kind[_str(kind)], _str(text), json_int(precision), json_int(scale))


def value_to_json(value: Value, type_: Type) -> object:
    """A value of a type, without the type."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return {"float": repr(value)}
        case Decimal():
            return {"decimal": str(_at_scale(value, type_))}
        case bytes():
            return {"bytes": value.hex()}
    raise TypeError(f"no JSON for a {type(value).__name__}")


def value_from_json(encoded: object, type_: Type) -> Value:
    """The value that :func:`value_to_json` encoded."""
    literal = from_json(["literal", encoded, type_.text])
    assert isinstance(literal, Literal)
    return literal.value


def _at_scale(value: Decimal, type_: Type) -> Decimal:
    """1.5 and 1.50 are one value of decimal(3,2): write them alike."""
    digits = value.as_tuple()
    exponent = digits.exponent
    if type_.kind is Kind.DECIMAL and isinstance(exponent, int) and exponent > -type_.scale:
        zeros = (0,) * (exponent + type_.scale)
        return Decimal((digits.sign if value else 0, digits.digits + zeros, -type_.scale))
    return value


def _read_value(obj: object) -> Value:
    match obj:
        case None | bool() | int() | str():
            return obj
        case {"float": text}:
            return float(_str(text))
        case {"decimal": text}:
            return Decimal(_str(text))
        case {"bytes": text}:
            return bytes.fromhex(_str(text))
    raise ValueError("unknown value")

"""Single values as JSON, by way of the literals of :mod:`skipstone.predicate.codec`."""

from __future__ import annotations

from skipstone.predicate.codec import from_json, value_json
from skipstone.predicate.expr import Literal, Value
from skipstone.predicate.types import Type

__all__ = ["value_from_json", "value_to_json"]


def value_to_json(value: Value, type_: Type) -> object:
    """The value without its type."""
    return value_json(value, type_)


def value_from_json(encoded: object, type_: Type) -> Value:
    """The value that :func:`value_to_json` encoded."""
    literal = from_json(["literal", encoded, type_.text])
    assert isinstance(literal, Literal)
    return literal.value

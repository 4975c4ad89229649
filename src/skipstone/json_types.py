"""Values out of JSON: nothing is known about them until a reader has looked.

Each reader returns the value with its type, or raises ValueError.

>>> json_int(json_object({"blocks": 3})["blocks"])
3
>>> json_text(3)
Traceback (most recent call last):
ValueError: text is expected, and there is 3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

__all__ = ["JsonObject", "json_int", "json_list", "json_number", "json_object", "json_scalar", "json_text"]

JsonObject: TypeAlias = Mapping[str, object]
"""A JSON object, whose values are still to be looked at."""


def json_object(value: object) -> JsonObject:
    """An object with its keys."""
    if not isinstance(value, Mapping):
        raise _unexpected("an object", value)
    return value


def json_list(value: object) -> Sequence[object]:
    """A list; Python's tuples are written as lists too."""
    if not isinstance(value, list | tuple):
        raise _unexpected("a list", value)
    return value


def json_text(value: object) -> str:
    """Text."""
    if not isinstance(value, str):
        raise _unexpected("text", value)
    return value


def json_scalar(value: object) -> str | int | float:
    """Text, or a number."""
    return value if isinstance(value, str) else json_number(value)


def json_int(value: object) -> int:
    """A whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise _unexpected("a whole number", value)
    return value


def json_number(value: object) -> float:
    """Any number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _unexpected("a number", value)
    return value


def _unexpected(what: str, value: object) -> ValueError:
    return ValueError(f"{what} is expected, and there is {str(value)[:80]}")

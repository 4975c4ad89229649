"""Spark's type JSON to :class:`~skipstone.predicate.types.Type`.

Simple types are names. Structs, maps and arrays are ``OTHER`` and keep a canonical text, which decides
equality: without nullability and comments, which do not change a value, but with the physical names of
Delta's column mapping, since after two fields have swapped their names the same text must not mean the
same field.

>>> type_from_json('"decimal(10,2)"').kind.name
'DECIMAL'
>>> type_from_json('{"type": "array", "elementType": "integer", "containsNull": true}').text
'{"elementType":"integer","type":"array"}'
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache

from skipstone.json_types import json_object
from skipstone.predicate.types import Kind, Type

__all__ = ["PHYSICAL_NAME", "type_from_json", "type_from_object"]

PHYSICAL_NAME = "delta.columnMapping.physicalName"
_IRRELEVANT = {"nullable", "containsNull", "valueContainsNull", "metadata"}


@lru_cache(maxsize=4096)
def type_from_json(text: str) -> Type:
    """The type that ``DataType.json`` describes."""
    return type_from_object(json.loads(text))


def type_from_object(described: object) -> Type:
    """The same for JSON that is already read."""
    if isinstance(described, str):
        # Calendar intervals mix months, days and microseconds: they have no order.
        return Type(Kind.OTHER, described) if described == "interval" else Type.parse(described)
    return Type(
        Kind.OTHER, json.dumps(_canonical(json_object(described)), sort_keys=True, separators=(",", ":"))
    )


def _canonical(described: object) -> object:
    if isinstance(described, list):
        return [_canonical(item) for item in described]
    if not isinstance(described, Mapping):
        return described
    kept = {key: _canonical(value) for key, value in described.items() if key not in _IRRELEVANT}
    physical = json_object(described.get("metadata") or {}).get(PHYSICAL_NAME)
    if physical is not None and physical != described.get("name"):
        kept["physical"] = physical
    return kept

"""Minima and maxima from Spark's Arrow columns to the form in which they are stored and compared.

Integral and temporal values become 64-bit integers, floats doubles, decimals 38 digits wide. Texts are
shortened to 64 characters or bytes: a minimum is cut, a maximum is cut and raised.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from skipstone.predicate.expr import Value
from skipstone.predicate.truncate import truncate_max, truncate_min
from skipstone.predicate.types import Kind, Type
from skipstone.pruning.blocks import ValueSets

__all__ = ["TEXT_BYTES", "arrow_type", "bounds_array", "canonical_array", "canonical_values"]

_LONGEST = 64
TEXT_BYTES = 4 * (_LONGEST + 2)
"""How many bytes of a text its bounds are made from: one whole character of four more than are kept,
even when the last one was cut in two."""


def arrow_type(type_: Type) -> pa.DataType:
    """The Arrow type in which bounds of a Spark type are held."""
    match type_.kind:
        case Kind.BOOLEAN:
            return pa.bool_()
        case Kind.FLOAT | Kind.DOUBLE:
            return pa.float64()
        case Kind.DECIMAL:
            return pa.decimal128(38, type_.scale)
        case Kind.STRING:
            return pa.string()
        case Kind.BINARY:
            return pa.binary()
        case _:
            return pa.int64()


def bounds_array(found: pa.Array | None, type_: Type, upper: bool, values: ValueSets | None) -> pa.Array:
    """The bounds of all blocks; where Spark computed none they follow from a known value set."""
    if type_.kind in (Kind.STRING, Kind.BINARY):
        return _texts(found, type_, upper, values)
    assert found is not None
    return _numbers(found, type_)


def _numbers(found: pa.Array, type_: Type) -> pa.Array:
    wanted = arrow_type(type_)
    if pa.types.is_date32(found.type):
        found = found.cast(pa.int32())
    return found.cast(wanted)


def canonical_array(column: pa.Array, type_: Type) -> pa.Array:
    """Rows' values in the Arrow type of bounds; strings come as bytes, invalid ones become NULL."""
    if type_.kind is not Kind.STRING:
        return column if type_.kind is Kind.BINARY else _numbers(column, type_)
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_decoded(value) for value in column.to_pylist()], pa.string())


def canonical_values(column: pa.Array, type_: Type) -> tuple[Value, ...]:
    """Single values in the form of :mod:`skipstone.predicate.types`; strings come as bytes.

    A string that is no valid UTF-8 is None.
    """
    if type_.kind is Kind.STRING:
        return tuple(_decoded(value) for value in column.to_pylist())
    return tuple(_numbers(column, type_).to_pylist())


def _texts(found: pa.Array | None, type_: Type, upper: bool, values: ValueSets | None) -> pa.Array:
    wanted = arrow_type(type_)
    if values is None:
        assert found is not None
        return _shortened(found, type_, upper)
    pick = max if upper else min
    derived = []
    for known, word in zip(values.known, values.words[:, 0], strict=True):
        present = [value for index, value in enumerate(values.dictionary) if int(word) >> index & 1]
        derived.append(pick(present) if known and present else None)  # type: ignore[type-var]
    complete = pa.array([_cut(value, upper) for value in derived], wanted)
    return complete if found is None else pc.coalesce(complete, _shortened(found, type_, upper))


def _shortened(found: pa.Array, type_: Type, upper: bool) -> pa.Array:
    if type_.kind is Kind.BINARY:
        return pa.array([_cut(value, upper) for value in found.to_pylist()], pa.binary())
    return pa.array([_cut(_beginning(value), upper) for value in found.to_pylist()], pa.string())


def _decoded(value: bytes | None) -> str | None:
    """None, no bound, for bytes that are no valid UTF-8."""
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _beginning(value: bytes | None) -> str | None:
    """A string cut after so many bytes, without the character that this may have cut in two."""
    if value is None or len(value) < TEXT_BYTES:
        return _decoded(value)
    ends = (end for end in range(TEXT_BYTES - 1, TEXT_BYTES - 5, -1) if value[end] & 0xC0 != 0x80)
    return _decoded(value[: next(ends, TEXT_BYTES)])


def _cut(value: Value, upper: bool) -> Value:
    if isinstance(value, str):
        return truncate_max(value, _LONGEST) if upper else truncate_min(value, _LONGEST)
    if isinstance(value, bytes):
        return truncate_max(value, _LONGEST) if upper else truncate_min(value, _LONGEST)
    return None

r"""Sets of ordinary values as sorted, disjoint, half-open ranges ``[start, stop)`` of keys.

A *key* is a value in a form in which Python's order is the type's order: a decimal is its unscaled
integer, a boolean 0 or 1. Every ordered type has, for each of its values, a next one: 7 after 6, the
next double, ``'ab\0'`` after ``'ab'`` (which also holds for bytes that are no valid UTF-8). So
``x > 6`` is ``x >= 7``, ``x <= 'ab'`` is ``x < 'ab\0'``, and half-open ranges are enough for every
comparison. None as a start or stop means unbounded. NULL and NaN are no ordinary values.

Intersection and union are linear in the number of ranges; the tests take a binary search.

>>> intersect(at_least(5), below(6))
((5, 6),)
>>> points([3, 9, 4])
((3, 5), (9, 10))
>>> is_subset(points([3]), points([3, 9, 4]))
True
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections.abc import Iterable
from decimal import Decimal

from skipstone.predicate.expr import Value
from skipstone.predicate.types import Kind, Type

__all__ = [
    "ALL",
    "NONE",
    "Key",
    "Range",
    "Ranges",
    "at_least",
    "below",
    "clipped",
    "complement",
    "contains",
    "decode",
    "encode",
    "following",
    "intersect",
    "is_subset",
    "members",
    "points",
    "union",
]

Key = int | float | str | bytes
Range = tuple[Key | None, Key | None]
Ranges = tuple[Range, ...]

ALL: Ranges = ((None, None),)
NONE: Ranges = ()

_FLOATING = (Kind.FLOAT, Kind.DOUBLE)
_LIMITS: dict[Kind, Range] = {
    Kind.BOOLEAN: (0, 2),
    Kind.FLOAT: (-math.inf, None),
    Kind.DOUBLE: (-math.inf, None),
    Kind.STRING: ("", None),
    Kind.BINARY: (b"", None),
}


def encode(value: Value, type: Type) -> Key:
    """The key of a value that is neither NULL nor NaN; ValueError if it is no value of the type."""
    match type.kind, value:
        case Kind.BOOLEAN, bool():
            return int(value)
        case (Kind.OTHER | Kind.BOOLEAN, _) | (_, bool()):
            pass
        case (Kind.FLOAT | Kind.DOUBLE, float()) if not math.isnan(value):
            return value
        case Kind.DECIMAL, Decimal() if value.is_finite():
            return _unscaled(value, type.scale)
        case Kind.STRING, str():
            value.encode()  # refuses lone surrogates, which cannot be ordered
            return value
        case Kind.BINARY, bytes():
            return value
        case kind, int() if kind not in (*_FLOATING, Kind.DECIMAL, Kind.STRING, Kind.BINARY):
            return value
    raise ValueError(f"{value!r} is no value of type {type}")


def _unscaled(value: Decimal, scale: int) -> int:
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    number, shift = int("".join(map(str, digits))), exponent + scale
    unit = 10 ** abs(shift)
    if shift < 0 and number % unit:
        raise ValueError(f"{value} has more than {scale} decimals")
    unscaled: int = number // unit if shift < 0 else number * unit
    return -unscaled if sign else unscaled


def decode(key: Key, type: Type) -> Value:
    """The value of a key."""
    if type.kind is Kind.BOOLEAN:
        return bool(key)
    if type.kind is Kind.DECIMAL:
        assert isinstance(key, int)
        return Decimal((int(key < 0), tuple(map(int, str(abs(key)))), -type.scale))
    return key


def following(key: Key) -> Key | None:
    """The smallest key greater than ``key``; None if there is none."""
    if isinstance(key, int):
        return key + 1
    if isinstance(key, float):
        return None if key == math.inf else math.nextafter(key, math.inf)
    return key + "\0" if isinstance(key, str) else key + b"\0"


def below(stop: Key | None) -> Ranges:
    """Everything smaller than ``stop``."""
    return ((None, stop),)


def at_least(start: Key | None) -> Ranges:
    """Everything from ``start`` on."""
    return ((start, None),)


def points(keys: Iterable[Key]) -> Ranges:
    """Exactly these keys."""
    return union(tuple((key, following(key)) for key in keys))


def complement(ranges: Ranges) -> Ranges:
    """Everything else."""
    gaps: list[Range] = []
    start: Key | None = None
    for here, stop in ranges:
        if here is not None and (start is None or start < here):  # type: ignore[operator]
            gaps.append((start, here))
        if stop is None:
            return tuple(gaps)
        start = stop
    return (*gaps, (start, None))


def clipped(ranges: Ranges, type: Type) -> Ranges:
    """The same values of the type, with no bound where the type itself has none beyond.

    >>> clipped(((0, 2**31),), Type.parse("int"))
    ((0, None),)
    """
    low, end = _limits(type)
    if low is None or not ranges:
        return ranges
    cut = intersect(ranges, ((low, end),))
    return tuple((None if start == low else start, None if stop == end else stop) for start, stop in cut)


def _limits(type: Type) -> Range:
    """All values of the type as one range; None where there is no least or greatest."""
    limits = type.integral_range
    return (limits[0], limits[1] + 1) if limits else _LIMITS.get(type.kind, (None, None))


def contains(ranges: Ranges, key: Key) -> bool:
    """Whether a key is in the set."""
    if not ranges:
        return False
    start, stop = ranges[_range_index(ranges, key)]
    return (start is None or start <= key) and (stop is None or key < stop)  # type: ignore[operator]


def is_subset(inner: Ranges, outer: Ranges) -> bool:
    """Whether all of the one is in the other."""
    if not outer:
        return not inner
    single = len(outer) == 1
    for start, stop in inner:
        first, end = outer[0 if single or start is None else _range_index(outer, start)]
        if first is not None and (start is None or start < first):  # type: ignore[operator]
            return False
        if end is not None and (stop is None or stop > end):  # type: ignore[operator]
            return False
    return True


def _range_index(ranges: Ranges, key: Key) -> int:
    """Where the first range is that ends after the key; the last one if all end before."""
    # Only the last range may have no stop.
    return bisect_right(ranges, key, hi=len(ranges) - 1, key=operator.itemgetter(1))


def members(ranges: Ranges, type: Type, most: int) -> list[Key] | None:
    """The keys in the set one by one; None if there are more than so many, or endlessly many."""
    if len(ranges) > most:
        return None
    low, end = _limits(type)
    found: list[Key] = []
    for first, last in ranges:
        start = low if first is None else first
        stop = end if last is None else last
        if isinstance(start, int) and isinstance(stop, int):
            if len(found) + stop - start > most:
                return None
            found.extend(range(start, stop))
        elif start is not None and stop == following(start):
            found.append(start)
        else:
            return None
    return found


def intersect(left: Ranges, right: Ranges) -> Ranges:
    """What is in both."""
    found: list[Range] = []
    i = j = 0
    while i < len(left) and j < len(right):
        start = _later(left[i][0], right[j][0])
        stop = _sooner(left[i][1], right[j][1])
        if start is None or stop is None or start < stop:  # type: ignore[operator]
            found.append((start, stop))
        if stop == left[i][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def union(*sets: Ranges) -> Ranges:
    """What is in any."""
    every = [part for ranges in sets for part in ranges]
    every.sort(key=lambda part: (part[0] is not None, part[0]))
    merged: list[Range] = []
    for start, stop in every:
        if merged and _touches(merged[-1][1], start):
            last, end = merged[-1]
            merged[-1] = (last, None if end is None or stop is None else max(end, stop))
        else:
            merged.append((start, stop))
    return tuple(merged)


def _touches(stop: Key | None, start: Key | None) -> bool:
    return stop is None or start is None or start <= stop  # type: ignore[operator]


def _later(left: Key | None, right: Key | None) -> Key | None:
    if left is None or right is None:
        return right if left is None else left
    return max(left, right)


def _sooner(left: Key | None, right: Key | None) -> Key | None:
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)

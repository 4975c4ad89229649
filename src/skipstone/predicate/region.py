"""Regions: the values that one scalar expression can have where a predicate is TRUE.

A region is an interval, perhaps a finite set, values left out, a prefix, suffixes and pieces that
strings must contain, and whether NULL is possible. It may be larger than the truth but never
smaller; an atom whose region is exactly the truth says so, and only such a region may be concluded.
Then ``p implies q`` is ``region(p) <= region(q)``, and a conjunction is the meet of its regions.

>>> from skipstone.predicate.types import INT
>>> narrow, wide = bounded(">", 5, INT), bounded(">=", 6, INT)
>>> covers(wide, narrow) and covers(narrow, wide)
True

Bounds are held as :func:`~skipstone.predicate.evaluate.order_key` gives them, closed for types
whose values are integers (x > 5 is x >= 6), with the type's own limits as the outermost bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from skipstone.predicate.evaluate import order_key
from skipstone.predicate.truncate import is_range, successor
from skipstone.predicate.types import Kind, Type

__all__ = ["Region", "bounded", "covers", "everything", "listed", "meet", "texts", "without"]

MOST_LISTED = 64
_CONTINUOUS = frozenset({Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL, Kind.STRING, Kind.BINARY, Kind.OTHER})
_OUTER: dict[Kind, tuple[Any, Any]] = {
    Kind.BOOLEAN: (False, True),
    Kind.FLOAT: (order_key(-math.inf), order_key(math.nan)),
    Kind.DOUBLE: (order_key(-math.inf), order_key(math.nan)),
    Kind.STRING: ("", None),
    Kind.BINARY: (b"", None),
}


@dataclass(frozen=True, slots=True)
class Region:
    """A set of values; a bound of None is no bound, ``values`` of None is no finite set.

    A finite set has its least and greatest value as bounds.
    """

    low: Any = None
    low_open: bool = False
    high: Any = None
    high_open: bool = False
    values: frozenset[Any] | None = None
    excluded: frozenset[Any] = frozenset()
    prefix: str = ""
    suffix: str = ""
    pieces: frozenset[str] = frozenset()
    nullable: bool = False

    @property
    def empty(self) -> bool:
        """Whether no value is left, not even NULL."""
        return self.values is not None and not self.values and not self.nullable

    @property
    def textual(self) -> bool:
        """Whether it says anything about the content of strings."""
        return bool(self.prefix or self.suffix or self.pieces)

    def holds(self, key: Any) -> bool:
        """Whether the non-NULL value with this key is in the region."""
        if self.values is not None and key not in self.values:
            return False
        if self.low is not None and (key < self.low or (self.low_open and key == self.low)):
            return False
        if self.high is not None and (key > self.high or (self.high_open and key == self.high)):
            return False
        if key in self.excluded:
            return False
        if not self.textual:
            return True
        return (
            key.startswith(self.prefix)
            and key.endswith(self.suffix)
            and all(piece in key for piece in self.pieces)
        )


def everything(type_: Type, nullable: bool = False) -> Region:
    """All values of the type."""
    low, high = type_.integral_range or _OUTER.get(type_.kind, (None, None))
    return Region(low=low, high=high, nullable=nullable)


def bounded(op: str, value: Any, type_: Type) -> Region:
    """The region of ``x op value`` for an inequality."""
    whole, key = everything(type_), order_key(value)
    if type_.kind not in _CONTINUOUS and op in ("<", ">"):
        # Values are integers, so the bound can be closed: x > 5 is x >= 6. (True is 1 here.)
        op, key = (">=", int(key) + 1) if op == ">" else ("<=", int(key) - 1)
    if op in (">", ">="):
        return _settled(_raised(whole, key, op == ">"), type_)
    return _settled(_lowered(whole, key, op == "<"), type_)


def listed(values: list[Any], type_: Type) -> Region:
    """The region of ``x IN (values)``."""
    return _finite(everything(type_), [order_key(value) for value in values])


def without(values: list[Any], type_: Type, nullable: bool) -> Region:
    """The region of ``x NOT IN (values)``, or of ``NOT (x <=> value)`` when NULL is left in."""
    excluded = frozenset(order_key(value) for value in values)
    return _settled(replace(everything(type_, nullable), excluded=excluded), type_)


def texts(type_: Type, prefix: str = "", suffix: str = "", pieces: tuple[str, ...] = ()) -> Region:
    """The region of strings with this start, end and content."""
    region = replace(everything(type_), prefix=prefix, suffix=suffix, pieces=frozenset(pieces) - {""})
    if prefix:
        region = _raised(region, prefix, False)
        after = successor(prefix)
        region = region if after is None else _lowered(region, after, True)
    return region


def meet(left: Region, right: Region, type_: Type) -> Region:
    """What is in both, or a little more."""
    nullable = left.nullable and right.nullable
    if left.values is not None or right.values is not None:
        few, other = (left, right) if left.values is not None else (right, left)
        kept = [key for key in few.values or () if other.holds(key)]
        return _finite(replace(few, nullable=nullable), kept)
    region = replace(left, excluded=left.excluded | right.excluded, nullable=nullable)
    if right.low is not None:
        region = _raised(region, right.low, right.low_open)
    if right.high is not None:
        region = _lowered(region, right.high, right.high_open)
    short, long = sorted((left.prefix, right.prefix), key=len)
    tail, ending = sorted((left.suffix, right.suffix), key=len)
    if not long.startswith(short) or not ending.endswith(tail):
        return _finite(region, [])
    region = replace(region, prefix=long, suffix=ending, pieces=left.pieces | right.pieces)
    return _settled(region, type_)


def covers(outer: Region, inner: Region) -> bool:
    """Whether every value of the inner region is in the outer one, which must be exact."""
    if inner.nullable and not outer.nullable:
        return False
    if inner.values is not None:
        if not inner.values:
            return True
        if outer.values is None and not outer.excluded and not outer.textual:
            return _low_within(outer, inner) and _high_within(outer, inner)
        return all(outer.holds(key) for key in inner.values)
    if outer.values is not None or any(inner.holds(key) for key in outer.excluded):
        return False
    return (
        _low_within(outer, inner)
        and _high_within(outer, inner)
        and (inner.prefix.startswith(outer.prefix) or _between_forces(inner, outer.prefix))
        and inner.suffix.endswith(outer.suffix)
        and all(_contains(inner, piece) for piece in outer.pieces)
    )


def _low_within(outer: Region, inner: Region) -> bool:
    if outer.low is None:
        return True
    if inner.low is None or inner.low < outer.low:
        return False
    return bool(inner.low > outer.low) or not outer.low_open or not inner.holds(outer.low)


def _high_within(outer: Region, inner: Region) -> bool:
    if outer.high is None:
        return True
    if inner.high is None or inner.high > outer.high:
        return False
    return bool(inner.high < outer.high) or not outer.high_open or not inner.holds(outer.high)


def _between_forces(inner: Region, prefix: str) -> bool:
    """Strings from ``ab`` up to but without ``ac`` all start with ``ab``."""
    after = successor(prefix)
    if after is None or inner.low is None or inner.high is None:
        return False
    if not is_range(prefix):
        return False
    return bool(inner.low >= prefix) and (
        bool(inner.high < after) or (inner.high == after and inner.high_open)
    )


def _contains(inner: Region, piece: str) -> bool:
    return any(piece in text for text in (inner.prefix, inner.suffix, *inner.pieces))


def _raised(region: Region, low: Any, is_open: bool) -> Region:
    if region.low is not None and (low < region.low or (low == region.low and not is_open)):
        return region
    return replace(region, low=low, low_open=is_open)


def _lowered(region: Region, high: Any, is_open: bool) -> Region:
    if region.high is not None and (high > region.high or (high == region.high and not is_open)):
        return region
    return replace(region, high=high, high_open=is_open)


def _finite(region: Region, keys: list[Any]) -> Region:
    values = frozenset(keys)
    if not values:
        return replace(region, values=values)
    return replace(region, values=values, low=min(values), low_open=False, high=max(values), high_open=False)


def _settled(region: Region, type_: Type) -> Region:
    """List the values where few are left, and none where the bounds have crossed."""
    if region.excluded:
        region = _trimmed(region, type_)
    low, high = region.low, region.high
    if low is None or high is None:
        return region
    if low > high or (low == high and (region.low_open or region.high_open)):
        return _finite(region, [])
    if type_.kind not in _CONTINUOUS and high - low < MOST_LISTED:
        kept = [key for key in range(int(low), int(high) + 1) if key not in region.excluded]
        return _finite(region, [bool(key) for key in kept] if type_.kind is Kind.BOOLEAN else kept)
    if low == high and type_.kind is not Kind.OTHER:
        return _finite(region, [low] if region.holds(low) else [])
    return region


def _trimmed(region: Region, type_: Type) -> Region:
    """Move a bound off a value that is left out: ``x >= 5 AND x != 5`` is ``x > 5``."""
    low, low_open, high, high_open = region.low, region.low_open, region.high, region.high_open
    if type_.kind in _CONTINUOUS:
        low_open, high_open = low_open or low in region.excluded, high_open or high in region.excluded
    else:
        while low in region.excluded:
            low += 1
        while high in region.excluded:
            high -= 1
    return replace(region, low=low, low_open=low_open, high=high, high_open=high_open)

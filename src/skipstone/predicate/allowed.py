"""Sets of values of one scalar expression: the one domain of pruning and implication.

:class:`AllowedValues` is a set of the values that an expression of one type can have: ordinary values
in ranges, perhaps only those with a text shape, and whether NULL and NaN are in it. NULL is a member
like any other here: what a predicate makes of it is for :mod:`~skipstone.predicate.allows` to say.

The laws, for sets S and T and every value v of the type, NULL and NaN included:

* ``v in (S & T)`` if and only if ``v in S and v in T``. Intersection is exact.
* ``v in S.complement()`` if and only if ``v not in S``. Sets with a text shape have none.
* ``v in S or v in T`` gives ``v in outer_union(S, T)``: it may hold more, where shapes differ.
  ``v in inner_union(S, T)`` gives ``v in S or v in T``: it may hold less. Without text shapes both
  are exact.
* ``S <= T`` and ``v in S`` give ``v in T``; ``S.empty`` gives ``v not in S``. Neither is complete for
  text shapes, so False means "not shown". Without them both are.

A type's own limits are no bounds: :func:`of_type` makes of ``i <= 2147483647`` the set of all values.

>>> from skipstone.predicate.types import INT
>>> low, high = of_ranges(ranges.below(6)), of_ranges(ranges.at_least(3))
>>> (low & high).members(INT, 10)
(3, 4, 5)
>>> low & high <= low, low <= low & high
(True, False)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skipstone.predicate import value_ranges as ranges
from skipstone.predicate.expr import Value
from skipstone.predicate.text_shape import ANY_TEXT, TextShape, combined
from skipstone.predicate.truncate import is_range, successor
from skipstone.predicate.types import STRING, Kind, Type
from skipstone.predicate.value_ranges import ALL, NONE, Key, Ranges

__all__ = [
    "NOTHING",
    "NULL_ONLY",
    "AllowedValues",
    "everything",
    "inner_union",
    "intersection",
    "is_nan",
    "of_keys",
    "of_ranges",
    "of_texts",
    "of_type",
    "outer_union",
]


@dataclass(frozen=True, slots=True)
class AllowedValues:
    """Ordinary values in ``ranges`` that have the shape ``text``; NULL and NaN as the flags say."""

    ranges: Ranges
    null: bool = False
    nan: bool = False
    text: TextShape = ANY_TEXT

    @property
    def empty(self) -> bool:
        """Whether nothing is allowed, not even NULL."""
        return not (self.ranges or self.null or self.nan)

    @property
    def bounded(self) -> bool:
        """Whether some ordinary values are allowed and others are not, by their order."""
        return bool(self.ranges) and self.ranges != ALL

    def holds(self, value: Value, type: Type) -> bool:
        """Whether a value of the type is in the set."""
        if value is None:
            return self.null
        if is_nan(value):
            return self.nan
        key = ranges.encode(value, type)
        return ranges.contains(self.ranges, key) and (self.text == ANY_TEXT or self.text.matches(key))

    def members(self, type: Type, most: int) -> tuple[Value, ...] | None:
        """The values of the type in the set one by one; None if they are more than so many.

        Both zeros are given, for a function may distinguish them though they are equal.
        """
        keys = ranges.members(self.ranges, type, most) if self.text == ANY_TEXT else None
        if keys is None:
            return None
        found = [ranges.decode(key, type) for key in keys]
        if type.floating:
            found += [-0.0 for key in keys if key == 0.0] + [math.nan] * self.nan
        return (*found, None) if self.null else tuple(found)

    def without_null(self) -> AllowedValues:
        """The same without NULL."""
        return replace(self, null=False) if self.null else self

    def complement(self) -> AllowedValues:
        """All other values, NULL and NaN included; ValueError for a text shape, which has none."""
        if self.text != ANY_TEXT:
            raise ValueError(f"no complement of {self.text}")
        return AllowedValues(ranges.complement(self.ranges), not self.null, not self.nan)

    def __and__(self, other: AllowedValues) -> AllowedValues:
        ordinary = ranges.intersect(self.ranges, other.ranges)
        null, nan = self.null and other.null, self.nan and other.nan
        if self.text is ANY_TEXT and other.text is ANY_TEXT:
            return AllowedValues(ordinary, null, nan)
        return _shaped(AllowedValues(ordinary, null, nan), combined(self.text, other.text))

    def __le__(self, other: AllowedValues) -> bool:
        if (self.null and not other.null) or (self.nan and not other.nan):
            return False
        if not ranges.is_subset(self.ranges, other.ranges):
            return False
        return other.text is ANY_TEXT or not self.ranges or self._has_shape(other.text)

    def _has_shape(self, text: TextShape) -> bool:
        keys = ranges.members(self.ranges, STRING, len(self.ranges))
        if keys is not None and all(text.matches(key) for key in keys):
            return True
        # Strings from 'ab' up to but without 'ac' all start with 'ab'.
        between = is_range(text.prefix) and ranges.is_subset(self.ranges, _with_prefix(text.prefix))
        return self.text.implies(text, prefix_known=between)


NOTHING = AllowedValues(NONE)
NULL_ONLY = AllowedValues(NONE, null=True)


def everything(type: Type) -> AllowedValues:
    """All values of the type but NULL. What has no order may well be, or hold, NaN."""
    return AllowedValues(ALL, nan=type.floating or type.kind is Kind.OTHER)


def of_ranges(ordinary: Ranges, *, nan: bool = False) -> AllowedValues:
    """The values in the ranges, and NaN if ``nan``."""
    return AllowedValues(ordinary, nan=nan)


def of_keys(keys: Sequence[Key], *, nan: bool = False) -> AllowedValues:
    """The values with these keys, and NaN if ``nan``."""
    return AllowedValues(ranges.points(keys), nan=nan)


def of_texts(text: TextShape) -> AllowedValues:
    """The strings of a shape; ValueError if it is no text."""
    for part in (text.prefix, text.suffix, *text.pieces):
        part.encode()  # refuses lone surrogates, which cannot be ordered
    return _shaped(AllowedValues(_with_prefix(text.prefix)), text)


def of_type(values: AllowedValues, type: Type, *, limited: bool = True) -> AllowedValues:
    """The values of the type that are in the set.

    Where the values are ``limited`` to those of the type, its limits are no bounds.
    """
    ordinary = ranges.clipped(values.ranges, type) if limited else values.ranges
    nan = values.nan and everything(type).nan
    if ordinary == values.ranges and nan == values.nan:
        return values
    return AllowedValues(ordinary, values.null, nan, values.text if ordinary else ANY_TEXT)


def intersection(sets: Sequence[AllowedValues]) -> AllowedValues:
    """What all allow. By halves, so that n of them with a few ranges each take O(n log n)."""
    if len(sets) == 1:
        return sets[0]
    middle = len(sets) // 2
    return intersection(sets[:middle]) & intersection(sets[middle:])


def outer_union(sets: Sequence[AllowedValues]) -> AllowedValues:
    """What any allows, and more where they differ in their text shape."""
    shapes = {each.text for each in sets if each.ranges}
    ordinary = ranges.union(*(each.ranges for each in sets))
    text = shapes.pop() if len(shapes) == 1 else ANY_TEXT
    return AllowedValues(ordinary, any(each.null for each in sets), any(each.nan for each in sets), text)


def inner_union(sets: Sequence[AllowedValues]) -> AllowedValues:
    """What any allows, and less where they differ in their text shape."""
    shapes = {each.text for each in sets if each.ranges}
    if len(shapes) > 1:
        sets = [each if each.text == ANY_TEXT else replace(each, ranges=NONE) for each in sets]
    return outer_union(sets)


def is_nan(value: Value) -> bool:
    """Whether a value is NaN."""
    return isinstance(value, float) and math.isnan(value)


def _with_prefix(prefix: str) -> Ranges:
    """Everything that starts with the prefix, and perhaps what is no valid UTF-8 (see ``is_range``)."""
    return ((prefix, successor(prefix)),) if prefix else ALL


def _shaped(values: AllowedValues, text: TextShape | None) -> AllowedValues:
    """The values that have the shape as well; None is the shape of nothing."""
    if text is None or not values.ranges:
        return replace(values, ranges=NONE)
    if text == ANY_TEXT:
        return values
    keys = ranges.members(values.ranges, STRING, len(values.ranges))
    if keys is not None:  # single texts: each has the shape or has not
        return replace(values, ranges=ranges.points(key for key in keys if text.matches(key)))
    return replace(values, text=text)

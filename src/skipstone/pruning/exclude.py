"""Which blocks the bounds of an expression rule out: the min/max half of pruning.

A block stays if the expression may have an ordinary value that is allowed, or may be NULL where NULL is
allowed, or NaN where NaN is. Ordinary values between ``low`` and ``high`` can meet a range
``[start, stop)`` unless ``high < start`` or ``low >= stop``. Among many ranges only the first that ends
after ``low`` can matter, so a binary search over them decides: O(blocks · log ranges).
"""

from __future__ import annotations

import math

import numpy as np

from skipstone.predicate.allowed import AllowedValues
from skipstone.predicate.value_ranges import Range, Ranges
from skipstone.pruning import bound_arrays
from skipstone.pruning.bound_arrays import MAX, MIN, Numbers, TextBounds
from skipstone.pruning.bounds import Bounds
from skipstone.pruning.masks import Flags, Mask, both, either, negated

__all__ = ["cannot_match", "pair_cannot_match"]

_MOST_TEXT_RANGES = 64
_FEW_RANGES = 16


def cannot_match(allowed: AllowedValues, bounds: Bounds) -> Mask:
    """Where no row can have a value that is allowed."""
    mask = either(negated(bounds.value), _outside(allowed.ranges, bounds))
    if allowed.null:
        mask = both(mask, negated(bounds.null))
    return both(mask, negated(bounds.nan)) if allowed.nan else mask


def _outside(ranges: Ranges, bounds: Bounds) -> Mask:
    """Where no ordinary value can lie in any of the ranges."""
    if not ranges:
        return True
    mask = _misses((ranges[0][0], ranges[-1][1]), bounds)
    low, high = bounds.low, bounds.high
    if len(ranges) == 1 or mask is True:
        return mask
    if isinstance(low, TextBounds):
        return _outside_texts(ranges, bounds, mask)
    if isinstance(low, np.ndarray) and isinstance(high, np.ndarray):
        return either(mask, _between(ranges, low, high))
    return mask


def _misses(part: Range, bounds: Bounds) -> Mask:
    start, stop = part
    before = False if start is None else bound_arrays.below(bounds.high, start)
    return either(before, False if stop is None else bound_arrays.at_least(bounds.low, stop))


def _between(ranges: Ranges, low: Numbers, high: Numbers) -> Flags:
    """Where the bounds fall into a gap between ranges, or beyond the last."""
    low, high = bound_arrays.alike(low, high)
    if low.dtype == np.int64:
        starts, stops = _whole_limits(ranges)
    else:
        starts = np.asarray([-math.inf if start is None else start for start, _ in ranges], low.dtype)
        stops = np.asarray([stop for _, stop in ranges if stop is not None], low.dtype)
    first = _stops_passed(stops, low)
    # Past the last stop there is no range left, unless the last one never stops.
    gone = first >= len(ranges)
    return np.asarray(gone | (starts[np.minimum(first, len(ranges) - 1)] > high))


def _stops_passed(stops: Numbers, low: Numbers) -> Numbers:
    """How many stops are not greater than the lower bound: the index of the first range that may matter."""
    if len(stops) > _FEW_RANGES:
        return np.asarray(np.searchsorted(stops, low, side="right"))
    passed = np.zeros(low.shape, np.int8)
    for stop in stops:  # for a few, comparing with each is faster than searching
        passed += low >= stop
    return passed


def _whole_limits(ranges: Ranges) -> tuple[Numbers, Numbers]:
    """Starts and stops cut to 64 bits, so that no conclusion is drawn from unknown bounds.

    A stop beyond the greatest number is no stop; the others are greater than an unknown lower bound.
    """
    starts = [MIN if start is None else min(max(int(start), MIN), MAX) for start, _ in ranges]
    stops = [max(int(stop), MIN + 1) for _, stop in ranges if stop is not None and int(stop) <= MAX]
    return np.asarray(starts, np.int64), np.asarray(stops, np.int64)


def _outside_texts(ranges: Ranges, bounds: Bounds, mask: Mask) -> Mask:
    if len(ranges) > _MOST_TEXT_RANGES:
        return mask
    if isinstance(mask, bool):
        return _misses_all(ranges, bounds)
    refined = mask.copy()
    alive = np.flatnonzero(~mask)
    refined[alive] = _misses_all(ranges, bounds.take(alive))
    return refined


def _misses_all(ranges: Ranges, bounds: Bounds) -> Mask:
    mask: Mask = True
    for part in ranges:
        mask = both(mask, _misses(part, bounds))
    return mask


def pair_cannot_match(op: str, left: Bounds, right: Bounds) -> Mask:
    """Where ``left op right`` cannot be true for two expressions of one type.

    Rows pair the values in any way, so all is decided by the bounds: ``a < b`` needs
    ``low(a) < high(b)``. NaN is greater than everything and equal to itself.
    """
    match op:
        case ">" | ">=":
            return pair_cannot_match("<" if op == ">" else "<=", right, left)
        case "<":
            possible = both(left.value, negated(_no_less(left, right, or_equal=False)))
            possible = both(possible, right.value)
            return negated(either(possible, both(left.value, right.nan)))
        case "<=":
            possible = both(both(left.value, right.value), negated(_no_less(left, right, or_equal=True)))
            return negated(either(possible, both(either(left.value, left.nan), right.nan)))
        case "=" | "<=>":
            apart = either(bound_arrays.less(right.high, left.low), bound_arrays.less(left.high, right.low))
            possible = both(both(left.value, right.value), negated(apart))
            possible = either(possible, both(left.nan, right.nan))
            return negated(either(possible, both(left.null, right.null)) if op == "<=>" else possible)
        case "!=":
            return _always_equal(left, right)
        case "not <=>":
            never_null = both(negated(left.null), negated(right.null))
            return either(both(_always_equal(left, right), never_null), both(_void(left), _void(right)))
    return False


def _no_less(left: Bounds, right: Bounds, *, or_equal: bool) -> Mask:
    """Where no ordinary left value is smaller than (or equal to) an ordinary right one."""
    return bound_arrays.less(right.high, left.low, or_equal=not or_equal)


def _always_equal(left: Bounds, right: Bounds) -> Mask:
    """Where a row with two non-NULL sides has equal sides: all four bounds are one value."""
    same = both(
        bound_arrays.less(left.high, right.low, or_equal=True),
        bound_arrays.less(right.high, left.low, or_equal=True),
    )
    ordinary = both(negated(left.nan), negated(right.nan))
    empty = either(_void(left), _void(right))
    return either(empty, both(same, ordinary))


def _void(bounds: Bounds) -> Mask:
    return negated(either(bounds.value, bounds.nan))

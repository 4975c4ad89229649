"""Bounds through casts that keep the order, and through floor and ceil.

Only casts that never decrease and that do not depend on the session are here. Text becoming a number
orders otherwise ('10' < '9'), a timestamp becoming a date needs a zone, a number becoming a smaller
type may wrap: about those nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skipstone.predicate.expr import Call, type_of
from skipstone.predicate.types import Kind, Type
from skipstone.pruning.arithmetic import bounds_within, exact_product, sides
from skipstone.pruning.bound_arrays import MAX, MIN, BoundArray, Numbers
from skipstone.pruning.bounds import Bounds
from skipstone.pruning.masks import both, negated

__all__ = ["cast_bounds", "round_bounds"]

_DAY_MICROSECONDS = 86_400_000_000
_DAYS = (-(1 << 31), (1 << 31) - 1)
_MOST_SHIFT = 18
"""10 to this power fits into 64 bits."""
_MOST_EXACT_POWER = 22
"""10 to this power is the last that a double holds exactly."""
_INTEGRAL = (Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG)
_UTC = frozenset({"UTC", "Z", "GMT", "Etc/UTC", "+00:00"})


def cast_bounds(call: Call, args: tuple[Bounds, ...]) -> Bounds | None:
    """Bounds of a cast; None if it is not one that keeps the order."""
    if len(args) != 1:
        return None
    source = type_of(call.args[0])
    if source == call.type:
        return args[0]
    match source.kind, call.type.kind:
        case (
            (Kind.BYTE | Kind.SHORT | Kind.INT | Kind.LONG),
            (Kind.BYTE | Kind.SHORT | Kind.INT | Kind.LONG),
        ):
            return _integral_to_integral(args[0], source, call.type)
        case ((Kind.BYTE | Kind.SHORT | Kind.INT | Kind.LONG), (Kind.FLOAT | Kind.DOUBLE)):
            return _integral_to_floating(args[0], source, call.type)
        case ((Kind.BYTE | Kind.SHORT | Kind.INT | Kind.LONG), Kind.DECIMAL):
            return _scaled(args[0], call.type.scale, source.integral_range, call.type)
        case Kind.FLOAT, Kind.DOUBLE:
            return args[0]
        case Kind.DECIMAL, Kind.DECIMAL:
            return _scaled(args[0], call.type.scale - source.scale, (MIN, MAX), call.type)
        case Kind.DECIMAL, Kind.DOUBLE:
            return _decimal_to_double(args[0], source.scale)
        case Kind.DATE, (Kind.TIMESTAMP_NTZ | Kind.TIMESTAMP) if _zone_free(call, call.type):
            return _date_to_timestamp(args[0])
        case ((Kind.TIMESTAMP_NTZ | Kind.TIMESTAMP), Kind.DATE) if _zone_free(call, source):
            return _mapped(args[0], lambda micros: micros // _DAY_MICROSECONDS)
    return None


def _zone_free(call: Call, stamp: Type) -> bool:
    """Without a zone, or in UTC, days begin at multiples of a day."""
    return stamp.kind is Kind.TIMESTAMP_NTZ or dict(call.params).get("timezone") in _UTC


def _mapped(arg: Bounds, function: Callable[[Numbers], Numbers]) -> Bounds | None:
    def image(bound: BoundArray) -> BoundArray:
        return np.asarray(function(bound)) if isinstance(bound, np.ndarray) else None

    return Bounds(image(arg.low), image(arg.high), arg.null, False, arg.value)


def _integral_to_integral(arg: Bounds, source: Type, target: Type) -> Bounds | None:
    if _INTEGRAL.index(source.kind) > _INTEGRAL.index(target.kind):
        return None  # may wrap
    return arg


def _integral_to_floating(arg: Bounds, source: Type, target: Type) -> Bounds | None:
    """Rounds to nearest as the JVM does; rounding keeps the order, so the image stays a bound."""
    limits = source.integral_range
    both_sides = None if limits is None else sides(arg, limits)
    if both_sides is None:
        return None
    size = np.float32 if target.kind is Kind.FLOAT else np.float64
    low, high = (np.asarray(side.astype(size).astype(np.float64)) for side in both_sides)
    return Bounds(low, high, arg.null, False, arg.value)


def _scaled(arg: Bounds, shift: int, limits: tuple[int, int] | None, target: Type) -> Bounds | None:
    """A number as a decimal with ``shift`` more digits behind the point; unknown where it overflows."""
    both_sides = None if limits is None else sides(arg, limits)
    if both_sides is None or not 0 <= shift <= _MOST_SHIFT:
        return None
    (low, fine), (high, fine_too) = (exact_product(side, 10**shift) for side in both_sides)
    known = (both_sides[0] > MIN) & (both_sides[1] < MAX)
    most = min(10**target.precision - 1, MAX - 1)
    return bounds_within(low, high, fine & fine_too & known, (-most, most), arg)


def _decimal_to_double(arg: Bounds, scale: int) -> Bounds | None:
    """Widened by a few units in the last place, more than any way of rounding can differ."""
    both_sides = sides(arg, (MIN, MAX))
    if both_sides is None or not 0 <= scale <= _MOST_EXACT_POWER:
        return None
    low, high = (np.asarray(side, np.float64) / 10.0**scale for side in both_sides)
    low, high = low - np.abs(low) * 1e-15, high + np.abs(high) * 1e-15
    low = np.where(both_sides[0] == MIN, -np.inf, np.nextafter(low, -np.inf))
    high = np.where(both_sides[1] == MAX, np.inf, np.nextafter(high, np.inf))
    return Bounds(low, high, arg.null, False, arg.value)


def _date_to_timestamp(arg: Bounds) -> Bounds | None:
    both_sides = sides(arg, _DAYS)
    if both_sides is None:
        return None
    (low, fine), (high, fine_too) = (exact_product(side, _DAY_MICROSECONDS) for side in both_sides)
    return bounds_within(low, high, fine & fine_too, (MIN + 1, MAX - 1), arg)


def round_bounds(call: Call, args: tuple[Bounds, ...]) -> Bounds | None:
    """``floor`` and ``ceil`` of doubles and decimals to whole numbers, and of whole numbers."""
    if len(args) != 1:
        return None
    source = type_of(call.args[0])
    if source.kind in _INTEGRAL and call.type.kind is Kind.LONG:
        return args[0]
    if source.floating and call.type.kind is Kind.LONG:
        return _whole_double(call.name, args[0])
    if source.kind is Kind.DECIMAL and call.type.kind is Kind.DECIMAL and call.type.scale == 0:
        return _whole_decimal(call.name, args[0], source.scale, call.type)
    return None


def _whole_double(name: str, arg: Bounds) -> Bounds | None:
    low, high = arg.low, arg.high
    if not isinstance(low, np.ndarray) or not isinstance(high, np.ndarray):
        return None
    rounding = np.floor if name == "floor" else np.ceil
    # NaN becomes 0, wherever the bounds of the other values lie.
    fine = np.asarray(both(np.asarray((low > -(2.0**53)) & (high < 2.0**53)), negated(arg.nan)))
    down, up = (np.where(fine, rounding(side), 0.0).astype(np.int64) for side in (low, high))
    return bounds_within(down, up, fine, (MIN + 1, MAX - 1), arg)


def _whole_decimal(name: str, arg: Bounds, scale: int, target: Type) -> Bounds | None:
    both_sides = sides(arg, (MIN, MAX))
    if both_sides is None or not 0 <= scale <= _MOST_SHIFT:
        return None
    unit = 10**scale
    fine = (both_sides[0] > MIN) & (both_sides[1] < MAX)
    low, high = (side // unit if name == "floor" else -(-side // unit) for side in both_sides)
    most = min(10**target.precision - 1, MAX - 1)
    return bounds_within(np.asarray(low), np.asarray(high), np.asarray(fine), (-most, most), arg)

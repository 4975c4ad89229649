"""Interval arithmetic on the bounds of all blocks at once: sums, products, negation, rounding.

Integers are computed in 64 bits. A block in which any corner leaves the result's type (or 64 bits)
becomes unknown, and so possibly NULL, for Spark wraps, fails or answers NULL there. Doubles are
computed as Spark computes them and overflow to infinity alike; infinities may cancel to NaN.
Decimals are exact at the result's scale, or nothing is said.

Example: bounds [3, 5] and [-2, 1] give [1, 6] for the sum and [-10, 5] for the product.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from skipstone.predicate.expr import Call, type_of
from skipstone.predicate.types import Kind, Type
from skipstone.pruning.bound_arrays import MAX, MIN, BoundArray, Numbers
from skipstone.pruning.bounds import Bounds
from skipstone.pruning.masks import Flags, Mask, both, compact, either, negated

__all__ = ["ARITHMETIC", "bounds_within", "checked", "exact_product", "sides"]

_SAFE = 1 << 62
_INTEGRAL = (Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG)

Sides = tuple[Numbers, Numbers]


def sides(bounds: Bounds, limits: tuple[int, int]) -> Sides | None:
    """Both bounds as int64, no wider than the type's limits; None if they are not int64."""
    low = np.asarray(MIN) if bounds.low is None else bounds.low
    high = np.asarray(MAX) if bounds.high is None else bounds.high
    if not isinstance(low, np.ndarray) or not isinstance(high, np.ndarray):
        return None
    if low.dtype != np.int64 or high.dtype != np.int64:
        return None
    return np.maximum(low, limits[0]), np.minimum(high, limits[1])


def bounds_within(low: Numbers, high: Numbers, sure: Flags, limits: tuple[int, int], *args: Bounds) -> Bounds:
    """Bounds where the result is sure to lie within the limits, unknown and maybe NULL elsewhere."""
    sure = sure & (low >= limits[0]) & (high <= limits[1])
    null: Mask = negated(np.asarray(sure)) if not np.all(sure) else False
    value: Mask = True
    for arg in args:
        null, value = either(null, arg.null), both(value, either(arg.value, arg.nan))
    return Bounds(np.where(sure, low, MIN), np.where(sure, high, MAX), null, False, value)


def exact_product(left: Numbers, right: Numbers | int) -> tuple[Numbers, Flags]:
    """The product, and where it is surely not larger than 64 bits hold."""
    rough = np.abs(left.astype(np.float64) * np.asarray(right, np.float64))
    return np.asarray(left * right), np.asarray(rough < _SAFE)


def _exact_sum(left: Numbers, right: Numbers) -> tuple[Numbers, Flags]:
    total = np.asarray(left + right)
    return total, np.asarray(((left ^ total) & (right ^ total)) >= 0)


def checked(op: str, left: Sides, right: Sides) -> tuple[Numbers, Numbers, Flags]:
    """Lower and upper bound of the result, and where no corner overflowed."""
    if op == "add":
        (low, fine), (high, fine_too) = _exact_sum(left[0], right[0]), _exact_sum(left[1], right[1])
        return low, high, fine & fine_too
    corners = [exact_product(a, b) for a in left for b in right]
    numbers = [corner for corner, _ in corners]
    fine = reduce(np.logical_and, [sure for _, sure in corners])
    return reduce(np.minimum, numbers), reduce(np.maximum, numbers), fine


def _limits(type: Type) -> tuple[int, int] | None:
    if type.kind is Kind.DECIMAL:
        most = min(10**type.precision - 1, MAX - 1)
        return -most, most
    return type.integral_range


def _binary(op: str) -> Callable[[Call, tuple[Bounds, ...]], Bounds | None]:
    def rule(call: Call, args: tuple[Bounds, ...]) -> Bounds | None:
        if len(args) != 2:
            return None
        types = [type_of(arg) for arg in call.args]
        if call.type.kind is Kind.DECIMAL:
            return _decimal(op, call.type, types, args)
        if any(type != call.type for type in types):
            return None
        if call.type.floating:
            return _floating(op, call.type, *args)
        return _integral(op, call.type, *args) if call.type.kind in _INTEGRAL else None

    return rule


def _integral(op: str, type: Type, left: Bounds, right: Bounds) -> Bounds | None:
    limits = _limits(type)
    if limits is None:
        return None
    a, b = sides(left, limits), sides(right, limits)
    if a is None or b is None:
        return None
    if op == "subtract":
        # -b may leave 64 bits where a - b does not; such blocks become unknown, which is sound.
        b, fits = (-b[1], -b[0]), np.asarray(b[0] > MIN)
        low, high, fine = checked("add", a, b)
        return bounds_within(low, high, fine & fits, limits, left, right)
    return bounds_within(*checked(op, a, b), limits, left, right)


def _decimal(op: str, type: Type, types: list[Type], args: tuple[Bounds, ...]) -> Bounds | None:
    a_type, b_type = types
    if a_type.kind is not Kind.DECIMAL or b_type.kind is not Kind.DECIMAL:
        return None
    scales = a_type.scale, b_type.scale
    if type.scale != (sum(scales) if op == "multiply" else max(scales)):
        return None  # Spark rounds here
    limits = _limits(type)
    every = [sides(arg, (MIN, MAX)) for arg in args]
    if limits is None or every[0] is None or every[1] is None:
        return None
    fine: Flags = np.asarray(True)
    scaled: list[Sides] = []
    for (least, most), scale in zip((every[0], every[1]), scales, strict=True):
        fine = fine & (least > MIN) & (most < MAX)
        factor = 1 if op == "multiply" else 10 ** (type.scale - scale)
        if factor >= _SAFE:
            return None
        (low, fits), (high, fits_too) = exact_product(least, factor), exact_product(most, factor)
        fine = fine & fits & fits_too
        scaled.append((low, high))
    if op == "subtract":
        scaled[1] = -scaled[1][1], -scaled[1][0]
    low, high, exact = checked("add" if op == "subtract" else op, *scaled)
    return bounds_within(low, high, fine & exact, limits, *args)


def _floating(op: str, type: Type, left: Bounds, right: Bounds) -> Bounds | None:
    a, b = _floats(left, type), _floats(right, type)
    if op == "subtract":
        op, b = "add", (-b[1], -b[0])
    if op == "add":
        low, high = np.asarray(a[0] + b[0]), np.asarray(a[1] + b[1])
    else:
        corners = [np.asarray(x * y) for x in a for y in b]
        low, high = reduce(np.minimum, corners), reduce(np.maximum, corners)
    low, high = low.astype(np.float64), high.astype(np.float64)
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    endless = np.isinf(a[0]) | np.isinf(a[1]) | np.isinf(b[0]) | np.isinf(b[1])
    nan = either(either(left.nan, right.nan), compact(np.asarray(endless)))
    value = both(either(left.value, left.nan), either(right.value, right.nan))
    return Bounds(low, high, either(left.null, right.null), nan, value)


def _floats(bounds: Bounds, type: Type) -> Sides:
    """Bounds in the precision in which Spark computes."""
    size = np.float32 if type.kind is Kind.FLOAT else np.float64

    def numbers(bound: BoundArray, unknown: float) -> Numbers:
        return np.asarray(unknown if bound is None else bound, dtype=size)

    return numbers(bounds.low, -np.inf), numbers(bounds.high, np.inf)


def _unary(call: Call, args: tuple[Bounds, ...]) -> Bounds | None:
    """``negate`` and ``abs``. The least integer has no negative: blocks that may hold it are unknown."""
    if len(args) != 1 or type_of(call.args[0]) != call.type:
        return None
    arg = args[0]
    if call.type.floating:
        low, high = _floats(arg, call.type)
        low, high = _turned(call.name, low.astype(np.float64), high.astype(np.float64))
        return Bounds(low, high, arg.null, arg.nan, arg.value)
    limits = _limits(call.type)
    both_sides = None if limits is None else sides(arg, (MIN, MAX))
    if limits is None or both_sides is None:
        return None
    fine = np.asarray((both_sides[0] > limits[0]) & (both_sides[1] < MAX))
    if call.type.kind is Kind.DECIMAL:
        fine = np.asarray((both_sides[0] >= limits[0]) & (both_sides[1] <= limits[1]))
    return bounds_within(*_turned(call.name, *both_sides), fine, limits, arg)


def _turned(name: str, low: Numbers, high: Numbers) -> Sides:
    if name == "negate":
        return np.asarray(-high), np.asarray(-low)
    least = np.where(low > 0, low, np.where(high < 0, -high, np.zeros_like(low)))
    return least, np.maximum(np.abs(low), np.abs(high))


ARITHMETIC: dict[str, Callable[[Call, tuple[Bounds, ...]], Bounds | None]] = {
    "add": _binary("add"),
    "subtract": _binary("subtract"),
    "multiply": _binary("multiply"),
    "negate": _unary,
    "abs": _unary,
}

"""What the rows of every block can make of one scalar expression.

:class:`Bounds` says, per block, whether the expression may be NULL, NaN or an ordinary value, and
between which bounds the ordinary values lie. An expression about which nothing is known may be
everything, everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skipstone.predicate.expr import Literal
from skipstone.predicate.types import Kind, Type
from skipstone.predicate.value_ranges import encode
from skipstone.pruning import bound_arrays
from skipstone.pruning.blocks import Counts, Statistics
from skipstone.pruning.bound_arrays import MAX, MIN, BoundArray, TextBounds
from skipstone.pruning.masks import Mask, both, compact, either, spread, take

__all__ = ["UNKNOWN", "Bounds", "constant", "from_statistics", "hull", "meet", "unknown"]


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """``null``, ``nan``, ``value``: where the expression may be NULL, NaN, an ordinary value."""

    low: BoundArray
    high: BoundArray
    null: Mask
    nan: Mask
    value: Mask

    @property
    def informative(self) -> bool:
        """Whether anything at all is known, of any block."""
        bounded = self.low is not None or self.high is not None
        return bounded or self.null is not True or self.value is not True

    def take(self, index: npt.NDArray[np.intp]) -> Bounds:
        """The bounds of some of the blocks."""
        low, high = bound_arrays.take(self.low, index), bound_arrays.take(self.high, index)
        return Bounds(low, high, *(take(mask, index) for mask in (self.null, self.nan, self.value)))


UNKNOWN = Bounds(None, None, True, True, True)


def unknown(type: Type) -> Bounds:
    """Nothing is known, but that only floating types have NaN."""
    return Bounds(None, None, True, type.floating or type.kind is Kind.OTHER, True)


def constant(literal: Literal) -> Bounds:
    """The bounds of a literal: itself."""
    if literal.value is None:
        return Bounds(None, None, True, False, False)
    if isinstance(literal.value, float) and math.isnan(literal.value):
        return Bounds(None, None, False, True, False)
    try:
        key = encode(literal.value, literal.type)
    except ValueError:
        return unknown(literal.type)
    same: BoundArray
    if isinstance(key, (str, bytes)):
        same = TextBounds(pa.scalar(key))
    else:
        same = np.asarray(key, dtype=object if isinstance(key, int) and not MIN < key < MAX else None)
    return Bounds(same, same, False, False, True)


def from_statistics(statistics: Statistics, rows: Counts) -> Bounds:
    """Bounds out of stored statistics. All-NULL is concluded from two known, equal counts only."""
    nulls = statistics.nulls
    nans = statistics.nans if statistics.type.floating else np.zeros_like(nulls)
    counted = (nulls >= 0) & (rows >= 0)
    all_null = counted & (nulls == rows)
    no_value = all_null | (counted & (nans >= 0) & (nulls + nans == rows))
    low = high = None
    if statistics.type.ordered:
        low, high = _arrays(statistics.low, statistics.high, statistics.type)
        if np.any(damaged := bound_arrays.less(high, low)):  # damaged bounds are no bounds
            kept = pa.array(~spread(damaged, len(rows)))
            lows, highs = (pc.if_else(kept, bounds, None) for bounds in (statistics.low, statistics.high))
            low, high = _arrays(lows, highs, statistics.type)
    return Bounds(low, high, compact(nulls != 0), compact((nans != 0) & ~all_null), compact(~no_value))


def _arrays(low: pa.Array, high: pa.Array, type: Type) -> tuple[BoundArray, BoundArray]:
    return bound_arrays.bound_array(low, type, upper=False), bound_arrays.bound_array(high, type, upper=True)


def meet(left: Bounds, right: Bounds) -> Bounds:
    """What holds if both hold."""
    low = _tighter(left.low, right.low, greatest=True)
    high = _tighter(left.high, right.high, greatest=False)
    null, nan, value = both(left.null, right.null), both(left.nan, right.nan), both(left.value, right.value)
    return Bounds(low, high, null, nan, value)


def hull(choices: list[Bounds]) -> Bounds:
    """What holds if the expression is one of the choices, no matter which."""
    null = nan = value = False
    for choice in choices:
        null, nan = either(null, choice.null), either(nan, choice.nan)  # type: ignore[assignment]
        value = either(value, choice.value)  # type: ignore[assignment]
    with_value = [choice for choice in choices if choice.value is not False]
    if not with_value:
        return Bounds(None, None, null, nan, value)
    low, high = with_value[0].low, with_value[0].high
    for choice in with_value[1:]:
        low, high = _looser(low, choice.low, greatest=False), _looser(high, choice.high, greatest=True)
    return Bounds(low, high, null, nan, value)


def _tighter(left: BoundArray, right: BoundArray, *, greatest: bool) -> BoundArray:
    if left is None or right is None:
        return right if left is None else left
    if isinstance(left, TextBounds) and isinstance(right, TextBounds):
        extreme = pc.max_element_wise if greatest else pc.min_element_wise
        return TextBounds(extreme(left.texts, right.texts, skip_nulls=True))
    return _extreme(left, right, greatest, otherwise=left)


def _looser(left: BoundArray, right: BoundArray, *, greatest: bool) -> BoundArray:
    if left is None or right is None:
        return None
    if isinstance(left, TextBounds) and isinstance(right, TextBounds):
        extreme = pc.max_element_wise if greatest else pc.min_element_wise
        return TextBounds(extreme(left.texts, right.texts, skip_nulls=False))
    return _extreme(left, right, greatest, otherwise=None)


def _extreme(left: BoundArray, right: BoundArray, greatest: bool, *, otherwise: BoundArray) -> BoundArray:
    """Numbers of unlike representation do not mix: what stands for unknown differs."""
    if not isinstance(left, np.ndarray) or not isinstance(right, np.ndarray) or left.dtype != right.dtype:
        return otherwise
    extreme: BoundArray = np.asarray((np.maximum if greatest else np.minimum)(left, right))
    return extreme

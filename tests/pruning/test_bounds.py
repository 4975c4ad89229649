"""Bounds out of stored statistics, of constants, and of what is one expression or another."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from skipstone.predicate.expr import Literal, Value
from skipstone.predicate.types import BOOLEAN, DOUBLE, INT, STRING, Type
from skipstone.pruning.blocks import Statistics
from skipstone.pruning.bound_arrays import BoundArray, TextBounds, bound_array
from skipstone.pruning.bounds import Bounds, constant, from_statistics, hull, meet
from skipstone.pruning.masks import Mask, spread


def flags(mask: Mask, size: int) -> list[bool]:
    return [bool(flag) for flag in spread(mask, size)]


def doubles(nulls: list[int], nans: list[int], rows: list[int]) -> Bounds:
    none = pa.array([None] * len(rows), pa.float64())
    some = Statistics(DOUBLE, none, none, np.array(nulls, np.int64), np.array(nans, np.int64))
    return from_statistics(some, np.array(rows, np.int64))


def test_all_null_and_all_nan_are_concluded_from_known_counts_only() -> None:
    #          all NULL, all NaN, both, one left, unknown NULLs, unknown NaNs, unknown rows, all unknown
    nulls = [5, 0, 2, 2, -1, 2, 5, -1]
    nans = [0, 5, 3, 2, 3, -1, 0, -1]
    rows = [5, 5, 5, 5, 5, 5, -1, -1]
    bounds = doubles(nulls, nans, rows)
    assert flags(bounds.value, 8) == [False, False, False, True, True, True, True, True]
    assert flags(bounds.null, 8) == [True, False, True, True, True, True, True, True]
    assert flags(bounds.nan, 8) == [False, True, True, True, True, True, False, True]


def text_bounds(*texts: str | None) -> BoundArray:
    return bound_array(pa.array(texts, pa.string()), STRING, upper=True)


def texts_of(array: BoundArray) -> list[str | None]:
    assert isinstance(array, TextBounds)
    found: list[str | None] = array.texts.to_pylist()
    return found


def test_one_or_the_other_has_the_looser_bounds_and_none_where_one_is_unknown() -> None:
    left = Bounds(text_bounds("b", None, "x"), text_bounds("c", "d", None), False, False, True)
    right = Bounds(text_bounds("a", "a", "z"), text_bounds("z", None, "z"), True, False, True)
    either = hull([left, right])
    assert (texts_of(either.low), texts_of(either.high)) == (["a", None, "x"], ["z", None, None])
    assert either.null is True
    both = meet(left, right)
    assert (texts_of(both.low), texts_of(both.high)) == (["b", "a", "z"], ["c", "d", "z"])
    assert both.null is False


def test_numbers_of_two_representations_are_not_mixed() -> None:
    narrow = Bounds(np.array([1]), np.array([5]), False, False, True)
    wide = Bounds(np.array([2**70], object), np.array([2**71], object), False, False, True)
    assert hull([narrow, wide]).low is None
    assert meet(narrow, wide).low is narrow.low


def test_a_choice_that_is_always_null_has_no_say_in_the_bounds() -> None:
    always_null = constant(Literal(None, INT))
    assert (always_null.null, always_null.nan, always_null.value) == (True, False, False)
    some = Bounds(np.array([1]), np.array([5]), False, False, True)
    either = hull([always_null, some])
    assert isinstance(either.low, np.ndarray)
    assert (either.low.tolist(), either.null) == ([1], True)
    assert hull([always_null]).value is False


@pytest.mark.parametrize(
    ("value", "type_", "key"),
    [(5, INT, 5), (True, BOOLEAN, 1), (Decimal("1.5"), Type.parse("decimal(10,2)"), 150), (2.5, DOUBLE, 2.5)],
)
def test_a_constant_lies_between_itself(value: Value, type_: Type, key: object) -> None:
    bounds = constant(Literal(value, type_))
    assert isinstance(bounds.low, np.ndarray)
    assert bounds.low.item() == key
    assert (bounds.null, bounds.nan, bounds.value) == (False, False, True)


def test_a_constant_nan_is_nothing_but_nan_and_a_damaged_one_anything() -> None:
    nan = constant(Literal(math.nan, DOUBLE))
    assert (nan.null, nan.nan, nan.value) == (False, True, False)
    odd = constant(Literal("no number", INT))
    assert (odd.low, odd.null, odd.value) == (None, True, True)

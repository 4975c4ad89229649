"""Ranks and buckets: order by Spark's rules, NULL apart, skew without repeated bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from skipstone.layout.assignment import Dimension
from skipstone.layout.quantiles import bounds, bucket_numbers
from skipstone.layout.ranks import rank
from skipstone.predicate.expr import Column
from skipstone.predicate.types import DOUBLE, LONG, STRING


def test_nan_ranks_above_infinity_and_zeros_are_one_value() -> None:
    column = rank(pa.array([math.nan, math.inf, -0.0, 0.0, None, -math.inf, -math.nan]))
    assert column.codes.tolist() == [3, 2, 1, 1, -1, 0, 3]
    assert column.has_nan


def test_strings_rank_by_code_point() -> None:
    assert rank(pa.array(["\U0001f600", "\uffff", "a", "B"])).values == ("B", "a", "\uffff", "\U0001f600")


def test_buckets_hold_equal_numbers_of_rows() -> None:
    column = rank(pa.array(np.random.default_rng(0).permutation(1000)))
    dimension = Dimension(Column(("x",), LONG), bounds(column, 8))
    assert np.bincount(bucket_numbers(dimension, column)).tolist() == [0] + [125] * 8


def test_a_frequent_value_has_one_bucket_and_no_bound_repeats() -> None:
    column = rank(pa.array([5] * 900 + list(range(100))))
    found: tuple[Any, ...] = bounds(column, 10)
    assert list(found) == sorted(set(found))
    assert 5 in found


def test_few_values_have_a_bucket_each_and_null_has_its_own() -> None:
    column = rank(pa.array(["b", None, "a", "c", "b"]))
    dimension = Dimension(Column(("s",), STRING), bounds(column, 64))
    assert dimension.bounds == ("b", "c")
    assert bucket_numbers(dimension, column).tolist() == [2, 0, 1, 3, 2]


def test_values_that_the_bounds_were_not_made_of_find_their_bucket() -> None:
    dimension = Dimension(Column(("x",), DOUBLE), (1.0, 2.0))
    column = rank(pa.array([0.5, 1.0, 1.5, 2.0, 9.0, math.nan, None]))
    assert bucket_numbers(dimension, column).tolist() == [1, 2, 2, 3, 3, 3, 0]


@pytest.mark.parametrize("values", [[], [None, None], [math.nan], [1.0]])
def test_columns_without_an_order_to_speak_of_have_no_bounds(values: list[float | None]) -> None:
    assert bounds(rank(pa.array(values, pa.float64())), 8) == ()

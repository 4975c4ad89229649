"""Bounds of all blocks compared with constants and with each other, against Python's own order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.pruning.prune_cases import arrow_type

from skipstone.predicate.types import BINARY, DOUBLE, LONG, STRING, Type
from skipstone.predicate.value_ranges import Key, encode
from skipstone.pruning.bound_arrays import MAX, MIN, TextBounds, at_least, below, bound_array, less, take
from skipstone.pruning.masks import Mask, spread

NARROW, WIDE = Type.parse("decimal(10,2)"), Type.parse("decimal(38,18)")
TEXTS = ("", "a", "ab", "abcdefgh", "abcdefghi", "abcdefghj", "b", "b\0", "é", "\uffff", "\U0001f600")
CASES: list[tuple[Type, tuple[Any, ...], tuple[Key, ...]]] = [
    (LONG, (MIN + 1, -7, 0, 3, MAX - 1), (-(2**70), MIN, -7, 0, 1, MAX, 2**70)),
    (DOUBLE, (-math.inf, -1.5, 0.0, 1e300, math.inf), (-math.inf, -1.5, 0.0, 5e-324, math.inf)),
    (NARROW, tuple(map(Decimal, ("-1.5", "0", "7.25"))), (-150, 0, 1, 725, 10**30)),
    (WIDE, tuple(map(Decimal, ("-50", "0", "7", "50"))), (-50 * 10**18, 0, 7 * 10**18, 2**63, 10**25)),
    (STRING, TEXTS, (*TEXTS, "abcdefgh\0", "aa")),
    (BINARY, (b"", b"\0", b"a", b"\xff", b"\xff\xff"), (b"", b"\0\0", b"b", b"\xff")),
]
BY_TYPE = pytest.mark.parametrize(("type_", "values", "keys"), CASES, ids=lambda case: str(case)[:20])


def flags(mask: Mask, size: int) -> list[bool]:
    return [bool(flag) for flag in spread(mask, size)]


def keys_of(type_: Type, values: Sequence[Any], *, upper: bool) -> list[Any]:
    """The keys of values; an unknown one stays None, but every double lies between the infinities."""
    unknown = (math.inf if upper else -math.inf) if type_ == DOUBLE else None
    return [unknown if value is None else encode(value, type_) for value in values]


@BY_TYPE
def test_a_bound_is_compared_with_a_constant_and_an_unknown_one_never_decides(
    type_: Type, values: tuple[Any, ...], keys: tuple[Key, ...]
) -> None:
    for stored in ([*values, None], [None, *reversed(values)], list(values)):
        bounds = pa.array(stored, arrow_type(type_))
        lower, upper = (bound_array(bounds, type_, upper=side) for side in (False, True))
        lows, highs = (keys_of(type_, stored, upper=side) for side in (False, True))
        for key in keys:
            assert flags(below(upper, key), len(stored)) == [e is not None and e < key for e in highs], key
            expected = [each is not None and each >= key for each in lows]
            assert flags(at_least(lower, key), len(stored)) == expected, key


@BY_TYPE
def test_two_bounds_are_compared_block_by_block(
    type_: Type, values: tuple[Any, ...], keys: tuple[Key, ...]
) -> None:
    pairs = list(itertools.product((*values, None), repeat=2))
    left, right = (pa.array(side, arrow_type(type_)) for side in zip(*pairs, strict=True))
    upper, lower = bound_array(left, type_, upper=True), bound_array(right, type_, upper=False)
    highs = keys_of(type_, [high for high, _ in pairs], upper=True)
    lows = keys_of(type_, [low for _, low in pairs], upper=False)
    for or_equal in (False, True):
        expected = [
            high is not None and low is not None and (high < low or (or_equal and high == low))
            for high, low in zip(highs, lows, strict=True)
        ]
        assert flags(less(upper, lower, or_equal=or_equal), len(pairs)) == expected


def test_an_unknown_decimal_of_64_bits_is_not_compared_with_a_wide_one() -> None:
    narrow = bound_array(pa.array([None, Decimal(1)], arrow_type(WIDE)), WIDE, upper=True)
    wide = bound_array(pa.array([Decimal(90), Decimal(90)], arrow_type(WIDE)), WIDE, upper=False)
    assert flags(less(narrow, wide), 2) == [False, True]


def test_nothing_known_at_all_is_no_array_and_nan_is_unknown() -> None:
    assert bound_array(pa.array([None, None], pa.int64()), LONG, upper=True) is None
    nan = pa.array([math.nan, 1.0])
    assert flags(below(bound_array(nan, DOUBLE, upper=True), 5.0), 2) == [False, True]
    assert flags(at_least(bound_array(nan, DOUBLE, upper=False), -5.0), 2) == [False, True]


def test_some_of_some_of_the_bounds_are_those_of_the_right_blocks() -> None:
    texts = bound_array(pa.array(list(TEXTS)), STRING, upper=True)
    some = take(take(texts, np.array([5, 1, 3])), np.array([2, 0]))
    assert isinstance(some, TextBounds)
    assert some.texts.to_pylist() == [TEXTS[3], TEXTS[5]]
    assert flags(below(some, "abcdefghj"), 2) == [True, False]
    numbers = take(np.array([10, 20, 30]), np.array([2, 0]))
    assert isinstance(numbers, np.ndarray)
    assert numbers.tolist() == [30, 10]

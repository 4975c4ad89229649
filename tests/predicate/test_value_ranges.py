from __future__ import annotations

import math
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skipstone.predicate.types import BINARY, BOOLEAN, DOUBLE, INT, STRING, Type
from skipstone.predicate.value_ranges import (
    ALL,
    NONE,
    Ranges,
    complement,
    encode,
    following,
    intersect,
    points,
    union,
)

PRICE = Type.parse("decimal(10,2)")


def contains(ranges: Ranges, key: int) -> bool:
    return any((a is None or a <= key) and (b is None or key < b) for a, b in ranges)  # type: ignore[operator]


EDGE = st.one_of(st.none(), st.integers(-6, 6))
RANGES = st.lists(st.tuples(EDGE, EDGE), max_size=4).map(
    lambda parts: union(tuple(p for p in parts if p[0] is None or p[1] is None or p[0] < p[1]))
)


@given(RANGES, RANGES)
def test_set_operations_agree_with_membership(left: Ranges, right: Ranges) -> None:
    for key in range(-8, 9):
        assert contains(intersect(left, right), key) == (contains(left, key) and contains(right, key))
        assert contains(union(left, right), key) == (contains(left, key) or contains(right, key))
        assert contains(complement(left), key) != contains(left, key)


@given(RANGES)
def test_ranges_are_sorted_and_apart(ranges: Ranges) -> None:
    for (_, stop), (start, _) in pairwise(ranges):
        assert stop is not None
        assert start is not None
        assert stop < start  # type: ignore[operator]


def test_everything_and_nothing_are_complements() -> None:
    assert complement(ALL) == NONE
    assert complement(NONE) == ALL


def test_nothing_lies_between_a_key_and_the_following_one() -> None:
    assert following(6) == 7
    assert following(0.0) == 5e-324
    assert following(math.inf) is None
    assert following("ab") == "ab\0"
    assert following(b"") == b"\0"


def test_points_next_to_each_other_become_one_range() -> None:
    assert points([2, 1, 7]) == ((1, 3), (7, 8))


def test_a_decimal_is_encoded_by_its_unscaled_integer() -> None:
    assert encode(Decimal("-1.5"), PRICE) == -150
    assert encode(Decimal("1E+30"), Type.parse("decimal(38,2)")) == 10**32


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (1, BOOLEAN),
        (True, INT),
        (1.5, INT),
        (1, DOUBLE),
        (math.nan, DOUBLE),
        ("a", BINARY),
        ("\ud800", STRING),
        (Decimal("0.001"), PRICE),
        (Decimal("NaN"), PRICE),
        ((1,), Type.parse("array<int>")),
    ],
)
def test_a_value_that_is_not_of_the_type_is_refused(value: object, type_: Type) -> None:
    with pytest.raises(ValueError, match=r"no value|decimals|surrogates"):
        encode(value, type_)

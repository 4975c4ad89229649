"""What bounds rule out, against brute force: every small block with every small set of allowed values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.predicate.test_allowed import NUMBER_SETS
from tests.pruning.prune_cases import D, E, block_set

from skipstone.predicate.allowed import AllowedValues, of_keys
from skipstone.predicate.evaluate import evaluate
from skipstone.predicate.expr import Comparison, Expr, Not, Value
from skipstone.predicate.value_ranges import Ranges, union
from skipstone.pruning.bound_arrays import MAX, MIN
from skipstone.pruning.bounds import Bounds
from skipstone.pruning.exclude import cannot_match, pair_cannot_match
from skipstone.pruning.masks import Mask, spread
from skipstone.pruning.scope import Scope

VALUES: tuple[Value, ...] = (-1.0, 0.0, 0.5, 2.0, math.nan, None)
BLOCKS = [
    chosen for size in range(1, len(VALUES) + 1) for chosen in itertools.combinations(VALUES, size) if chosen
]
OPERATORS = ("=", "<", "<=", ">", ">=", "<=>", "!=", "not <=>")


def flags(mask: Mask, size: int) -> list[bool]:
    return [bool(flag) for flag in spread(mask, size)]


def may_match(allowed: AllowedValues, block: tuple[Value, ...]) -> bool:
    """Whether a value between the least and the greatest, or NULL or NaN if there, is allowed."""
    numbers = [value for value in block if isinstance(value, float)]
    ordinary = [value for value in numbers if not math.isnan(value)]
    if (None in block and allowed.null) or (any(map(math.isnan, numbers)) and allowed.nan):
        return True
    if not ordinary:
        return False
    return meets(allowed.ranges, min(ordinary), max(ordinary))


def meets(ranges: Ranges, low: float, high: float) -> bool:
    return any(
        (start is None or start <= high) and (stop is None or low < stop)  # type: ignore[operator]
        for start, stop in ranges
    )


def test_a_block_is_ruled_out_if_and_only_if_nothing_within_its_bounds_is_allowed() -> None:
    bounds = Scope(block_set([[{D: value} for value in block] for block in BLOCKS], [D])).bounds(D)
    for allowed, _ in NUMBER_SETS:
        expected = [not may_match(allowed, block) for block in BLOCKS]
        assert flags(cannot_match(allowed, bounds), len(BLOCKS)) == expected, allowed


@pytest.mark.parametrize("size", [3, 40])
def test_gaps_between_few_and_between_many_whole_numbers_are_found(size: int) -> None:
    ranges = of_keys(range(0, 3 * size, 3)).ranges
    pairs = [(low, low + width) for low in range(-4, 3 * size + 4) for width in range(4)]
    lows, highs = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    bounds = Bounds(lows, highs, False, False, True)
    found = flags(cannot_match(AllowedValues(ranges), bounds), len(pairs))
    assert found == [not meets(ranges, low, high) for low, high in pairs]


def test_an_unknown_whole_number_is_never_beyond_the_ends_of_64_bits() -> None:
    bounds = Bounds(np.array([MIN, 5, MIN]), np.array([5, MAX, MAX]), False, False, True)
    least, most = ((None, MIN), (7, 8), (9, 10)), ((-9, -8), (1, 2), (MAX + 1, None))
    assert flags(cannot_match(AllowedValues(least), bounds), 3) == [False, False, False]
    assert flags(cannot_match(AllowedValues(most), bounds), 3) == [False, False, False]
    beyond = union(((-(2**70), -(2**69)), (-(2**66), -(2**65)), (6, 7)))
    assert flags(cannot_match(AllowedValues(beyond), bounds), 3) == [False, False, False]


def predicate(op: str) -> Expr:
    if op in ("!=", "not <=>"):
        return Not(Comparison("=" if op == "!=" else "<=>", D, E))
    return Comparison(op, D, E)


@pytest.mark.parametrize("op", OPERATORS)
def test_two_columns_are_ruled_out_only_if_no_two_of_their_values_match(op: str) -> None:
    cases = list(itertools.product(BLOCKS, repeat=2))
    rows = [[{D: left, E: right} for left, right in itertools.product(*case)] for case in cases]
    scope = Scope(block_set(rows, [D, E]))
    found = flags(pair_cannot_match(op, scope.bounds(D), scope.bounds(E)), len(cases))
    asked = predicate(op)
    matching = [any(evaluate(asked, row) is True for row in block) for block in rows]
    assert not any(skip and match for skip, match in zip(found, matching, strict=True))
    # A block without a match is read only if its bounds overlap, though its values are not equal.
    assert sum(found) >= (len(cases) - sum(matching)) * (0.5 if "=" in op else 1)

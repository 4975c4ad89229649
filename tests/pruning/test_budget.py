"""A decision takes work that is linear in its filter, and a fixed budget beyond. Work is counted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

import pytest
from tests.pruning.prune_cases import block_set

from skipstone.predicate.expr import And, Column, Comparison, Expr, In, Literal, Or
from skipstone.predicate.limits import MOST_LEVELS, within_limits
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.types import INT
from skipstone.pruning.blocks import BlockSet
from skipstone.pruning.budget import STEPS, Budget
from skipstone.pruning.prune import prune

COLUMNS = tuple(Column((f"c{index}",), INT) for index in range(12))
A, B, C = COLUMNS[:3]


def compare(op: str, column: Column, value: int) -> Comparison:
    return Comparison(op, column, Literal(value, INT))


def known_blocks(features: int) -> BlockSet:
    blocks = [[dict.fromkeys(COLUMNS, 10 * block + row) for row in range(3)] for block in range(4)]
    wanted = [
        And((compare(">", COLUMNS[n % 12], n), compare("<", COLUMNS[(n + 5) % 12], n + 40)))
        for n in range(features)
    ]
    return block_set(blocks, COLUMNS, features=wanted)


def ors_over_many_columns(size: int, salt: int) -> Expr:
    return And(
        tuple(
            _three(COLUMNS[n % 12], COLUMNS[(n + 1) % 12], COLUMNS[(n + 2) % 12], n + salt)
            for n in range(size)
        )
    )


def ors_over_three_columns(size: int, salt: int) -> Expr:
    return And(tuple(_three(A, B, C, n + salt) for n in range(size)))


def _three(a: Column, b: Column, c: Column, n: int) -> Expr:
    return Or((compare("=", a, n), compare(">", b, n + 3), compare("<", c, -n)))


def nested_ors(size: int, salt: int) -> Expr:
    inner = (Or((compare(">", B, n + salt), compare("<", C, n))) for n in range(size))
    return And(
        tuple(
            Or((And((compare("=", A, n + salt), part)), compare(">", COLUMNS[n % 12], n)))
            for n, part in enumerate(inner)
        )
    )


def ands_under_an_or(size: int, salt: int) -> Expr:
    return Or(tuple(And((compare(">", COLUMNS[n % 12], n + salt), compare("=", B, n))) for n in range(size)))


def ranges_of_one_column(size: int, salt: int) -> Expr:
    every = tuple(
        And((compare(">", A, 5 * n + salt), compare("<", A, 5 * n + 3 + salt))) for n in range(size)
    )
    return And(
        (Or(every), *(Or((compare("<", B, 7 * n), compare(">", B, 7 * n + salt + 9))) for n in range(size)))
    )


def long_ins(size: int, salt: int) -> Expr:
    values = tuple(Literal(3 * n + salt, INT) for n in range(size))
    return And(tuple(In(column, values) for column in COLUMNS))


def calls_made(work: Callable[[], object]) -> int:
    """How many Python functions a piece of work calls: the same in every run."""
    made = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal made
        made += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return made


def judge(filter_: Expr, blocks: BlockSet) -> None:
    prune(normalize_filter(filter_), blocks)


@pytest.mark.parametrize("features", [0, 40])
@pytest.mark.parametrize(
    "shape",
    [
        ors_over_many_columns,
        ors_over_three_columns,
        nested_ors,
        ands_under_an_or,
        ranges_of_one_column,
        long_ins,
    ],
)
def test_a_filter_of_twice_the_size_takes_no_more_than_twice_the_work(
    shape: Callable[[int, int], Expr], features: int
) -> None:
    blocks = known_blocks(features)
    prune(shape(5, 1), blocks)
    work = {}
    for size in (60, 120, 240):
        filter_ = shape(size, 10_000 * size)  # other constants each time, so that nothing is remembered
        work[size] = calls_made(partial(judge, filter_, blocks))
    assert work[240] - work[120] < 2.4 * (work[120] - work[60]) + 20 * STEPS


def test_the_budget_is_never_exceeded_and_what_it_did_not_suffice_for_is_named() -> None:
    blocks, budget = known_blocks(features=40), Budget()
    possible = tuple(
        Or((compare("=", A, n), compare(">=", B, -n), compare("=", C, 2 * n))) for n in range(300)
    )
    decision = prune(And(possible), blocks, budget)
    assert not decision.skip.any()
    assert 0 <= budget.left < STEPS
    (cut,) = {(unused.code.name, unused.sentence) for unused in decision.unused}
    assert cut == (
        "BUDGET",
        (
            "its alternatives were not compared with all other conditions: "
            "the work budget of a decision, 2,000 steps, was spent"
        ),
    )


def test_ten_ors_get_more_than_one_round_and_one_or_is_never_cut_short() -> None:
    blocks = known_blocks(features=0)
    assert prune(ors_over_three_columns(1, 1), blocks).unused == ()
    # c0 is at least 2 or at most -2 by the first ten, and each branch of the last contradicts both.
    tens = tuple(
        Or((compare(">", A, n + 2), compare("<", A, -2 - n), compare("=", B, 99 + n))) for n in range(10)
    )
    last = Or(
        (And((compare("=", A, 0), compare("<", B, 50))), And((compare("=", A, 1), compare("<", B, 60))))
    )
    assert prune(And((*tens, last)), blocks).skip.all()


def test_the_same_filter_gets_the_same_decision_again() -> None:
    blocks, filter_ = known_blocks(features=40), ors_over_many_columns(60, 3)
    one, two = prune(filter_, blocks), prune(filter_, blocks)
    assert one.skip.tolist() == two.skip.tolist()
    assert one.unused == two.unused


def deep(levels: int) -> Expr:
    found: Expr = compare(">", A, 1)
    for level in range(levels // 2):
        found = Or((And((found, compare(">", COLUMNS[level % 12], level))), compare("<", B, -level)))
    return found


def test_a_condition_that_is_nested_too_deep_is_not_used_and_the_others_are() -> None:
    filter_ = And((deep(5000), compare(">", A, 1000)))
    kept = within_limits(filter_)
    assert isinstance(kept, And)
    assert kept.args[1] == compare(">", A, 1000)
    blocks = known_blocks(features=0)
    decision = prune(normalize_filter(kept), blocks)
    assert decision.skip.all()
    assert [unused.detail for unused in decision.unused] == ["TOO_COMPLEX"]
    assert within_limits(deep(MOST_LEVELS - 1)) == deep(MOST_LEVELS - 1)


def test_a_condition_of_too_many_parts_is_not_judged_and_says_so() -> None:
    def branch(n: int) -> Expr:
        # Each contradicts itself, which nobody finds out.
        return And((compare("<", A, n), compare(">", A, n + 9), compare("=", B, n)))

    result = prune(Or(tuple(map(branch, range(4000)))), known_blocks(features=0))
    assert not result.skip.any()
    assert [unused.code.name for unused in result.unused] == ["TOO_COMPLEX"]


def test_a_budget_counts_what_is_taken_and_refuses_what_is_more_than_is_left() -> None:
    budget = Budget(10)
    assert [budget.take(steps) for steps in (6, 5, 4, 1, 0)] == [True, False, True, False, True]
    assert (budget.left, budget.refused) == (0, True)

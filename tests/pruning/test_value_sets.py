from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from tests.pruning.prune_cases import I, J, S

from skipstone.predicate.expr import (
    And,
    Call,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Opaque,
    Value,
)
from skipstone.predicate.types import INT, STRING
from skipstone.pruning.blocks import ValueSets
from skipstone.pruning.masks import Mask, spread
from skipstone.pruning.value_sets import only_about, satisfied, without_member

SUM = Call("add", (I, J), INT)


def equals(expr: Expr, value: int | str) -> Expr:
    return Comparison("=", expr, Literal(value, STRING if isinstance(value, str) else INT))


def flags(mask: Mask, size: int) -> list[bool]:
    return [bool(flag) for flag in spread(mask, size)]


def of_values(values: Iterable[Value], last: Iterable[Value] | None = None) -> ValueSets:
    """A dictionary of no blocks."""
    words = np.zeros((0, 2), np.uint64)
    return ValueSets(tuple(values), words, np.zeros(0, np.bool_), None if last is None else tuple(last))


def test_a_predicate_is_only_about_what_it_reads_all_its_columns_through() -> None:
    assert only_about(equals(I, 1), I)
    assert only_about(equals(SUM, 1), SUM)
    assert not only_about(equals(SUM, 1), I)
    assert not only_about(And((equals(SUM, 1), equals(I, 1))), SUM)
    assert not only_about(equals(I, 1), J)
    assert not only_about(equals(Literal(1, INT), 1), I)


def test_values_that_satisfy_a_predicate_or_cannot_be_evaluated_have_their_bit() -> None:
    words, null = satisfied(Like(S, "%a%"), S, of_values("abcaba"))
    assert (words.tolist(), null) == ([0b101001], False)
    assert satisfied(IsNull(S), S, of_values("a"))[1]
    words, null = satisfied(Not(Opaque("udf(s)", "UDF", (S,))), S, of_values("ab"))
    assert (words.tolist(), null) == ([0b11], True)
    many, _ = satisfied(equals(I, 70), I, of_values(range(100)))
    assert many.tolist() == [0, 1 << 6]


def test_ranges_that_a_predicate_may_meet_have_their_bit() -> None:
    texts = of_values("adg", "cfi")
    assert satisfied(equals(S, "e"), S, texts)[0].tolist() == [0b010]
    assert satisfied(equals(S, "c"), S, texts)[0].tolist() == [0b001]
    assert satisfied(equals(S, "cc"), S, texts)[0].tolist() == [0]
    assert satisfied(In(S, (Literal("z", STRING), Literal("i", STRING))), S, texts)[0].tolist() == [0b100]
    assert satisfied(Comparison(">", S, Literal("f", STRING)), S, texts)[0].tolist() == [0b100]
    assert satisfied(IsNull(S), S, texts) == (np.zeros(1, np.uint64), True)
    assert satisfied(Not(Opaque("udf(s)", "UDF", (S,))), S, texts)[0].tolist() == [0b111]
    numbers = of_values((1, 5), (1, 8))
    assert satisfied(equals(I, 3), I, numbers)[0].tolist() == [0]
    assert satisfied(equals(I, 7), I, numbers)[0].tolist() == [0b10]
    # What is computed from a value may be anything.
    more = Call("add", (I, Literal(96, INT)), INT)
    assert satisfied(equals(more, 100), I, of_values((1, 5), (4, 8)))[0].tolist() == [0b11]
    # Two ranges that overlap are two ranges.
    assert satisfied(equals(I, 5), I, of_values((1, 5), (5, 8)))[0].tolist() == [0b11]


def test_a_block_is_ruled_out_by_a_known_set_without_a_member_unless_null_would_do() -> None:
    held = np.array([[0b01], [0b10], [0b00], [0b00]], np.uint64)
    sets = ValueSets(("a", "b"), held, np.array([True, True, True, False]))
    mask = np.array([0b01], np.uint64)
    assert flags(without_member(sets, mask, False, True), 4) == [False, True, True, False]
    assert flags(without_member(sets, mask, True, True), 4) == [False, False, False, False]
    some = np.array([True, True, False, False])
    assert flags(without_member(sets, mask, True, some), 4) == [False, False, True, False]

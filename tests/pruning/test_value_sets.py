from __future__ import annotations

import numpy as np
from tests.pruning.prune_cases import I, J, S

from skipstone.predicate.expr import And, Call, Comparison, Expr, IsNull, Like, Literal, Not, Opaque
from skipstone.predicate.types import INT
from skipstone.pruning.blocks import ValueSets
from skipstone.pruning.masks import Mask, spread
from skipstone.pruning.value_sets import only_about, satisfied, without_member

SUM = Call("add", (I, J), INT)


def equals(expr: Expr, value: int) -> Expr:
    return Comparison("=", expr, Literal(value, INT))


def flags(mask: Mask, size: int) -> list[bool]:
    return [bool(flag) for flag in spread(mask, size)]


def test_a_predicate_is_only_about_what_it_reads_all_its_columns_through() -> None:
    assert only_about(equals(I, 1), I)
    assert only_about(equals(SUM, 1), SUM)
    assert not only_about(equals(SUM, 1), I)
    assert not only_about(And((equals(SUM, 1), equals(I, 1))), SUM)
    assert not only_about(equals(I, 1), J)
    assert not only_about(equals(Literal(1, INT), 1), I)


def test_values_that_satisfy_a_predicate_or_cannot_be_evaluated_have_their_bit() -> None:
    words, null = satisfied(Like(S, "%a%"), S, tuple("abcaba"))
    assert (words.tolist(), null) == ([0b101001], False)
    assert satisfied(IsNull(S), S, ("a",))[1]
    words, null = satisfied(Not(Opaque("udf(s)", "UDF", (S,))), S, ("a", "b"))
    assert (words.tolist(), null) == ([0b11], True)
    many, _ = satisfied(equals(I, 70), I, tuple(range(100)))
    assert many.tolist() == [0, 1 << 6]


def test_a_block_is_ruled_out_by_a_known_set_without_a_member_unless_null_would_do() -> None:
    held = np.array([[0b01], [0b10], [0b00], [0b00]], np.uint64)
    sets = ValueSets(("a", "b"), held, np.array([True, True, True, False]))
    mask = np.array([0b01], np.uint64)
    assert flags(without_member(sets, mask, False, True), 4) == [False, True, True, False]
    assert flags(without_member(sets, mask, True, True), 4) == [False, False, False, False]
    some = np.array([True, True, False, False])
    assert flags(without_member(sets, mask, True, some), 4) == [False, False, True, False]

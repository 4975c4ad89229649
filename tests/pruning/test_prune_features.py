"""Value sets, features, and what is said about predicates of no use."""

from __future__ import annotations

import numpy as np
import pytest
from tests.pruning.prune_cases import D, I, J, K, L, S, T, block_set, packed

from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Opaque,
    Or,
    type_of,
)
from skipstone.predicate.normalize import normalize
from skipstone.predicate.types import BOOLEAN, INT, LONG, STRING
from skipstone.pruning.blocks import BlockSet, Feature
from skipstone.pruning.prune import prune
from skipstone.pruning.reasons import UnusedCode


def compare(op: str, expr: Expr, value: object) -> Comparison:
    return Comparison(op, expr, Literal(value, type_of(expr)))


def ints(*rows: tuple[int | None, ...]) -> list[list[dict[Column, object]]]:
    """One block per tuple of values of i."""
    return [[{I: value} for value in row] for row in rows]


def skipped(filter_: Expr, blocks: BlockSet) -> list[bool]:
    return [bool(skip) for skip in prune(filter_, blocks).skip]


def codes(filter_: Expr, blocks: BlockSet) -> list[str]:
    decision = prune(filter_, blocks)
    return [decision.why(block).code.name for block in range(len(blocks))]


def featured(bits: list[list[int]], features: list[Expr], known: list[list[int]] | None = None) -> BlockSet:
    """Blocks of which nothing is known but their union vectors."""
    union = np.array(bits, bool)
    seen = np.ones_like(union) if known is None else np.array(known, bool)
    named = tuple(Feature(normalize(feature), f"F{index + 1}") for index, feature in enumerate(features))
    return BlockSet(np.full(len(bits), 9, np.int64), {}, named, packed(union), packed(seen))


def test_a_block_without_a_matching_member_is_skipped_by_its_value_set() -> None:
    values = ("red", "blue", "green"), ("blue",), ("violet", None)
    blocks = block_set([[{S: value} for value in row] for row in values], [S], value_sets=lambda key: True)
    contains = Match("contains", S, "l")
    assert skipped(contains, blocks) == [False, False, False]
    assert codes(And((contains, Not(Like(S, "b%e")))), blocks) == ["VALUE_SET"] * 2 + ["ROWS_MIGHT_MATCH"]
    assert codes(Match("rlike", S, "r.d"), blocks)[1:] == ["VALUE_SET", "VALUE_SET"]
    assert skipped(Or((Match("ends_with", S, "n"), IsNull(S))), blocks) == [False, True, False]
    upper = compare("=", Call("upper", (S,), STRING), "RED")
    assert skipped(upper, blocks) == [False, True, True]


def test_a_value_set_of_a_kept_expression_is_used_for_it_and_what_is_built_on_it() -> None:
    lower = Call("lower", (S,), STRING)
    blocks = block_set([[{S: "AB"}], [{S: "CD"}]], [lower], value_sets=lambda key: True)
    assert skipped(Match("contains", lower, "b"), blocks) == [False, True]
    assert skipped(Match("contains", S, "B"), blocks) == [False, False]


def test_an_unknown_value_set_or_null_count_keeps_the_block() -> None:
    known = block_set([[{S: "a"}], [{S: "a"}]], [S], value_sets=lambda key: True)
    sets = known.statistics[S].values
    assert sets is not None
    sets.known[1] = False
    assert skipped(Match("contains", S, "x"), known) == [True, False]
    unsure = block_set([[{S: "a"}]], [S], value_sets=lambda key: True)
    unsure.statistics[S].nulls[0] = -1
    assert skipped(Or((Match("contains", S, "x"), IsNull(S))), unsure) == [False]


def test_a_value_that_cannot_be_evaluated_counts_as_satisfying() -> None:
    blocks = block_set([[{S: "É"}], [{S: "E"}]], [S], value_sets=lambda key: True)
    assert skipped(compare("=", Call("lower", (S,), STRING), "x"), blocks) == [False, True]


def test_union_vectors_skip_as_in_figure_5_of_the_paper() -> None:
    event, product, publisher = (Column((name,), STRING) for name in ("event", "product", "publisher"))
    features: list[Expr] = [
        compare("=", event, "buy"),
        compare("=", product, "jeans"),
        And((compare("=", publisher, "google"), compare("<", I, 0))),
    ]
    blocks = featured([[1, 1, 0], [0, 1, 1], [1, 0, 0]], features)
    query = And((compare("=", event, "buy"), compare("=", product, "jeans")))
    decision = prune(query, blocks)
    assert decision.skip.tolist() == [False, True, True]
    assert decision.why(1).sentence == "no row has the feature F1"
    assert decision.why(2).sentence == "no row has the feature F2"
    assert decision.unused == ()


def test_an_unknown_bit_of_a_union_vector_counts_as_set() -> None:
    blocks = featured([[0], [0]], [compare(">", I, 0)], known=[[1], [0]])
    assert skipped(compare(">", I, 5), blocks) == [True, False]


def test_only_features_that_the_filter_implies_are_used() -> None:
    blocks = featured([[0, 0]], [compare(">", I, 5), compare("=", J, 1)])
    assert skipped(compare(">", I, 4), blocks) == [False]
    assert skipped(compare(">", I, 5), blocks) == [True]
    assert skipped(And((compare(">", I, 4), compare("=", J, 1))), blocks) == [True]


def test_a_feature_beyond_the_first_word_is_found() -> None:
    features: list[Expr] = [compare("=", I, index) for index in range(130)]
    bits = np.ones((2, 130), int)
    bits[1, 129] = 0
    blocks = featured(bits.tolist(), features)
    assert skipped(compare("=", I, 129), blocks) == [False, True]
    assert skipped(compare("=", I, 128), blocks) == [False, False]


def test_a_conjunctive_feature_serves_a_filter_that_has_an_or() -> None:
    feature = And((compare("=", I, 1), compare("=", J, 2)))
    blocks = featured([[0], [1]], [feature])
    inner = Or((And((compare("=", I, 1), compare("<", K, 5))), And((compare("=", I, 1), compare(">", K, 9)))))
    assert codes(And((inner, compare("=", J, 2))), blocks)[1] == "ROWS_MIGHT_MATCH"
    assert skipped(And((inner, compare("=", J, 2))), blocks) == [True, False]


def test_a_feature_and_bounds_rule_out_one_branch_each() -> None:
    plain = block_set([[{I: 1, J: 0}], [{I: 7, J: 0}]], [I])
    feature = Feature(normalize(compare("=", J, 5)), "F1")
    blocks = BlockSet(
        plain.rows, plain.statistics, (feature,), np.zeros((2, 1), np.uint64), np.ones((2, 1), np.uint64)
    )
    assert skipped(Or((compare("=", I, 7), compare("=", J, 5))), blocks) == [True, False]


def test_more_implied_features_than_are_named_still_skip() -> None:
    features: list[Expr] = [compare(">", I, index) for index in range(70)]
    bits = np.ones((1, 70), int)
    bits[0, 69] = 0
    assert skipped(compare(">", I, 100), featured(bits.tolist(), features)) == [True]


def test_blocks_without_rows_are_skipped() -> None:
    blocks = BlockSet.of(np.array([0, 1, -1], np.int64), {})
    assert codes(compare(">", I, 1), blocks) == ["NO_ROWS", "ROWS_MIGHT_MATCH", "ROWS_MIGHT_MATCH"]


def test_a_filter_that_is_always_true_reads_everything() -> None:
    blocks = block_set(ints((1,), (2,)), [I])
    assert skipped(Literal(True, BOOLEAN), blocks) == [False, False]


def test_no_blocks_at_all_give_an_empty_decision() -> None:
    assert skipped(compare(">", I, 1), block_set([], [I])) == []


@pytest.mark.parametrize(
    ("predicate", "code", "word"),
    [
        (Opaque("f(i)", "UDF", (I,)), UnusedCode.OPAQUE, "UDF"),
        (Or((compare("=", I, 1), Opaque("f(i)", "UDF", (I,)))), UnusedCode.OPAQUE, "UDF"),
        (compare("=", K, 1), UnusedCode.NO_STATISTICS, "k"),
        (Match("contains", S, "x"), UnusedCode.NO_BOUNDS, "value set"),
        (compare("=", Call("lower", (S,), STRING), "x"), UnusedCode.NOT_MONOTONE, "lower"),
        (compare("=", Call("lower", (T,), STRING), "x"), UnusedCode.NO_STATISTICS, "t"),
        (IsNull(K), UnusedCode.NO_STATISTICS, "k"),
        (Comparison("<", I, K), UnusedCode.NO_STATISTICS, "k"),
    ],
)
def test_a_predicate_of_no_use_is_reported_with_a_reason(
    predicate: Expr, code: UnusedCode, word: str
) -> None:
    blocks = block_set([[{I: 1, S: "a"}]], [I, S])
    (unused,) = prune(predicate, blocks).unused
    assert unused.code is code
    assert word in unused.sentence
    assert prune(predicate, blocks).skip.tolist() == [False]


def test_a_useful_predicate_is_not_reported_even_if_it_skips_nothing() -> None:
    blocks = block_set([[{I: 1, S: "a", D: 1.0, L: 1}]], [I, S, D, L])
    for predicate in (compare(">", I, 0), Not(IsNull(S)), compare("<", D, 9.0), Comparison("<=", L, L)):
        assert prune(predicate, blocks).unused == ()


def test_the_fortieth_value_of_a_set_has_a_bit_of_its_own() -> None:
    rows = [[{I: value} for value in range(40)], [{I: 5}], [{I: 37}]]
    blocks = block_set(rows, [I], value_sets=lambda key: True)
    seventh = Comparison("=", Call("remainder", (I, Literal(32, INT)), INT), Literal(5, INT))
    assert skipped(compare("=", I, 37), blocks) == [False, True, False]
    assert skipped(compare("=", I, 5), blocks) == [False, False, True]
    assert skipped(seventh, blocks) == [False, False, False], "what cannot be evaluated may hold"


def test_a_value_set_of_another_type_is_not_used() -> None:
    blocks = block_set([[{I: 5}]], [I], value_sets=lambda key: True)
    was = Column(I.path, LONG)
    mislabelled = BlockSet.of(blocks.rows, {was: blocks.statistics[I]})
    odd = Comparison("=", was, Literal(7, LONG))
    assert skipped(Or((odd, And((odd, odd)))), mislabelled) == [False]
    assert mislabelled.value_keys == ()


def test_a_branch_is_judged_by_a_value_set_together_with_what_holds_outside() -> None:
    rows: list[list[dict[Column, object]]] = [[{S: "xa", I: 1}, {S: "xb", I: 2}], [{S: "ab", I: 1}]]
    blocks = block_set(rows, [S, I], value_sets=lambda key: key == S)
    either = Or((Match("contains", S, "b"), compare("=", I, 99)))
    assert skipped(either, blocks) == [False, False]
    assert skipped(And((Match("contains", S, "a"), either)), blocks) == [True, False]


def test_a_feature_over_a_branch_and_what_holds_outside_is_used() -> None:
    both = And((compare("=", I, 1), compare("=", J, 2)))
    rows: list[list[dict[Column, object]]] = [[{I: 1, J: 3, K: 5}, {I: 0, J: 2, K: 5}], [{I: 1, J: 2, K: 5}]]
    blocks = block_set(rows, [I, J, K], features=[both])
    filter_ = And((Or((compare("=", I, 1), compare("=", K, 99))), compare("=", J, 2)))
    assert skipped(filter_, blocks) == [True, False]

"""Each rule on the smallest blocks that show it; skipped blocks carry the reason that the rule gives."""

from __future__ import annotations

import pytest
from tests.pruning.prune_cases import I, J, S, T, block_set

from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    In,
    IsNull,
    Literal,
    Not,
    Or,
    type_of,
)
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.types import BOOLEAN, DATE, INT, LONG, STRING, Type
from skipstone.pruning.blocks import BlockSet
from skipstone.pruning.budget import Budget
from skipstone.pruning.prune import prune, prune_block
from skipstone.pruning.reasons import Answer, Code


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


def test_a_range_skips_blocks_on_both_sides_and_says_which_predicate_did_it() -> None:
    blocks = block_set(ints((1, 3), (4, 6), (8, 9)), [I])
    decision = prune(And((compare(">=", I, 4), compare("<=", I, 6))), blocks)
    assert decision.skip.tolist() == [True, False, True]
    assert decision.why(0).sentence == "min/max of i cannot satisfy i >= 4"
    assert decision.why(2).sentence == "min/max of i cannot satisfy i <= 6"
    assert decision.why(1).code is Code.ROWS_MIGHT_MATCH
    assert decision.unused == ()


def test_the_answer_for_a_single_block_has_a_name() -> None:
    blocks = block_set(ints((1, 3)), [I])
    assert prune_block(compare(">", I, 3), blocks) is Answer.ROWS_CANNOT_MATCH
    assert prune_block(compare(">", I, 2), blocks) is Answer.ROWS_MIGHT_MATCH


def test_an_in_list_skips_blocks_between_its_values() -> None:
    blocks = block_set(ints((1, 3), (4, 6), (8, 9)), [I])
    values = tuple(Literal(value, INT) for value in (3, 7, 20))
    assert skipped(In(I, values), blocks) == [False, True, True]


def test_a_long_in_list_of_texts_is_judged_by_its_span() -> None:
    blocks = block_set([[{S: "a"}], [{S: "k9999"}], [{S: "z"}]], [S])
    many = tuple(Literal(f"k{value}", STRING) for value in range(100))
    assert skipped(In(S, many), blocks) == [True, True, True]
    assert skipped(In(S, (*many, Literal("zz", STRING))), blocks) == [True, False, False]


def test_conjuncts_over_one_expression_are_met_before_they_are_compared() -> None:
    blocks = block_set(ints((0, 9), (0, 10)), [I])
    filter_ = And((In(I, (Literal(1, INT), Literal(10, INT))), compare(">", I, 5)))
    assert codes(filter_, blocks) == ["COMBINED", "ROWS_MIGHT_MATCH"]


def test_a_contradiction_skips_everything_even_without_statistics() -> None:
    blocks = block_set(ints((0, 9)), [])
    assert codes(And((compare(">", I, 5), compare("<", I, 3))), blocks) == ["CONTRADICTION"]
    assert codes(And((compare(">", I, 5), compare("<", I, 6))), blocks) == ["CONTRADICTION"]
    assert codes(And((IsNull(I), compare("<", I, 6))), blocks) == ["CONTRADICTION"]
    assert codes(Literal(None, BOOLEAN), blocks) == ["CONTRADICTION"]


def test_an_or_over_one_expression_skips_blocks_in_the_gap() -> None:
    blocks = block_set(ints((1, 2), (4, 6), (8, 9)), [I])
    assert skipped(Or((compare("<", I, 3), compare(">", I, 7))), blocks) == [False, True, False]


def test_an_or_over_two_columns_skips_where_no_branch_can_hold() -> None:
    blocks = block_set([[{I: 1, J: 1}], [{I: 1, J: 5}], [{I: 5, J: 1}]], [I, J])
    assert codes(Or((compare("=", I, 5), compare("=", J, 5))), blocks) == [
        "COMBINED",
        "ROWS_MIGHT_MATCH",
        "ROWS_MIGHT_MATCH",
    ]


def test_a_branch_is_judged_together_with_the_other_conjuncts() -> None:
    blocks = block_set([[{I: 1, J: 0}, {I: 9, J: 0}]], [I, J])
    filter_ = And(
        (Or((And((compare("=", J, 0), compare("<", I, 3))), compare("=", J, 5))), compare(">", I, 4))
    )
    assert skipped(filter_, blocks) == [True]


def test_two_ors_are_judged_as_their_product() -> None:
    blocks = block_set([[{I: 1, J: 9}, {I: 9, J: 1}]], [I, J])
    first = Or((And((compare("<", I, 3), compare("<", J, 3))), compare(">", I, 20)))
    second = Or(
        (And((compare(">", I, 5), compare("<", J, 30))), And((compare(">", J, 5), compare("<", I, 30))))
    )
    assert skipped(And((first, second)), blocks) == [True]


def test_beyond_the_budget_branches_are_judged_alone() -> None:
    blocks = block_set([[{I: 1, J: 0}, {I: 9, J: 0}]], [I, J])
    branches = tuple(And((compare("=", J, index), compare("<", I, 3))) for index in range(20))
    filter_ = And((Or(branches), compare(">", I, 4)))
    assert skipped(filter_, blocks) == [True]
    decision = prune(filter_, blocks, Budget(0))
    assert decision.skip.tolist() == [False]
    assert [unused.code.name for unused in decision.unused] == ["BUDGET"]
    assert decision.unused[0].predicate == normalize_filter(Or(branches))
    assert prune(Or((compare("=", I, 50), compare("=", J, 50))), blocks, Budget(0)).skip.tolist() == [True]


def test_columns_are_compared_with_each_other_by_their_bounds() -> None:
    blocks = block_set([[{I: 1, J: 5}, {I: 4, J: 9}], [{I: 5, J: 1}, {I: 9, J: 5}]], [I, J])
    assert skipped(Comparison("<", I, J), blocks) == [False, True]
    assert skipped(Comparison("<=", I, J), blocks) == [False, False]
    assert skipped(Comparison(">=", I, J), blocks) == [True, False]
    assert skipped(Comparison("=", I, J), blocks) == [True, False]
    same = block_set([[{I: 3, J: 3}], [{I: 3, J: 4}]], [I, J])
    assert skipped(Not(Comparison("=", I, J)), same) == [True, False]
    texts = block_set([[{S: "b", T: "a"}], [{S: "a", T: "b"}]], [S, T])
    assert skipped(Comparison("<=", S, T), texts) == [True, False]


def test_expressions_are_compared_with_each_other_by_derived_bounds() -> None:
    blocks = block_set([[{I: 1, J: 5}], [{I: 4, J: 5}]], [I, J])
    moved = Call("add", (I, Literal(2, INT)), INT)
    assert skipped(Comparison(">", moved, J), blocks) == [True, False]


@pytest.mark.parametrize(
    ("expr", "op", "value", "expected"),
    [
        (Call("add", (I, Literal(10, INT)), INT), ">", 14, [True, False]),
        (Call("subtract", (I, J), INT), "<", -3, [False, True]),
        (Call("multiply", (I, Literal(-2, INT)), INT), "<", -8, [True, False]),
        (Call("negate", (I,), INT), ">", -5, [False, True]),
        (Call("abs", (Call("negate", (I,), INT),), INT), "<", 5, [False, True]),
        (Call("cast", (I,), LONG), ">", 4, [True, False]),
        (Call("cast", (I,), Type.parse("double")), ">", 4.5, [True, False]),
        (Call("coalesce", (I, Literal(4, INT)), INT), ">", 4, [True, False]),
        (Call("if", (IsNull(J), I, Literal(4, INT)), INT), ">", 4, [True, False]),
    ],
)
def test_bounds_go_through_arithmetic_and_monotone_calls(
    expr: Expr, op: str, value: object, expected: list[bool]
) -> None:
    blocks = block_set([[{I: 1, J: 5}, {I: 4, J: 5}], [{I: 5, J: 2}, {I: 9, J: 2}]], [I, J])
    assert skipped(compare(op, expr, value), blocks) == expected


def test_bounds_go_through_year_trunc_and_prefixes() -> None:
    day = Column(("day",), DATE)
    blocks = block_set([[{day: 0, S: "apple"}], [{day: 366, S: "berry"}], [{day: -1, S: "cherry"}]], [day, S])
    assert skipped(compare("=", Call("year", (day,), INT), 1971), blocks) == [True, False, True]
    assert skipped(compare("=", Call("year", (day,), INT), 1969), blocks) == [True, True, False]
    month = Call("trunc", (day, Literal("MM", STRING)), DATE)
    assert skipped(compare("=", month, -31), blocks) == [True, True, False]
    prefix = Call("substring", (S, Literal(1, INT), Literal(2, INT)), STRING)
    assert skipped(compare("=", prefix, "be"), blocks) == [True, False, True]


def test_null_goes_through_strict_calls_that_have_no_bounds() -> None:
    blocks = block_set([[{S: None}], [{S: "x"}]], [S])
    assert codes(compare("=", Call("lower", (S,), STRING), "x"), blocks) == ["NULL_COUNT", "ROWS_MIGHT_MATCH"]


def test_kept_statistics_of_an_expression_are_used_before_those_of_its_parts() -> None:
    total = Call("add", (I, J), INT)
    blocks = block_set([[{I: 0, J: 9}, {I: 9, J: 0}]], [I, J, total])
    assert skipped(compare("=", total, 3), blocks) == [True]


def test_a_block_that_two_conditions_rule_out_has_the_first_reason() -> None:
    blocks = block_set([[{I: 1, S: "a"}], [{I: 9, S: "a"}], [{I: 9, S: "x"}]], [I, S])
    result = prune(And((compare(">", I, 5), compare("=", S, "x"), compare(">=", I, 4))), blocks)
    assert result.skip.tolist() == [True, True, False]
    codes = [result.why(block).code.name for block in range(3)]
    assert codes == ["MIN_MAX", "MIN_MAX", "ROWS_MIGHT_MATCH"]
    assert result.why(0).predicate in (compare(">", I, 5), compare(">=", I, 4))
    assert result.why(1).predicate == compare("=", S, "x")

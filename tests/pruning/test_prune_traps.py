"""One test for each way in which other systems skipped a block that they should have read."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from tests.pruning.prune_cases import D, E, I, J, L, P, S, W, block_set

from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Opaque,
    Or,
)
from skipstone.predicate.truncate import truncate_max
from skipstone.predicate.types import DATE, DOUBLE, INT, LONG, STRING, Type
from skipstone.pruning.blocks import BlockSet, Statistics
from skipstone.pruning.prune import prune
from skipstone.pruning.reasons import UnusedCode


def lit(value: object, type_: Type = INT) -> Literal:
    return Literal(value, type_)


def compare(op: str, column: Expr, value: object) -> Comparison:
    return Comparison(op, column, Literal(value, column.type))  # type: ignore[union-attr]


def skipped(filter_: Expr, blocks: BlockSet) -> list[bool]:
    return [bool(skip) for skip in prune(filter_, blocks).skip]


def one(
    type_: Type, arrow: pa.DataType, low: object, high: object, *, nulls: int = 0, nans: int = 0
) -> Statistics:
    counts = np.array([nulls], np.int64), np.array([nans], np.int64)
    return Statistics(type_, pa.array([low], arrow), pa.array([high], arrow), *counts)


def single(column: Column, statistics: Statistics, rows: int = 10) -> BlockSet:
    return BlockSet.of(np.array([rows], np.int64), {column: statistics})


def test_nan_in_min_max_keeps_the_block_for_greater_than_and_for_equality_with_nan() -> None:
    blocks = block_set([[{D: 1.0}, {D: math.nan}], [{D: 1.0}]], [D])
    assert skipped(compare(">", D, 5.0), blocks) == [False, True]
    assert skipped(compare("=", D, math.nan), blocks) == [False, True]
    assert skipped(compare("<", D, 0.0), blocks) == [True, True]
    assert skipped(And((compare(">", D, 5.0), compare("<", D, 9.0))), blocks) == [True, True]


def test_nan_stored_as_a_bound_is_no_bound() -> None:
    blocks = single(D, one(DOUBLE, pa.float64(), math.nan, math.nan))
    assert skipped(compare("=", D, 1.0), blocks) == [False]


def test_an_unknown_nan_count_keeps_the_block_where_nan_would_match() -> None:
    blocks = single(D, one(DOUBLE, pa.float64(), 0.0, 1.0, nans=-1))
    assert skipped(compare(">", D, 5.0), blocks) == [False]
    assert skipped(Not(compare("=", D, 0.5)), blocks) == [False]
    assert skipped(compare("=", D, 5.0), blocks) == [True]


@pytest.mark.parametrize(("nulls", "rows"), [(-1, 10), (-1, -1), (10, -1), (9, 10), (11, 10)])
def test_missing_statistics_are_not_read_as_all_null(nulls: int, rows: int) -> None:
    blocks = single(I, one(INT, pa.int64(), None, None, nulls=nulls), rows)
    assert skipped(compare("=", I, 1), blocks) == [False]
    assert skipped(Not(IsNull(I)), blocks) == [False]


def test_like_prefix_bounds_reach_to_the_next_prefix_and_no_further() -> None:
    values = ("abb\U0010ffff", "abc", "abc\U0010ffff\U0010ffff", "abd", "ab")
    blocks = block_set([[{S: value}] for value in values], [S])
    assert skipped(Match("starts_with", S, "abc"), blocks) == [True, False, False, True, True]
    assert skipped(Like(S, "abc%x_"), blocks) == [True, False, False, True, True]
    assert skipped(Not(Match("starts_with", S, "abc")), blocks) == [False, True, True, False, False]


def test_a_like_prefix_of_the_last_character_has_no_upper_bound() -> None:
    blocks = block_set([[{S: "\U0010ffff\U0010ffffz"}], [{S: "\U0010fffe"}]], [S])
    assert skipped(Match("starts_with", S, "\U0010ffff"), blocks) == [False, True]


def test_an_escaped_wildcard_belongs_to_the_prefix() -> None:
    blocks = block_set([[{S: "a%b"}], [{S: "axb"}]], [S])
    assert skipped(Like(S, "a\\%_"), blocks) == [False, True]


def test_a_truncated_maximum_with_multi_byte_characters_stays_above_the_value() -> None:
    for text in ("aé\U0001f600zz", "ab\ud7ffz", "ab\U0010ffffz", "éééé"):
        high = truncate_max(text, 3)
        blocks = single(S, one(STRING, pa.string(), "a", high))
        assert skipped(compare("=", S, text), blocks) == [False], text
        assert skipped(compare(">=", S, text), blocks) == [False], text
    assert skipped(compare("=", S, "\U0010ffff"), single(S, one(STRING, pa.string(), "a", "b"))) == [True]


def test_texts_compare_in_utf8_order_and_not_in_utf16_order() -> None:
    # In UTF-16 the emoji begins with a surrogate, D83D, and would come before U+FFFF.
    blocks = block_set([[{S: "\uffff"}], [{S: "\U0001f600"}]], [S])
    assert skipped(compare(">", S, "\uffff"), blocks) == [True, False]
    assert skipped(compare("<", S, "\U0001f600"), blocks) == [False, True]
    wide = block_set([[{S: "\ue000"}, {S: "\U0001f600"}]], [S])
    assert skipped(compare("=", S, "\uffff"), wide) == [False]


def test_texts_that_share_their_first_eight_bytes_are_compared_to_the_end() -> None:
    blocks = block_set([[{S: "Customer#0001"}], [{S: "Customer#0002"}], [{S: "Customer"}]], [S])
    assert skipped(compare("=", S, "Customer#0002"), blocks) == [True, False, True]
    assert skipped(compare("<", S, "Customer#"), blocks) == [True, True, False]
    assert skipped(compare("=", S, "Customer\0"), blocks) == [True, True, True]


def test_is_null_with_an_unknown_null_count_keeps_the_block() -> None:
    for nulls, answer in ((-1, False), (0, True), (3, False)):
        assert skipped(IsNull(I), single(I, one(INT, pa.int64(), 1, 5, nulls=nulls))) == [answer]


def test_negations_over_nulls_skip_only_blocks_without_another_value() -> None:
    blocks = block_set(
        [[{I: 5}], [{I: 5}, {I: None}], [{I: None}], [{I: 5}, {I: 6}], [{I: 6}, {I: None}]], [I]
    )
    assert skipped(Not(compare("=", I, 5)), blocks) == [True, True, True, False, False]
    assert skipped(Not(In(I, (lit(5), lit(6)))), blocks) == [True, True, True, True, True]
    assert skipped(Not(In(I, (lit(5), lit(None)))), blocks) == [True] * 5
    assert skipped(Not(compare("<=>", I, 5)), blocks) == [True, False, False, False, False]
    assert skipped(Not(And((compare("=", I, 5), IsNull(J)))), blocks) == [False] * 5


def test_null_safe_equality_looks_for_nulls_with_null_and_for_values_otherwise() -> None:
    blocks = block_set([[{I: 5}], [{I: None}], [{I: 4}, {I: None}]], [I])
    assert skipped(compare("<=>", I, None), blocks) == [True, False, False]
    assert skipped(compare("<=>", I, 5), blocks) == [False, True, True]
    assert skipped(compare("=", I, None), blocks) == [True, True, True]


def test_null_safe_equality_of_two_columns_holds_for_two_nulls() -> None:
    blocks = block_set([[{I: None, J: None}], [{I: 1, J: None}], [{I: 1, J: 2}], [{I: 1, J: 1}]], [I, J])
    assert skipped(Comparison("<=>", I, J), blocks) == [False, True, True, False]
    assert skipped(Comparison("=", I, J), blocks) == [True, True, True, False]


def test_an_unindexed_column_never_skips_alone_nor_in_an_or_but_does_not_hinder_an_and() -> None:
    blocks = block_set([[{I: 5, J: 5}], [{I: 9, J: 9}]], [I])
    here, there = compare("=", I, 5), compare("=", J, 5)
    assert skipped(there, blocks) == [False, False]
    assert skipped(Or((here, there)), blocks) == [False, False]
    decision = prune(And((here, there)), blocks)
    assert decision.skip.tolist() == [False, True]
    assert [unused.code for unused in decision.unused] == [UnusedCode.NO_STATISTICS]
    assert "j" in decision.unused[0].sentence


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (Call("cast", (S,), INT), 9),
        (Call("cast", (I,), STRING), "9"),
        (Call("cast", (L,), INT), 9),
        (Call("lower", (S,), STRING), "zz"),
        (Call("substring", (S, lit(2), lit(1)), STRING), "9"),
        (Call("substring", (S, lit(-1), lit(1)), STRING), "9"),
        (Call("length", (S,), INT), 99),
        (Call("made_up", (I,), INT), 99),
    ],
)
def test_non_monotone_casts_and_functions_conclude_nothing_from_min_and_max(
    call: Call, value: object
) -> None:
    blocks = block_set([[{S: "10", I: 10, L: 10}], [{S: "2", I: 2, L: 2}]], [S, I, L])
    decision = prune(compare("=", call, value), blocks)
    assert decision.skip.tolist() == [False, False]
    assert [unused.code for unused in decision.unused] == [UnusedCode.NOT_MONOTONE]


def test_month_concludes_nothing_without_kept_statistics_and_something_with_them() -> None:
    day = Column(("day",), DATE)
    month = Call("month", (day,), INT)
    rows = [[{day: 0}, {day: 40}], [{day: 180}]]
    assert skipped(compare("=", month, 12), block_set(rows, [day])) == [False, False]
    assert skipped(compare("=", month, 2), block_set(rows, [day, month])) == [False, True]


def test_a_date_cast_to_a_timestamp_needs_a_fixed_zone() -> None:
    day = Column(("day",), DATE)
    stamp = Type.parse("timestamp")
    blocks = block_set([[{day: 0}]], [day])
    there, here = (
        Comparison(">", Call("cast", (day,), stamp, (("timezone", zone),)), Literal(10**14, stamp))
        for zone in ("America/New_York", "UTC")
    )
    assert skipped(there, blocks) == [False]
    assert skipped(here, blocks) == [True]


@pytest.mark.parametrize(
    ("call", "rows"),
    [
        (Call("add", (I, lit(1)), INT), [{I: 2**31 - 1}]),
        (Call("subtract", (I, lit(2)), INT), [{I: -(2**31)}]),
        (Call("multiply", (I, I), INT), [{I: 65536}]),
        (Call("negate", (I,), INT), [{I: -(2**31)}]),
        (Call("abs", (I,), INT), [{I: -(2**31)}]),
        (Call("add", (L, lit(1, LONG)), LONG), [{L: 2**63 - 1}]),
        (Call("subtract", (lit(-2, LONG), L), LONG), [{L: 2**63 - 1}]),
        (Call("multiply", (L, lit(3, LONG)), LONG), [{L: 2**62}]),
        (Call("negate", (L,), LONG), [{L: -(2**63)}]),
    ],
)
def test_integer_overflow_in_an_expression_keeps_the_block(call: Call, rows: list[dict[Column, int]]) -> None:
    blocks = block_set([rows], [I, L])
    for op in ("<", "<=", "=", ">=", ">"):
        for value in (-(2**31), -1, 0, 1, 2**31 - 1):
            assert skipped(compare(op, call, value), blocks) == [False]
    assert skipped(IsNull(call), blocks) == [False]


@pytest.mark.parametrize(("low", "high"), [("-50", "5"), ("-5", "50"), ("-50", "50"), ("-5", "5")])
@pytest.mark.parametrize("unknown", ["low", "high", "both"])
def test_wide_decimals_of_unknown_bounds_are_read_whatever_the_other_blocks_hold(
    low: str, high: str, unknown: str
) -> None:
    # 50 is more than 64 bits in units of 10^-18, so one edge may be wide and the other not.
    arrow = pa.decimal128(38, 18)
    lows = pa.array([Decimal(low), None if unknown != "high" else Decimal(0)], arrow)
    highs = pa.array([Decimal(high), None if unknown != "low" else Decimal(100)], arrow)
    zeros = np.zeros(2, np.int64)
    blocks = BlockSet.of(np.array([10, 10], np.int64), {W: Statistics(W.type, lows, highs, zeros, zeros)})
    ten, twenty = (Literal(Decimal(value), W.type) for value in (10, 20))
    asked: list[Expr] = [
        In(W, (ten, twenty)),
        Or((Comparison("=", W, ten), Comparison(">", W, twenty))),
        Or((Comparison("=", W, ten), Comparison("<", W, Literal(Decimal(-90), W.type)))),
    ]
    for filter_ in asked:
        assert not skipped(filter_, blocks)[1], filter_


@pytest.mark.parametrize("unit", ["YEAR", "MM", "WEEK"])
def test_dates_that_are_truncated_to_before_the_first_of_all_wrap_around(unit: str) -> None:
    day = Column(("day",), DATE)
    truncated = Call("trunc", (day, Literal(unit, STRING)), DATE)
    late = Comparison(">", truncated, Literal(18_262, DATE))
    for first, skip in ((-(2**31), False), (-(2**31) + 300, False), (-(2**31) + 400, True), (0, True)):
        blocks = single(day, one(DATE, pa.int64(), first, 100))
        assert skipped(late, blocks) == [skip], first
    assert skipped(late, single(day, one(DATE, pa.int64(), None, 100))) == [False]


def test_not_in_with_null_keeps_blocks_with_nan_for_some_ways_of_evaluating_it_let_nan_through() -> None:
    values = tuple(Literal(float(value), DOUBLE) for value in range(12))
    blocks = block_set([[{D: 1.0}, {D: math.nan}], [{D: 100.0}]], [D])
    assert skipped(Not(In(D, (*values, Literal(None, DOUBLE)))), blocks) == [False, True]
    numbers = block_set([[{I: 100}]], [I])
    assert skipped(Not(In(I, (lit(1), lit(None)))), numbers) == [True]


def test_opaque_expressions_that_look_the_same_do_not_contradict_each_other() -> None:
    # The text of an opaque part names a function, not its arguments, and each evaluation may differ.
    odd = Call("add", (Opaque("udf", "UDF", (I,), INT), I), INT)
    blocks = block_set([[{I: 1}], [{I: None}]], [I])
    both = And((Comparison("<", odd, lit(1)), Comparison(">", odd, lit(2))))
    assert skipped(both, blocks) == [False, True]
    assert skipped(And((IsNull(odd), Not(IsNull(odd)))), blocks) == [False, True]
    assert skipped(And((Comparison("=", odd, lit(1)), Not(Comparison("=", odd, lit(1))))), blocks) == [
        False,
        True,
    ]


def test_a_column_that_is_nothing_but_nan_is_not_taken_for_null_beside_another() -> None:
    blocks = block_set([[{D: math.nan, E: 1.0}], [{D: None, E: 1.0}]], [D, E])
    assert skipped(Comparison("<", E, D), blocks) == [False, True]


def test_decimals_of_two_scales_are_not_compared_by_their_digits() -> None:
    fine = Column(("q",), Type.parse("decimal(6,3)"))
    blocks = block_set([[{P: Decimal("2.55"), fine: Decimal("1.000")}]], [P, fine])
    assert skipped(Comparison(">", P, fine), blocks) == [False]

"""Statistics at the limits of what they can hold, of the wrong type, or damaged."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
from tests.pruning.prune_cases import B, I, L, S, block_set

from skipstone.predicate.expr import (
    Column,
    Comparison,
    Expr,
    In,
    Literal,
    Not,
)
from skipstone.predicate.types import INT, LONG, Type
from skipstone.pruning.blocks import BlockSet, Statistics
from skipstone.pruning.prune import prune
from skipstone.pruning.reasons import Code, UnusedCode


def lit(value: object, type_: Type = INT) -> Literal:
    return Literal(value, type_)


def compare(op: str, column: Expr, value: object) -> Comparison:
    return Comparison(op, column, Literal(value, column.type))  # type: ignore[union-attr]


def skipped(filter_: Expr, blocks: BlockSet) -> list[bool]:
    return [bool(skip) for skip in prune(filter_, blocks).skip]


def test_bounds_at_the_ends_of_64_bits_are_bounds() -> None:
    least, most = -(2**63), 2**63 - 1
    blocks = block_set([[{L: least}], [{L: most}], [{L: 0}]], [L])
    for value, answer in ((least, [False, True, True]), (most, [True, False, True])):
        assert skipped(compare("=", L, value), blocks) == answer
        assert skipped(In(L, (lit(7, LONG), lit(value, LONG))), blocks) == answer
        assert not any(
            a and not b for a, b in zip(skipped(compare("<=>", L, value), blocks), answer, strict=True)
        )
    assert skipped(compare("<=", L, most), blocks) == [False] * 3
    assert skipped(compare(">=", L, least), blocks) == [False] * 3


def test_unknown_wide_decimals_are_not_taken_for_64_bit_numbers() -> None:
    wide = Type.parse("decimal(38,0)")
    w, v = Column(("w",), wide), Column(("v",), wide)
    huge = Decimal(-(10**30))
    rows = np.array([2], np.int64)
    zero = np.zeros(1, np.int64)
    arrow = pa.decimal128(38, 0)
    known = Statistics(wide, pa.array([huge], arrow), pa.array([huge], arrow), zero, zero)
    half = Statistics(wide, pa.array([None], arrow), pa.array([Decimal(5)], arrow), zero, zero)
    blocks = BlockSet.of(rows, {w: known, v: half})
    assert skipped(Comparison("<", v, w), blocks) == [False]
    assert skipped(compare("<", v, huge), blocks) == [False]
    assert skipped(compare(">", v, Decimal(10**30)), blocks) == [True]
    assert skipped(compare("=", w, huge), blocks) == [False]


def test_statistics_of_another_type_are_not_used() -> None:
    was, now = Column(("x",), INT), Column(("x",), LONG)
    blocks = block_set([[{was: 1}]], [was])
    decision = prune(compare("=", now, 7), blocks)
    assert decision.skip.tolist() == [False]
    assert [unused.code for unused in decision.unused] == [UnusedCode.TYPE_MISMATCH]
    mislabelled = BlockSet.of(blocks.rows, {now: blocks.statistics[was]})
    assert skipped(compare("=", now, 7), mislabelled) == [False]


def test_a_literal_of_another_type_is_not_compared() -> None:
    blocks = block_set([[{I: 1}]], [I])
    decision = prune(Comparison("=", I, lit(7, LONG)), blocks)
    assert decision.skip.tolist() == [False]
    assert [unused.code for unused in decision.unused] == [UnusedCode.TYPE_MISMATCH]


def test_damaged_bounds_are_no_bounds() -> None:
    counts = np.zeros(2, np.int64)
    for column, arrow, low, high, value in (
        (I, pa.int64(), [9, 1], [1, 2], 5),
        (S, pa.string(), ["x", "a"], ["a", "b"], "m"),
    ):
        stored = Statistics(column.type, pa.array(low, arrow), pa.array(high, arrow), counts, counts)
        blocks = BlockSet.of(np.array([1, 1], np.int64), {column: stored})
        assert skipped(compare("=", column, value), blocks) == [False, True]


def test_boolean_columns_are_skipped_by_min_and_max() -> None:
    blocks = block_set([[{B: True}], [{B: False}], [{B: None}], [{B: True}, {B: False}]], [B])
    assert skipped(B, blocks) == [False, True, True, False]
    assert skipped(Not(B), blocks) == [True, False, True, False]
    assert prune(B, blocks).why(2).code is Code.NULL_COUNT

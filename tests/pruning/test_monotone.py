"""Derived bounds against the evaluator: whatever a row makes of a call lies within its block's bounds."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.pruning.prune_cases import B, D, E, F, I, J, L, M, P, S, block_set, order

from skipstone.predicate.evaluate import NotEvaluable, evaluate
from skipstone.predicate.expr import Call, Column, Expr, IsNull, Literal, Value
from skipstone.predicate.types import DATE, DOUBLE, FLOAT, INT, LONG, STRING, TIMESTAMP_NTZ, Kind, Type
from skipstone.predicate.value_ranges import encode
from skipstone.pruning.blocks import BlockSet, Statistics
from skipstone.pruning.bound_arrays import MAX, MIN, BoundArray, TextBounds
from skipstone.pruning.bounds import Bounds
from skipstone.pruning.scope import Scope

PRICE, Q = Type.parse("decimal(10,2)"), Column(("q",), Type.parse("decimal(6,3)"))
DAY, TS = Column(("day",), DATE), Column(("ts",), TIMESTAMP_NTZ)
G = Column(("g",), FLOAT)
SEVEN = Literal(7, INT)

CALLS: list[Call] = [
    *(Call(op, (I, J), INT) for op in ("add", "subtract", "multiply")),
    *(Call(op, (L, M), LONG) for op in ("add", "subtract", "multiply")),
    *(Call(op, (D, E), DOUBLE) for op in ("add", "subtract", "multiply")),
    *(Call(op, (F, G), FLOAT) for op in ("add", "subtract", "multiply")),
    *(Call(op, (P, Q), Type.parse("decimal(12,3)")) for op in ("add", "subtract")),
    Call("multiply", (P, Q), Type.parse("decimal(17,5)")),
    Call("multiply", (P, Q), Type.parse("decimal(17,4)")),
    *(Call(name, (column,), column.type) for name in ("negate", "abs") for column in (I, L, D, F, P)),
    *(Call(name, (D,), LONG) for name in ("floor", "ceil")),
    *(Call(name, (P,), Type.parse("decimal(9,0)")) for name in ("floor", "ceil")),
    *(Call("cast", (I,), type_) for type_ in (LONG, DOUBLE, FLOAT, Type.parse("decimal(14,3)"))),
    *(Call("cast", (L,), type_) for type_ in (DOUBLE, FLOAT, Type.parse("decimal(20,0)"), INT)),
    *(Call("cast", (P,), type_) for type_ in (DOUBLE, Type.parse("decimal(14,5)"))),
    Call("cast", (F,), DOUBLE),
    Call("cast", (DAY,), TIMESTAMP_NTZ),
    Call("cast", (TS,), DATE),
    Call("year", (DAY,), INT),
    Call("substring", (S, Literal(1, INT), Literal(2, INT)), STRING),
    Call("coalesce", (I, SEVEN), INT),
    Call("coalesce", (I, J), INT),
    Call("if", (IsNull(J), I, SEVEN), INT),
    Call("case_when", (B, I, IsNull(J), SEVEN), INT),
    Call("add", (Call("multiply", (I, SEVEN), INT), Call("negate", (J,), INT)), INT),
]


def random_value(rng: random.Random, column: Column) -> Value:
    near = rng.random() < 0.8
    match column.type.kind:
        case Kind.INT:
            return rng.randint(-20, 20) if near else rng.choice((-(2**31), 2**31 - 1, 2**30, -(2**16)))
        case Kind.LONG:
            return (
                rng.randint(-20, 20)
                if near
                else rng.choice((-(2**63), 2**63 - 1, 2**62, 2**53 + 1, -(2**32)))
            )
        case Kind.DOUBLE:
            odd = (math.inf, -math.inf, math.nan, 1e308, -1e308, 5e-324, -0.0)
            return rng.uniform(-9, 9) if near else rng.choice(odd)
        case Kind.FLOAT:
            large = float(np.float32(3e38))
            few = (math.inf, -math.inf, math.nan, -0.0, large)
            return float(np.float32(rng.uniform(-9, 9))) if near else rng.choice(few)
        case Kind.DECIMAL:
            limit = 10**column.type.precision - 1
            number = rng.randint(-900, 900) if near else rng.choice((limit, -limit, 0))
            return Decimal(number).scaleb(-column.type.scale)
        case Kind.DATE:
            return rng.randint(-800, 800) if near else rng.randint(-719162, 2932896)
        case Kind.TIMESTAMP_NTZ:
            return rng.randint(-(10**12), 10**12) if near else rng.randint(-62135596800 * 10**6, 10**17)
        case Kind.BOOLEAN:
            return near
    return "".join(rng.choice("ab\U0001f600é") for _ in range(rng.randint(0, 4)))


COLUMNS = (I, J, L, M, D, E, F, G, P, Q, DAY, TS, B, S)


def random_rows(rng: random.Random) -> list[dict[Column, Value]]:
    pools = {column: [random_value(rng, column) for _ in range(rng.randint(1, 3))] for column in COLUMNS}
    for pool in pools.values():
        if rng.random() < 0.2:
            pool.append(None)
    return [{column: rng.choice(pool) for column, pool in pools.items()} for _ in range(4)]


def at(edge: BoundArray, block: int) -> Any:
    """The edge of one block; None if unknown."""
    if edge is None:
        return None
    if isinstance(edge, TextBounds):
        text = edge.texts
        return (text if isinstance(text, pa.Scalar) else text[block]).as_py()
    value = edge if edge.ndim == 0 else edge[block]
    return None if value in (MIN, MAX) else value.item() if hasattr(value, "item") else value


def flag(mask: Any, block: int) -> bool:
    return bool(mask if isinstance(mask, bool) or mask.ndim == 0 else mask[block])


def assert_within(bounds: Bounds, block: int, value: Value, type_: Type, context: object) -> None:
    if value is None:
        assert flag(bounds.null, block), context
    elif order(value)[0] == 1:
        assert flag(bounds.nan, block), context
    else:
        assert flag(bounds.value, block), context
        key, low, high = encode(value, type_), at(bounds.low, block), at(bounds.high, block)
        assert low is None or low <= key, (context, low, key)
        assert high is None or key <= high, (context, key, high)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.name} to {call.type}")
def test_every_row_lies_within_the_derived_bounds(call: Call) -> None:
    rng = random.Random(7)
    blocks = [random_rows(rng) for _ in range(150)]
    scope = Scope(block_set(blocks, COLUMNS, rng=rng))
    bounds = scope.bounds(call)
    evaluated = 0
    for number, rows in enumerate(blocks):
        for row in rows:
            try:
                value = evaluate(call, row)
            except NotEvaluable:
                if call.type.integral_range and call.name in ("add", "subtract", "multiply", "negate", "abs"):
                    assert at(bounds.low, number) is None, "overflow must leave the block unknown"
                    assert at(bounds.high, number) is None
                    assert flag(bounds.null, number)
                continue
            evaluated += 1
            assert_within(bounds, number, value, call.type, (call, row))
    assert evaluated > 50


EXACT: list[tuple[Expr, object, object]] = [
    (Call("add", (I, J), INT), 1, 6),
    (Call("subtract", (I, J), INT), 2, 7),
    (Call("multiply", (I, J), INT), -10, 5),
    (Call("negate", (I,), INT), -5, -3),
    (Call("abs", (J,), INT), 0, 2),
    (Call("subtract", (D, E), DOUBLE), 2.0, 7.0),
    (Call("ceil", (P,), Type.parse("decimal(9,0)")), 2, 3),
    (Call("floor", (P,), Type.parse("decimal(9,0)")), 1, 2),
    (Call("cast", (I,), DOUBLE), 3.0, 5.0),
    (Call("coalesce", (I, SEVEN), INT), 3, 5),
]


@pytest.mark.parametrize(("expr", "low", "high"), EXACT)
def test_bounds_are_as_tight_as_intervals_can_be(expr: Call, low: object, high: object) -> None:
    rows = [
        {I: 3, J: -2, D: 3.0, E: -2.0, P: Decimal("1.01")},
        {I: 5, J: 1, D: 5.0, E: 1.0, P: Decimal("2.99")},
    ]
    bounds = Scope(block_set([rows], [I, J, D, E, P])).bounds(expr)
    assert (at(bounds.low, 0), at(bounds.high, 0)) == (low, high)


def test_a_date_before_the_epoch_is_truncated_downwards() -> None:
    bounds = Scope(block_set([[{DAY: -1}]], [DAY])).bounds(
        Call("trunc", (DAY, Literal("week", STRING)), DATE)
    )
    assert (at(bounds.low, 0), at(bounds.high, 0)) == (-3, -3)  # 1969-12-31 was a Wednesday


def test_a_decimal_as_a_double_lies_within_however_it_is_rounded() -> None:
    rng = random.Random(3)
    prices = [Decimal(rng.randint(-(10**10) + 1, 10**10 - 1)).scaleb(-2) for _ in range(500)]
    bounds = Scope(block_set([[{P: price}] for price in prices], [P])).bounds(Call("cast", (P,), DOUBLE))
    for block, price in enumerate(prices):
        assert at(bounds.low, block) < float(price) < at(bounds.high, block)
        assert at(bounds.high, block) - at(bounds.low, block) <= abs(float(price)) * 1e-14


def test_a_decimal_product_that_spark_rounds_has_no_bounds() -> None:
    rounded = Call("multiply", (P, Q), Type.parse("decimal(17,4)"))
    bounds = Scope(block_set([[{P: Decimal("1.50"), Q: Decimal("2.000")}]], [P, Q])).bounds(rounded)
    assert (bounds.low, bounds.high) == (None, None)


def test_an_integer_as_a_float_is_rounded_as_spark_rounds_it() -> None:
    bounds = Scope(block_set([[{I: 16_777_217}]], [I])).bounds(Call("cast", (I,), FLOAT))
    assert (at(bounds.low, 0), at(bounds.high, 0)) == (16_777_216.0, 16_777_216.0)


def test_an_unknown_integer_lies_within_its_type() -> None:
    counts = np.zeros(2, np.int64)
    some = Statistics(INT, pa.array([None, 3]), pa.array([None, 4]), counts, counts)
    bounds = Scope(BlockSet.of(np.array([9, 9]), {I: some})).bounds(Call("cast", (I,), DOUBLE))
    assert (at(bounds.low, 0), at(bounds.high, 0)) == (-(2.0**31), 2.0**31 - 1)


def test_floor_and_ceil_of_nan_are_anywhere_for_spark_makes_zero_of_it() -> None:
    blocks = block_set([[{D: 5.5}, {D: math.nan}], [{D: 5.5}]], [D])
    for name, value in (("floor", 5), ("ceil", 6)):
        bounds = Scope(blocks).bounds(Call(name, (D,), LONG))
        assert (at(bounds.low, 0), at(bounds.high, 0)) == (None, None)
        assert (at(bounds.low, 1), at(bounds.high, 1)) == (value, value)


def test_coalesce_is_null_only_where_every_argument_may_be() -> None:
    rows: list[list[dict[Column, Value]]] = [[{I: 1, J: None}], [{I: None, J: None}], [{I: None, J: 2}]]
    bounds = Scope(block_set(rows, [I, J])).bounds(Call("coalesce", (I, J), INT))
    assert [flag(bounds.null, block) for block in range(3)] == [False, True, False]
    assert [at(bounds.low, block) for block in range(3)] == [None, None, None]


def test_the_year_of_an_unknown_date_is_that_of_the_outermost() -> None:
    counts = np.zeros(2, np.int64)
    some = Statistics(DATE, pa.array([None, 0]), pa.array([None, 400]), counts, counts)
    bounds = Scope(BlockSet.of(np.array([9, 9]), {DAY: some})).bounds(Call("year", (DAY,), INT))
    assert (at(bounds.low, 0), at(bounds.high, 0)) == (-5_877_641, 5_881_580)
    assert (at(bounds.low, 1), at(bounds.high, 1)) == (1970, 1971)

"""``(p) IS NULL`` and ``(p) IS NOT NULL`` over predicates: skipped by NULL counts and bounds, never wrongly.

The cases by name are those of Delta's own suite (DataSkippingDeltaTests, "nulls - ...").
"""

from __future__ import annotations

import itertools
import math
from decimal import Decimal

import pytest
from tests.pruning.prune_cases import P, block_set

from skipstone.predicate.evaluate import NotEvaluable, evaluate
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
    Not,
    Opaque,
    Or,
    Value,
    type_of,
)
from skipstone.predicate.normalize import normalize
from skipstone.predicate.types import BOOLEAN, DOUBLE, INT, STRING, Type
from skipstone.pruning.blocks import BlockSet
from skipstone.pruning.prune import prune

A, B = Column(("a",), INT), Column(("b",), INT)
D, S, T = Column(("d",), DOUBLE), Column(("s",), STRING), Column(("t",), BOOLEAN)


def compare(op: str, left: Expr, value: Value) -> Comparison:
    return Comparison(op, left, Literal(value, type_of(left)))


def skipped(predicate: Expr, blocks: BlockSet) -> bool:
    (answer,) = prune(predicate, blocks).skip.tolist()
    return bool(answer)


ONLY_NULL = block_set([[{A: None}]], [A])
ONLY_VALUES = block_set([[{A: 1, B: 2}]], [A, B])
BOTH = block_set([[{A: None}, {A: 1}]], [A])
PARTIAL = block_set([[{A: 1, B: 2}]], [A])
BIG, LOW = compare(">", A, 1), compare("<", A, 0)
POSITIVE = compare(">", A, 0)


@pytest.mark.parametrize(
    ("blocks", "predicate", "skips"),
    [
        (ONLY_NULL, IsNull(BIG), False),
        (ONLY_NULL, IsNull(And((BIG, POSITIVE))), False),
        (ONLY_NULL, IsNull(Or((BIG, LOW))), False),
        (ONLY_NULL, Not(IsNull(BIG)), True),
        (ONLY_VALUES, IsNull(And((POSITIVE, compare(">", B, 1)))), True),
        (ONLY_VALUES, IsNull(Or((POSITIVE, compare(">", B, 1)))), True),
        (ONLY_VALUES, IsNull(POSITIVE), True),
        (ONLY_VALUES, IsNull(LOW), True),
        (ONLY_VALUES, IsNull(And((BIG, POSITIVE))), True),
        (ONLY_VALUES, IsNull(Or((BIG, LOW))), True),
        (ONLY_VALUES, Not(IsNull(POSITIVE)), False),
        (BOTH, IsNull(POSITIVE), False),
        (BOTH, IsNull(And((BIG, POSITIVE))), False),
        (BOTH, IsNull(Or((BIG, LOW))), False),
        (BOTH, Not(IsNull(POSITIVE)), False),
        (PARTIAL, IsNull(compare(">", B, 0)), False),
        (PARTIAL, IsNull(And((compare(">", B, 1), POSITIVE))), False),
        (PARTIAL, IsNull(Or((compare(">", B, 1), LOW))), False),
        (PARTIAL, IsNull(And((BIG, POSITIVE))), True),
        (ONLY_VALUES, IsNull(In(A, (Literal(7, INT), Literal(9, INT)))), True),
        (ONLY_VALUES, IsNull(In(A, (Literal(1, INT), Literal(None, INT)))), True),
        (ONLY_VALUES, IsNull(In(A, (Literal(7, INT), Literal(None, INT)))), False),
        (ONLY_NULL, IsNull(Comparison("<=>", A, Literal(1, INT))), True),
        (ONLY_VALUES, Comparison("<=>", POSITIVE, Literal(False, BOOLEAN)), True),
        (ONLY_VALUES, Not(Comparison("<=>", POSITIVE, Literal(True, BOOLEAN))), True),
        (ONLY_NULL, Not(Comparison("<=>", POSITIVE, Literal(True, BOOLEAN))), False),
        # b is unknown, but where a is FALSE the AND is not NULL, whatever b is
        (PARTIAL, IsNull(And((LOW, compare(">", B, 1)))), True),
        (PARTIAL, IsNull(Or((POSITIVE, compare(">", B, 1)))), True),
    ],
)
def test_null_tests_of_predicates_skip_by_null_counts_and_bounds(
    blocks: BlockSet, predicate: Expr, skips: bool
) -> None:
    assert skipped(predicate, blocks) is skips


ATOMS: tuple[Expr, ...] = (
    POSITIVE,
    Comparison("<", A, B),
    Comparison("<=>", A, B),
    In(A, (Literal(1, INT), Literal(None, INT))),
    Not(In(D, (Literal(1.0, DOUBLE), Literal(None, DOUBLE)))),
    compare(">=", D, math.nan),
    Like(S, "a_%"),
    T,
    IsNull(B),
    Literal(None, BOOLEAN),
)
DOMAINS: dict[Column, tuple[Value, ...]] = {
    A: (None, 0, 1),
    B: (None, 0),
    D: (None, 1.0, math.nan),
    S: (None, "ab"),
    T: (None, True, False),
}


def structures() -> list[Expr]:
    pairs = [kind(pair) for pair in itertools.combinations(ATOMS, 2) for kind in (And, Or)]
    deeper = [
        kind((pair, ATOMS[index % len(ATOMS)])) for index, pair in enumerate(pairs) for kind in (And, Or)
    ]
    return [*ATOMS, *(Not(atom) for atom in ATOMS), *pairs, *(Not(pair) for pair in pairs), *deeper]


def test_every_null_test_over_every_row_skips_no_block_that_matches_and_most_that_do_not() -> None:
    rows = [dict(zip(DOMAINS, values, strict=True)) for values in itertools.product(*DOMAINS.values())]
    known = block_set([[row] for row in rows], list(DOMAINS))
    wrong, possible, found = [], 0, 0
    for part in structures():
        for predicate in (IsNull(part), Not(IsNull(part)), Comparison("<=>", part, Literal(False, BOOLEAN))):
            skip = prune(predicate, known).skip
            for row, skips in zip(rows, skip.tolist(), strict=True):
                try:
                    matches = evaluate(predicate, row) is True
                except NotEvaluable:
                    continue
                wrong += [(predicate, row)] if matches and skips else []
                possible, found = possible + (not matches), found + (skips and not matches)
    assert wrong == []
    assert possible > 30_000
    assert found > 0.9 * possible, f"{found} of {possible}"


@pytest.mark.parametrize(
    "scalar",
    [
        Call("add", (A, Literal(2**31 - 1, INT)), INT, (("mode", "ansi"),)),
        Call("add", (A, Literal(2**31 - 1, INT)), INT, (("mode", "try"),)),
        Call("multiply", (P, P), Type.parse("decimal(10,4)"), (("mode", "legacy"),)),
        Call("divide", (D, D), DOUBLE, (("mode", "legacy"),)),
        Call("cast", (S,), INT, (("mode", "legacy"),)),
        Call("cast", (S,), INT, (("mode", "try"),)),
        Call("map_get", (Column(("m",), Type.parse("map<string,int>")), Literal("k", STRING)), INT),
    ],
)
def test_a_scalar_that_may_be_null_by_itself_keeps_the_block_though_its_columns_are_never_null(
    scalar: Expr,
) -> None:
    blocks = block_set([[{A: 5, S: "x", D: 0.0, P: Decimal("99999999.99")}]], [A, S, D, P])
    zero = Literal(0, INT) if type_of(scalar) == INT else scalar
    assert not skipped(IsNull(Comparison("<=", scalar, zero)), blocks)
    assert not skipped(IsNull(And((Comparison("<=", scalar, zero), POSITIVE))), blocks)


def test_opaque_parts_keep_the_block_unless_another_part_decides() -> None:
    udf = Opaque("udf(a)", "UDF", (A,))
    assert not skipped(IsNull(And((udf, POSITIVE))), ONLY_VALUES)
    assert skipped(IsNull(And((udf, LOW))), ONLY_VALUES)
    assert not skipped(IsNull(udf), ONLY_VALUES)


def test_a_null_test_that_would_become_very_large_stays_as_it_is_and_keeps_the_block() -> None:
    many = And(tuple(Or((compare(">", A, n), compare("<", B, n))) for n in range(100)))
    assert normalize(IsNull(many)) == IsNull(normalize(many))
    assert not skipped(IsNull(many), ONLY_VALUES)

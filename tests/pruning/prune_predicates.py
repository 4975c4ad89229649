"""Random predicates over the columns of :mod:`tests.pruning.prune_cases`."""

from __future__ import annotations

import random

from tests.pruning.prune_cases import DAY, DOMAINS, PRICE, TS, B, D, E, F, I, J, K, L, M, P, S, T, W

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
    Value,
    type_of,
)
from skipstone.predicate.types import DATE, DOUBLE, INT, LONG, STRING, TIMESTAMP_NTZ, Kind, Type

OPERATORS = ("=", "<", "<=", ">", ">=", "<=>")
LITERALS_BY_KIND: dict[Kind, tuple[Value, ...]] = {column.type.kind: DOMAINS[column] for column in DOMAINS}
PAIRS = (I, J), (J, K), (L, M), (D, E), (S, T), (I, I)


def number(value: int) -> Literal:
    return Literal(value, INT)


def random_scalar(rng: random.Random) -> Expr:
    """A column or a call, some of them monotone."""
    column = rng.choice((I, J, L, D, F, P, DAY, S))
    if rng.random() < 0.5:
        return rng.choice(tuple(DOMAINS))
    op = rng.choice(("add", "subtract", "multiply"))
    wide = Type.parse("decimal(12,4)")
    chosen: list[Expr] = [
        Call(op, (rng.choice((I, J)), rng.choice((J, K, number(3), number(-2)))), INT),
        Call(op, (L, rng.choice((M, Literal(9, LONG)))), LONG),
        Call(op, (D, rng.choice((E, Literal(2.0, DOUBLE)))), DOUBLE),
        Call(op, (Call("add", (I, number(1)), INT), J), INT),
        Call("add", (P, Literal(DOMAINS[P][5], PRICE)), Type.parse("decimal(11,2)")),
        Call("multiply", (P, P), Type.parse("decimal(21,4)")),
        Call(rng.choice(("negate", "abs")), (column,), column.type),
        Call("cast", (I,), rng.choice((LONG, DOUBLE, Type.parse("decimal(12,2)"), STRING))),
        Call("cast", (L,), rng.choice((DOUBLE, INT, Type.parse("decimal(20,0)")))),
        Call("cast", (F,), DOUBLE),
        Call("cast", (P,), rng.choice((wide, DOUBLE))),
        Call("cast", (DAY,), TIMESTAMP_NTZ),
        Call("cast", (TS,), DATE),
        Call(rng.choice(("year", "month", "dayofmonth", "quarter", "dayofweek")), (DAY,), INT),
        Call("trunc", (DAY, Literal(rng.choice(("MM", "year", "week")), STRING)), DATE),
        Call("substring", (S, number(rng.choice((0, 1, 1, 2, -2))), number(rng.randint(-1, 2))), STRING),
        Call(rng.choice(("lower", "upper", "trim")), (S,), STRING),
        Call("length", (S,), INT),
        Call(rng.choice(("floor", "ceil")), (D,), LONG),
        Call(rng.choice(("floor", "ceil")), (P,), Type.parse("decimal(9,0)")),
        Call("coalesce", (I, rng.choice((J, number(5)))), INT),
        Call("coalesce", (S, Literal("b", STRING)), STRING),
        Call("if", (Comparison(">", I, number(1)), J, number(4)), INT),
        Call("case_when", (Match("contains", S, "a"), D, IsNull(S), Literal(1.0, DOUBLE)), DOUBLE),
    ]
    return rng.choice(chosen)


def random_literal(rng: random.Random, type_: Type) -> Literal:
    if rng.random() < 0.05:
        return Literal(None, type_)
    if type_.kind is Kind.INT and rng.random() < 0.5:
        return Literal(rng.choice((1970, 2024, 2, 3, 12, -3, 6, 10)), type_)
    return Literal(rng.choice(LITERALS_BY_KIND[type_.kind]), type_)


def random_atom(rng: random.Random) -> Expr:
    kind = rng.randrange(12)
    if kind < 5:
        scalar = random_scalar(rng)
        return Comparison(rng.choice(OPERATORS), scalar, random_literal(rng, type_of(scalar)))
    if kind < 7:
        scalar = random_scalar(rng)
        return In(scalar, tuple(random_literal(rng, type_of(scalar)) for _ in range(rng.randint(1, 4))))
    if kind == 7:
        left, right = rng.choice(PAIRS)
        shifted = right.type == INT and rng.random() < 0.5
        moved: Expr = Call("add", (right, number(2)), INT) if shifted else right
        return Comparison(rng.choice(OPERATORS), left, moved)
    if kind == 8:
        return IsNull(random_scalar(rng))
    if kind == 9:
        text = rng.choice(("a", "ab", "b", "é", "\U0001f600", "\uffff", "", "abcdefghijk"))
        where = rng.choice(("starts_with", "starts_with", "ends_with", "contains"))
        return Match(where, rng.choice((S, T)), text)
    if kind == 10:
        return Like(S, rng.choice(("a%", "ab_", "a%c", "%b%", "_b%", "a\\%", "a\\_%", "abcdefgh_%")))
    return rng.choice((B, Opaque("udf(i)", "UDF", (I,)), Comparison("=", W, random_literal(rng, W.type))))


def random_predicate(rng: random.Random, depth: int = 3) -> Expr:
    shape = rng.random()
    if depth == 0 or shape < 0.35:
        return random_atom(rng)
    if shape < 0.45:
        return Not(random_predicate(rng, depth - 1))
    if shape < 0.52:
        return IsNull(random_predicate(rng, depth - 1))
    parts = tuple(random_predicate(rng, depth - 1) for _ in range(rng.randint(2, 3)))
    return And(parts) if shape < 0.8 else Or(parts)


def random_feature(rng: random.Random) -> Expr:
    return random_predicate(rng, 1)


def key_expressions(rng: random.Random) -> list[Column | Call]:
    """Columns and calls to keep statistics of."""
    columns: list[Column | Call] = [column for column in DOMAINS if rng.random() < 0.85]
    calls = (random_scalar(rng) for _ in range(6))
    return [*columns, *(call for call in calls if isinstance(call, Call))]

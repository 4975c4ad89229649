"""Small logs, shared by the tests of workload analysis."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from skipstone.predicate.expr import And, Column, Comparison, Expr, In, IsNull, Literal, Not, Or
from skipstone.predicate.types import DATE, INT, STRING
from skipstone.workload.predicates import LoggedFilter

PRODUCT, EVENT, PUBLISHER = (Column((name,), STRING) for name in ("product", "event", "publisher"))
REVENUE, X, Y = (Column((name,), INT) for name in ("revenue", "x", "y"))
DAY, SHIPPED = Column(("day",), DATE), Column(("shipped",), DATE)
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def equal(column: Column, value: object) -> Expr:
    return Comparison("=", column, Literal(value, column.type))


def compare(op: str, column: Column, value: object) -> Expr:
    return Comparison(op, column, Literal(value, column.type))


def one_of(column: Column, *values: object) -> Expr:
    return In(column, tuple(Literal(value, column.type) for value in values))


def not_null(column: Column) -> Expr:
    return Not(IsNull(column))


def query(*predicates: Expr, weight: float = 1.0, hour: int | None = None, sql: str = "") -> LoggedFilter:
    filter_ = And(predicates) if len(predicates) > 1 else predicates[0]
    return LoggedFilter(filter_, weight, None if hour is None else NOON + timedelta(hours=hour), sql)


SHOES, SHIRTS = equal(PRODUCT, "shoes"), equal(PRODUCT, "shirts")
BOTH = one_of(PRODUCT, "shirts", "shoes")
OVER_32, OVER_21 = compare(">", REVENUE, 32), compare(">", REVENUE, 21)
EXAMPLE_1 = (query(SHOES), query(BOTH, OVER_32), query(SHIRTS, OVER_21))
"""002 example 1: Q1, Q2 and Q3."""


def random_log(seed: int, size: int) -> list[LoggedFilter]:
    """Short conjunctions over few constants, with ORs, so that much is subsumed."""
    chance = random.Random(seed)

    def atom() -> Expr:
        column = chance.choice((X, Y))
        if chance.random() < 0.3:
            return one_of(column, *chance.sample(range(4), 2))
        return compare(chance.choice(("<", "<=", "=", ">", ">=")), column, chance.randrange(4))

    def predicate() -> Expr:
        if chance.random() < 0.2:
            return Or(tuple(And((atom(), atom())) if chance.random() < 0.5 else atom() for _ in range(2)))
        if chance.random() < 0.1:
            return not_null(chance.choice((X, Y)))
        return atom()

    return [
        query(*(predicate() for _ in range(chance.randint(1, 3))), weight=float(chance.randint(1, 4)))
        for _ in range(size)
    ]

"""A column of every kind with a small domain, and every form of predicate over it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from skipstone.predicate.expr import (
    And,
    Column,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Value,
)
from skipstone.predicate.types import (
    BINARY,
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Type,
)

OPERATORS = ("=", "<", "<=", ">", ">=", "<=>")


@dataclass(frozen=True, slots=True)
class Domain:
    """A column, the values it may have in a row, and the constants that predicates name."""

    column: Column
    values: tuple[Value, ...]
    constants: tuple[Value, ...]

    def __str__(self) -> str:
        return self.column.type.text


def _domain(type_: Type, *values: Value, constants: tuple[Value, ...] | None = None) -> Domain:
    return Domain(Column(("x",), type_), (*values, None), (*(constants or values), None))


def _limits(type_: Type) -> tuple[int, int]:
    limits = type_.integral_range
    assert limits is not None
    return limits


_TEXTS = ("", "\0", "a", "a\0", "ab", "aba", "abc", "b", "B", "ab\U0010ffff", "é", "%", "_a")
_ODD = ("\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff")
_ODD_AND_MORE = tuple(f"{odd}x" for odd in _ODD)
_WHOLE = (-3, -1, 0, 1, 2, 7)
_REAL = (-math.inf, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1.7e308, math.inf, math.nan)

DOMAINS: tuple[Domain, ...] = (
    _domain(BOOLEAN, False, True),
    *(_domain(type_, *_limits(type_), *_WHOLE) for type_ in (BYTE, SHORT, INT, LONG)),
    _domain(DOUBLE, *_REAL),
    _domain(FLOAT, -math.inf, -2.5, -0.0, 0.0, 0.10000000149011612, 1.0, math.inf, math.nan),
    _domain(Type.parse("decimal(10,2)"), *map(Decimal, ("-99999999.99", "-1.5", "0", "0.01", "0.02", "7"))),
    _domain(Type.parse("decimal(38,0)"), *map(Decimal, (-(10**37), -1, 0, 1, 10**37))),
    _domain(DATE, -719_162, -1, 0, 1, 19_782, -(2**31), 2**31 - 1),
    _domain(TIMESTAMP, -1, 0, 1, 86_400_000_000),
    _domain(TIMESTAMP_NTZ, -1, 0, 1, 86_400_000_000),
    _domain(Type.parse("interval day to second"), *_WHOLE),
    _domain(Type.parse("interval year to month"), *_WHOLE),
    _domain(Type.parse("time(6)"), 0, 1, 86_399_999_999_999),
    _domain(STRING, *_TEXTS),
    Domain(
        Column(("odd",), STRING), (*_ODD, *(f"{odd}x" for odd in _ODD), "a", None), (*_ODD[::2], "a", None)
    ),
    _domain(BINARY, b"", b"\0", b"a", b"a\0", b"ab", b"b", b"\x7f", b"\xff", b"\xff\xff"),
)


def comparisons(domain: Domain) -> Iterator[Expr]:
    for op, value in itertools.product(OPERATORS, domain.constants):
        yield Comparison(op, domain.column, Literal(value, domain.column.type))


def memberships(domain: Domain) -> Iterator[Expr]:
    """Lists of one, two and all constants, NULL and NaN among them."""
    for size in (1, 2, len(domain.constants)):
        for chosen in itertools.combinations(domain.constants, size):
            yield In(domain.column, tuple(Literal(value, domain.column.type) for value in chosen))


def betweens(domain: Domain) -> Iterator[Expr]:
    for low, high in itertools.product(domain.constants, repeat=2):
        bounds = (Literal(value, domain.column.type) for value in (low, high))
        yield And(
            tuple(
                Comparison(op, domain.column, bound) for op, bound in zip((">=", "<="), bounds, strict=True)
            )
        )


def searches(domain: Domain) -> Iterator[Expr]:
    if domain.column.type != STRING:
        return
    texts = [value for value in domain.constants if isinstance(value, str)]
    for text in texts:
        yield from (Match(kind, domain.column, text) for kind in ("starts_with", "ends_with", "contains"))
    for text in texts[:6]:
        for pattern in (
            f"{text}%",
            f"%{text}",
            f"%{text}%",
            f"_{text}%",
            f"{text}_",
            f"{text}%a",
            f"a%_{text}_%",
        ):
            yield Like(domain.column, pattern)
    yield Like(domain.column, "!%%", "!")
    yield from (Match("rlike", domain.column, regex) for regex in ("^a", "a+b$", "b"))


def atoms(domain: Domain) -> list[Expr]:
    """Every form over the column, and the negation of each."""
    plain = [*comparisons(domain), *memberships(domain), *searches(domain), IsNull(domain.column)]
    if domain.column.type == BOOLEAN:
        plain.append(domain.column)
    return [*plain, *(Not(each) for each in plain)]

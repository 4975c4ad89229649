"""Small domains and every predicate over them, shared by the tests of the predicate core."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from hypothesis import strategies as st

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
)
from skipstone.predicate.types import BOOLEAN, DATE, DOUBLE, INT, STRING, Type

X, Y = Column(("x",), INT), Column(("y",), INT)
D, S, B = Column(("d",), DOUBLE), Column(("s",), STRING), Column(("b",), BOOLEAN)
DAY = Column(("day",), DATE)

INTS: tuple[Value, ...] = (-2, -1, 0, 1, 2, 3, None)
DOUBLES: tuple[Value, ...] = (-math.inf, -1.0, -0.0, 0.0, 1.0, math.inf, math.nan, None)
STRINGS: tuple[Value, ...] = (
    *("".join(letters) for size in range(4) for letters in itertools.product("ab", repeat=size)),
    None,
)
BOOLEANS: tuple[Value, ...] = (True, False, None)
DOMAINS: dict[Column, tuple[Value, ...]] = {
    X: INTS,
    Y: INTS,
    D: DOUBLES,
    S: (*STRINGS, "a\nb", "é", "%"),
    B: BOOLEANS,
    DAY: (-719163, -1, 0, 59, 19_782, None),
}
OPERATORS = ("=", "<", "<=", ">", ">=", "<=>")


def literal(value: Value, type_: Type = INT) -> Literal:
    return Literal(value, type_)


def comparisons(column: Column, values: tuple[Value, ...]) -> Iterator[Expr]:
    for value, op in itertools.product(values, OPERATORS):
        yield Comparison(op, column, Literal(value, column.type))


def memberships(column: Column, values: tuple[Value, ...], size: int) -> Iterator[Expr]:
    for chosen in itertools.combinations(values, size):
        yield In(column, tuple(Literal(value, column.type) for value in chosen))


def texts(column: Column) -> Iterator[Expr]:
    for text in ("", "a", "b", "ab", "ba", "aba"):
        for kind in ("starts_with", "ends_with", "contains"):
            yield Match(kind, column, text)
    for pattern in ("a_", "a%b", "_a%", "%", "ab", "a%", "%b", "%a%", "_", "a_%b", "%ab_"):
        yield Like(column, pattern)
    yield Match("rlike", column, "^a")
    yield Match("rlike", column, "a+b$")


def with_negations(predicates: Iterator[Expr]) -> list[Expr]:
    plain = list(predicates)
    return [*plain, *(Not(predicate) for predicate in plain)]


def _atoms(column: Column) -> st.SearchStrategy[Expr]:
    constants = st.sampled_from(DOMAINS[column]).map(lambda value: Literal(value, column.type))
    compare = st.builds(Comparison, st.sampled_from(OPERATORS), st.just(column), constants)
    turned = st.builds(Comparison, st.sampled_from(OPERATORS), constants, st.just(column))
    several = st.lists(constants, min_size=1, max_size=4).map(tuple)
    return st.one_of(compare, turned, st.builds(In, st.just(column), several), st.just(IsNull(column)))


_YEAR, _MONTH = Call("year", (DAY,), INT), Call("month", (DAY,), INT)
CALLS = (_YEAR, _MONTH, Call("add", (literal(1), X), INT))
CONSTANTS = tuple(Literal(value, BOOLEAN) for value in BOOLEANS)
ATOMS: st.SearchStrategy[Expr] = st.one_of(
    *(_atoms(column) for column in DOMAINS),
    st.sampled_from(list(texts(S))),
    st.sampled_from([Like(S, "a!%", "!"), Like(S, "%%b"), Like(S, "%_a%"), Like(S, "a\\")]),
    st.builds(Comparison, st.sampled_from(OPERATORS), st.just(X), st.just(Y)),
    st.builds(Comparison, st.sampled_from(OPERATORS), st.just(Y), st.just(X)),
    st.builds(Comparison, st.sampled_from(OPERATORS), st.sampled_from(CALLS), st.just(literal(1))),
    st.sampled_from([B, IsNull(_YEAR), *CONSTANTS]),
    st.just(Opaque("udf(x)", "UDF", (X,))),
)
PREDICATES: st.SearchStrategy[Expr] = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map(lambda args: And(tuple(args))),
        st.lists(inner, min_size=2, max_size=4).map(lambda args: Or(tuple(args))),
        inner.map(Not),
        inner.map(IsNull),
        st.builds(Comparison, st.sampled_from(OPERATORS), inner, st.sampled_from([*CONSTANTS, B])),
    ),
    max_leaves=8,
)
ROWS: st.SearchStrategy[dict[Column, Value]] = st.fixed_dictionaries(
    {column: st.sampled_from(values) for column, values in DOMAINS.items()}
)

from __future__ import annotations

import itertools
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.predicate.samples import (
    BOOLEANS,
    DAY,
    DOMAINS,
    DOUBLES,
    PREDICATES,
    ROWS,
    STRINGS,
    B,
    D,
    S,
    X,
    Y,
    comparisons,
    literal,
    memberships,
    texts,
    with_negations,
)

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
    Match,
    Not,
    Opaque,
    Or,
    Value,
)
from skipstone.predicate.implies import disjoint, implies, never_true
from skipstone.predicate.types import BINARY, BOOLEAN, DATE, INT, LONG, STRING, Type

ONE, TWO, THREE = (literal(n) for n in (1, 2, 3))
ABC = Literal("abc", STRING)


def at(op: str, value: Value, column: Column = X) -> Comparison:
    return Comparison(op, column, Literal(value, column.type))


def members(*values: Value) -> In:
    return In(X, tuple(literal(value) for value in values))


def truths(predicates: list[Expr], rows: list[dict[Column, Value]]) -> list[int]:
    """Per predicate the rows on which it is TRUE, as bits; unknown counts as anything, so it is left out."""
    found = []
    for predicate in predicates:
        bits = 0
        for number, row in enumerate(rows):
            bits |= (evaluate(predicate, row) is True) << number
        found.append(bits)
    return found


def check_all_pairs(predicates: list[Expr], rows: list[dict[Column, Value]], healthy: float) -> None:
    """No wrong implication among all pairs, and a healthy share of the true ones found."""
    bits = truths(predicates, rows)
    true = shown = 0
    for (p, p_bits), (q, q_bits) in itertools.product(zip(predicates, bits, strict=True), repeat=2):
        holds = p_bits & ~q_bits == 0
        answer = implies(p, q)
        assert holds or not answer, (p, q)
        # A p that is TRUE on no row of this small domain may well be TRUE outside it.
        if holds and p_bits:
            true += 1
            shown += answer
        assert not disjoint(p, q) or p_bits & q_bits == 0, (p, q)
    assert true > len(predicates)
    assert shown >= healthy * true, f"{shown} of {true}"


def rows_of(*columns: Column) -> list[dict[Column, Value]]:
    domains = [DOMAINS[column] for column in columns]
    return [dict(zip(columns, values, strict=True)) for values in itertools.product(*domains)]


def test_all_pairs_of_integer_predicates() -> None:
    inner = (-1, 0, 1, 2)
    predicates = with_negations(
        itertools.chain(
            comparisons(X, (*inner, None)),
            memberships(X, inner, 2),
            memberships(X, (*inner[:2], None), 3),
            [IsNull(X), And((at(">", -1), at("<", 2))), And((at(">=", 0), Not(at("=", 0))))],
            [Or((at("<", 0), at(">", 1))), Or((IsNull(X), at("<=", 1)))],
        )
    )
    # The domain reaches beyond every constant, so what holds on it holds for all integers.
    check_all_pairs(predicates, rows_of(X), healthy=0.99)


def test_all_pairs_of_double_predicates() -> None:
    values = (-math.inf, -0.0, 1.0, math.inf, math.nan)
    predicates = with_negations(
        itertools.chain(
            comparisons(D, values),
            memberships(D, values[1:], 2),
            [IsNull(D), And((at(">", 0.0, D), at("<", math.inf, D)))],
        )
    )
    rows: list[dict[Column, Value]] = [{D: value} for value in (*DOUBLES, -7.5, 0.5, 1e300)]
    check_all_pairs(predicates, rows, healthy=0.97)


def test_all_pairs_of_string_predicates() -> None:
    predicates = with_negations(
        itertools.chain(
            comparisons(S, ("", "a", "ab", "b")),
            memberships(S, ("a", "ab", "ba"), 2),
            texts(S),
            [IsNull(S), And((at(">=", "ab", S), at("<", "ac", S)))],
        )
    )
    more = [
        "ac",
        "abc",
        "ab\U0010ffff",
        "c",
        "aab",
        "a\U0010ffff",
        "A",
        "abab",
        "baba",
        "abba",
        "aaaa",
        "bbbb",
    ]
    rows: list[dict[Column, Value]] = [{S: value} for value in (*STRINGS, *more)]
    check_all_pairs(predicates, rows, healthy=0.8)


def test_all_pairs_of_boolean_predicates() -> None:
    predicates = with_negations(
        itertools.chain(comparisons(B, BOOLEANS), memberships(B, BOOLEANS, 2), [B, IsNull(B)])
    )
    check_all_pairs(predicates, rows_of(B), healthy=0.95)


def test_all_pairs_over_two_columns() -> None:
    pairs: list[Expr] = [Comparison(op, X, Y) for op in ("=", "<", "<=", ">", ">=", "<=>")]
    single: list[Expr] = [at("=", 1), at(">", 0), at("<", 2, Y), IsNull(X), members(0, 1)]
    chosen = list(itertools.combinations([*pairs[:2], *single], 2))
    both: list[Expr] = [*(And(pair) for pair in chosen), *(Or(pair) for pair in chosen)]
    predicates = with_negations(iter([*pairs, *single, *both]))
    check_all_pairs(predicates, rows_of(X, Y), healthy=0.85)


@settings(max_examples=400, deadline=None)
@given(PREDICATES, PREDICATES, st.lists(ROWS, min_size=4, max_size=4))
def test_property_no_row_contradicts_an_implication(
    p: Expr, q: Expr, rows: list[dict[Column, Value]]
) -> None:
    for left, right in ((p, q), (And((p, q)), q), (p, Or((p, q))), (And((p, q)), Or((p, q)))):
        if implies(left, right):
            for row in rows:
                try:
                    if evaluate(left, row) is True:
                        assert evaluate(right, row) is True
                except NotEvaluable:
                    continue


@settings(max_examples=200, deadline=None)
@given(PREDICATES, PREDICATES)
def test_property_implication_is_reflexive_and_knows_and_and_or(p: Expr, q: Expr) -> None:
    if "udf" in repr((p, q)):
        return
    assert implies(p, p)
    # NaN in a list says less than alone, so less is concluded from it beside other values than could be.
    if "nan" in repr((p, q)):
        return
    assert implies(And((p, q)), p)
    assert implies(p, Or((p, q)))


def test_implication_is_transitive_on_ranges_sets_and_prefixes() -> None:
    predicates = [
        *comparisons(X, (0, 1, 2)),
        *memberships(X, (0, 1, 2), 2),
        *(Match("starts_with", S, text) for text in ("", "a", "ab", "b")),
        *comparisons(S, ("a", "ab", "b")),
        *(Not(IsNull(column)) for column in (X, S)),
    ]
    chains = 0
    for p, q, r in itertools.product(predicates, repeat=3):
        if implies(p, q) and implies(q, r):
            chains += 1
            assert implies(p, r), (p, q, r)
    assert chains > 500


YEAR, MONTH = Call("year", (DAY,), INT), Call("month", (DAY,), INT)
LOWER = Call("lower", (S,), STRING)
PARENT, FIELD = Column(("a",), Type.parse("struct<b:int>")), Column(("a", "b"), INT)
FIRST_OF_MARCH = Literal(19_783, DATE)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (at(">", 5), at(">=", 6)),
        (at(">=", 6), at(">", 5)),
        (And((at(">=", 3), at("<=", 5))), members(3, 4, 5)),
        (And((at(">=", 3), at("<", 9))), And((at(">", 1), at("<", 10)))),
        (members(1, 2, 3), And((at("<", 4), Not(at("=", 7))))),
        (members(1, 5), Or((at("<", 2), at(">", 4)))),
        (members(1, None), at("=", 1)),
        (Not(members(1, 2)), Not(at("=", 1))),
        (Not(members(1, None)), at("=", 99)),
        (at("=", 4), Not(IsNull(X))),
        (at("=", 4), at("<=>", 4)),
        (IsNull(X), Comparison("<=>", X, literal(None))),
        (IsNull(X), Not(at("<=>", 4))),
        (And((IsNull(X), at(">", 4))), at("=", 99)),
        (at("<=", 2**31 - 1), Not(IsNull(X))),
        (Not(IsNull(X)), at("<=", 2**31 - 1)),
        (Comparison("<", X, Y), Comparison("<=", X, Y)),
        (Comparison("<", X, Y), Comparison(">", Y, X)),
        (Comparison("=", X, Y), Comparison("<=>", X, Y)),
        (Comparison("<", X, Y), Not(Comparison("=", X, Y))),
        (Comparison("<", X, Y), And((Not(IsNull(X)), Not(IsNull(Y))))),
        (And((at("=", 1), at("=", 2, Y))), Comparison("<", X, Y)),
        (Match("starts_with", S, "abc"), Match("starts_with", S, "ab")),
        (Match("starts_with", S, "abc"), Match("contains", S, "bc")),
        (Match("ends_with", S, "abc"), Match("contains", S, "bc")),
        (Match("contains", S, "abc"), Match("contains", S, "b")),
        (Match("starts_with", S, "abc"), And((at(">=", "abc", S), at("<", "abd", S)))),
        (And((at(">=", "abc", S), at("<", "abd", S))), Like(S, "abc%")),
        (And((at(">=", "é", S), at("<", "ê", S))), Match("starts_with", S, "é")),
        (at("=", "abcd", S), Like(S, "a_c%")),
        (Like(S, "ab_c%"), Match("starts_with", S, "ab")),
        (Like(S, "%ab_cd"), Match("ends_with", S, "cd")),
        (Match("starts_with", S, "a"), Not(Match("starts_with", S, "b"))),
        (at("=", 2024, Column(("y",), INT)), at(">", 2000, Column(("y",), INT))),
        (Comparison("=", YEAR, literal(2024)), Comparison(">", YEAR, literal(2000))),
        (Comparison("=", YEAR, literal(2024)), Not(IsNull(DAY))),
        (Comparison("=", DAY, FIRST_OF_MARCH), Comparison("=", MONTH, THREE)),
        (IsNull(DAY), IsNull(MONTH)),
        (Match("starts_with", LOWER, "a"), Not(IsNull(S))),
        (Comparison("=", FIELD, ONE), Not(IsNull(PARENT))),
        (And((Or((at("=", 1), at("=", 2))), at(">", 0, Y))), at("<", 3)),
        (Or((And((at("=", 1), at("=", 1, Y))), And((at("=", 2), at("=", 1, Y))))), at("=", 1, Y)),
        (B, Not(Comparison("=", B, Literal(False, BOOLEAN)))),
        (Literal(False, BOOLEAN), at("=", 1)),
        (Literal(None, BOOLEAN), at("=", 1)),
        (at("=", 1), Literal(True, BOOLEAN)),
    ],
)
def test_implication_is_shown(p: Expr, q: Expr) -> None:
    assert implies(p, q)


UDF = Opaque("udf(x)", "UDF", (X,))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (at(">", 5), at(">=", 7)),
        (Not(at("=", 5)), Or((at("<", 5), IsNull(X)))),
        (Not(at("<=>", 5)), Not(IsNull(X))),
        (Comparison("<=>", X, Y), Not(IsNull(X))),
        (Or((IsNull(X), at(">", 5))), at(">", 5)),
        (UDF, UDF),
        (Comparison("=", Opaque("rand()", "NON_DETERMINISTIC", (), INT), ONE), Not(IsNull(X))),
        (Match("starts_with", S, "ab"), Match("starts_with", S, "abc")),
        (Match("starts_with", S, "\U0010ffff"), at("<", "\U0010ffff\U0010ffff", S)),
        # Bytes that are no valid UTF-8 lie between.
        (And((at(">=", "\x7f", S), at("<", "\x80", S))), Match("starts_with", S, "\x7f")),
        (And((at(">=", "\u07ff", S), at("<", "\u0800", S))), Match("starts_with", S, "\u07ff")),
        (And((at(">=", "\ud7ff", S), at("<", "\ue000", S))), Match("starts_with", S, "\ud7ff")),
        (And((at(">=", "a\U0010ffff", S), at("<", "b", S))), Match("starts_with", S, "a\U0010ffff")),
        (Comparison("=", X, literal(1, LONG)), at("=", 2)),
        (Comparison("<", X, Literal("5", STRING)), Comparison("<", X, Literal("6", STRING))),
        (at(">", 1.0, D), at("<=", math.inf, D)),
        (Not(at("<", 1.0, D)), Not(at("=", math.nan, D))),
        (Comparison("=", Column(("s",), BINARY), Literal(b"a", BINARY)), at("=", "a", S)),
        (Comparison("=", PARENT, PARENT), Comparison("=", FIELD, ONE)),
        (Not(IsNull(PARENT)), Not(IsNull(FIELD))),
        (Comparison("=", Call("coalesce", (X, Y), INT), ONE), Not(IsNull(X))),
        (In(D, tuple(Literal(v, D.type) for v in (1.0, None))), at("=", 2.0, D)),
        (Not(In(D, tuple(Literal(v, D.type) for v in (1.0, None)))), at("=", 2.0, D)),
        (Match("rlike", S, "^a.*b$"), Match("ends_with", S, "b")),
        (Literal(True, BOOLEAN), at("=", 1)),
    ],
)
def test_what_does_not_follow_is_not_shown(p: Expr, q: Expr) -> None:
    assert not implies(p, q)


def test_opaque_part_does_not_spoil_the_conjuncts_beside_it() -> None:
    assert implies(And((UDF, at("=", 1))), at("<", 2))
    assert not implies(Or((UDF, at("=", 1))), at("<", 2))


def test_equal_zeros_are_both_tried_where_a_function_tells_them_apart() -> None:
    sign = Comparison("=", Call("divide", (Literal(1.0, D.type), D), D.type), Literal(math.inf, D.type))
    assert not implies(at("=", 0.0, D), sign)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (at("<", 3), at(">=", 3)),
        (at("=", 1), Not(at("=", 1))),
        (at("=", 1), IsNull(X)),
        (Comparison("=", YEAR, literal(2024)), IsNull(DAY)),
        (Match("starts_with", S, "a"), Match("starts_with", S, "b")),
        (Match("ends_with", S, "ab"), Match("ends_with", S, "b a")),
        (Match("starts_with", S, "a"), at(">", "b", S)),
        (Or((at("=", 1), at("=", 2))), Or((at("=", 3), at(">", 7)))),
        (members(1, 2), Not(members(1, 2, 3))),
        (B, Not(B)),
    ],
)
def test_disjoint_predicates_are_recognised_from_either_side(p: Expr, q: Expr) -> None:
    assert disjoint(p, q)
    assert disjoint(q, p)


def test_predicates_that_share_a_row_are_not_disjoint() -> None:
    assert not disjoint(at("<=", 3), at(">=", 3))
    assert not disjoint(UDF, Not(UDF))
    assert not never_true(at("<", 3))
    assert never_true(at("<", -(2**31)))


def test_deeply_nested_predicates_end_quickly() -> None:
    def nest(depth: int, start: int) -> Expr:
        if depth == 0:
            return at("<", start)
        args = tuple(nest(depth - 1, 3 * start + i) for i in range(3))
        return And(args) if depth % 2 else Or(args)

    started = time.perf_counter()
    implies(nest(5, 1), nest(5, 2))
    assert time.perf_counter() - started < 10


def test_typical_check_takes_microseconds() -> None:
    columns = [Column((f"c{number}",), INT) for number in range(5)]
    query = And(tuple(at(">", number, column) for number, column in enumerate(columns)))
    features = [at(">=", value, column) for value in range(20) for column in columns]
    assert sum(implies(query, feature) for feature in features) > 10
    rounds = []
    for _ in range(5):
        started = time.perf_counter()
        for feature in features:
            implies(query, feature)
        rounds.append((time.perf_counter() - started) / len(features))
    assert min(rounds) < 100e-6  # about 3 on an idle machine; loose, for busy ones


def test_long_lists_are_checked_quickly() -> None:
    long, longer = members(*range(5_000)), members(*range(6_000))
    started = time.perf_counter()
    assert implies(long, longer)
    assert not implies(longer, long)
    assert implies(longer, at("<", 6_000))
    assert not implies(longer, at("<", 5_999))
    assert disjoint(long, members(*range(7_000, 9_000)))
    assert time.perf_counter() - started < 10

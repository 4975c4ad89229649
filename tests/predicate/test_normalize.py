from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from tests.predicate.samples import PREDICATES, ROWS, B, D, S, X, Y, literal

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
from skipstone.predicate.normalize import conjuncts, normalize, normalize_filter
from skipstone.predicate.types import BOOLEAN, DOUBLE, INT, STRING

TRUE, FALSE, NULL = Literal(True, BOOLEAN), Literal(False, BOOLEAN), Literal(None, BOOLEAN)
ONE, TWO, NO_INT = literal(1), literal(2), literal(None)
UDF = Opaque("udf(x)", "UDF", (X,))


def value(expr: Expr, row: dict[Column, Value]) -> object:
    try:
        return evaluate(expr, row)
    except NotEvaluable:
        return "unknown"


@settings(max_examples=800, deadline=None)
@given(PREDICATES, ROWS)
def test_property_normal_form_keeps_the_value_on_every_row(expr: Expr, row: dict[Column, Value]) -> None:
    before = value(expr, row)
    after = value(normalize(expr), row)
    assert before in (after, "unknown")


@settings(max_examples=500, deadline=None)
@given(PREDICATES)
def test_property_normalising_twice_changes_nothing(expr: Expr) -> None:
    once = normalize(expr)
    assert normalize(once) == once
    filtered = normalize_filter(expr)
    assert normalize_filter(filtered) == filtered


@settings(max_examples=500, deadline=None)
@given(PREDICATES, ROWS)
def test_property_filter_form_is_true_on_the_same_rows(expr: Expr, row: dict[Column, Value]) -> None:
    before = value(expr, row)
    after = value(normalize_filter(expr), row)
    assert before == "unknown" or (after is True) == (before is True)


@settings(max_examples=300, deadline=None)
@given(PREDICATES)
def test_property_a_filter_may_say_explicitly_that_null_is_false(expr: Expr) -> None:
    for spelled in (Comparison("<=>", expr, TRUE), Call("coalesce", (expr, FALSE), BOOLEAN)):
        assert normalize_filter(spelled) == normalize_filter(expr)
        assert normalize_filter(And((spelled, Comparison(">", X, ONE)))) == normalize_filter(
            And((expr, Comparison(">", X, ONE)))
        )


@settings(max_examples=300, deadline=None)
@given(PREDICATES, PREDICATES)
def test_property_order_and_repetition_do_not_matter(left: Expr, right: Expr) -> None:
    if not any("udf" in repr(side) for side in (left, right)):
        assert normalize(And((left, right))) == normalize(And((right, left, right)))
        assert normalize(Or((left, right))) == normalize(Or((right, Or((left, right)))))


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        (Comparison("<", ONE, X), Comparison(">", X, ONE)),
        (Comparison(">", Y, X), Comparison("<", X, Y)),
        (Not(Comparison("<", X, ONE)), Comparison(">=", X, ONE)),
        (Not(Not(Comparison("=", X, ONE))), Comparison("=", X, ONE)),
        (Not(Comparison("=", X, ONE)), Not(Comparison("=", X, ONE))),
        (Not(Comparison("<=>", X, ONE)), Not(Comparison("<=>", X, ONE))),
        (Comparison("<=>", X, NO_INT), IsNull(X)),
        (Comparison("<=>", X, X), TRUE),
        (Comparison("=", X, NO_INT), NULL),
        (Comparison("<", ONE, TWO), TRUE),
        (In(X, (ONE,)), Comparison("=", X, ONE)),
        (In(X, (TWO, ONE, TWO)), In(X, (ONE, TWO))),
        (In(X, (NO_INT, ONE)), In(X, (ONE, NO_INT))),
        (In(X, (NO_INT, NO_INT)), NULL),
        (In(X, ()), In(X, ())),
        (Or((Comparison("=", X, TWO), In(X, (ONE, NO_INT)))), In(X, (ONE, TWO, NO_INT))),
        (
            And((Not(Comparison("=", X, TWO)), Not(Comparison("=", X, ONE)))),
            Not(In(X, (ONE, TWO))),
        ),
        (Comparison("=", B, TRUE), B),
        (Comparison("=", B, FALSE), Not(B)),
        (And((TRUE, IsNull(X))), IsNull(X)),
        (And((FALSE, UDF)), FALSE),
        (Or((TRUE, NULL)), TRUE),
        (And((NULL, NULL)), NULL),
        (Comparison("=", D, Literal(-0.0, DOUBLE)), Comparison("=", D, Literal(0.0, DOUBLE))),
        (Like(S, "abc"), Comparison("=", S, Literal("abc", STRING))),
        (Like(S, "abc%"), Match("starts_with", S, "abc")),
        (Like(S, "%abc"), Match("ends_with", S, "abc")),
        (Like(S, "%%abc%"), Match("contains", S, "abc")),
        (Like(S, "%"), Match("starts_with", S, "")),
        (Like(S, "a\\%%"), Match("starts_with", S, "a%")),
        (Like(S, "a!_!!", "!"), Comparison("=", S, Literal("a_!", STRING))),
        (Like(S, "a!%_", "!"), Like(S, "a\\%_")),
        (Like(S, "a%_%b"), Like(S, "a_%b")),
        (Like(S, "a\\b"), Like(S, "a\\b")),
        (Match("rlike", S, "^ab"), Match("starts_with", S, "ab")),
        (Match("rlike", S, "a.b"), Match("rlike", S, "a.b")),
        (Call("add", (ONE, X), INT), Call("add", (X, ONE), INT)),
    ],
)
def test_written_form_becomes_the_normal_form(written: Expr, normal: Expr) -> None:
    assert normalize(written) == normal


def test_nan_constants_are_one_constant() -> None:
    one, other = (Comparison("=", D, Literal(float("nan"), DOUBLE)) for _ in range(2))
    assert normalize(one) == normalize(other)
    several = normalize(In(D, tuple(Literal(value, DOUBLE) for value in (math.nan, float("nan"), 1.0))))
    assert isinstance(several, In)
    assert len(several.values) == 2


def test_opaque_parts_are_never_merged() -> None:
    twice = normalize(And((UDF, UDF)))
    assert twice == And((UDF, UDF))
    draw = Opaque("rand()", "NON_DETERMINISTIC", (), INT)
    equalities = Or((Comparison("=", draw, ONE), Comparison("=", draw, TWO)))
    assert isinstance(normalize(equalities), Or)


def test_contradiction_keeps_its_null_in_the_normal_form() -> None:
    both = And((Comparison("=", X, ONE), Comparison("=", X, TWO)))
    assert evaluate(normalize(both), {X: None}) is None


def test_conjuncts_of_a_filter_drop_true_and_null() -> None:
    assert conjuncts(TRUE) == ()
    assert conjuncts(And((IsNull(X), Comparison(">", Y, ONE), TRUE))) == tuple(
        sorted((IsNull(X), Comparison(">", Y, ONE)), key=lambda e: isinstance(e, IsNull))
    )
    assert conjuncts(And((IsNull(X), NULL))) == (FALSE,)
    assert conjuncts(In(X, (ONE, NO_INT))) == (Comparison("=", X, ONE),)


def test_the_null_test_of_a_list_with_null_is_taken_apart_but_for_floating_types_where_nan_differs() -> None:
    floating = IsNull(In(D, (Literal(1.0, DOUBLE), Literal(None, DOUBLE))))
    assert normalize(floating) == floating
    whole = normalize(IsNull(In(X, (ONE, NO_INT))))
    assert whole == normalize(Or((IsNull(X), Not(Comparison("=", X, ONE)))))

"""Predicates for people: no letters of types, no inferred NULL tests, nothing endless."""

from __future__ import annotations

from decimal import Decimal

import pytest

from skipstone.predicate.expr import And, Call, Column, Comparison, Expr, In, IsNull, Literal, Match, Not, Or
from skipstone.predicate.readable import plain_constants, readable
from skipstone.predicate.types import DATE, DOUBLE, INT, LONG, STRING, Type

PRICE = Column(("price",), Type.parse("decimal(10,2)"))
K, X, D = Column(("k",), LONG), Column(("x",), DOUBLE), Column(("d",), DATE)
CITY = Column(("city",), STRING)


def dear(value: str) -> Comparison:
    return Comparison(">", PRICE, Literal(Decimal(value), PRICE.type))


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (dear("400.00"), "price > 400"),
        (dear("0.50"), "price > 0.5"),
        (dear("-20.10"), "price > -20.1"),
        (
            Comparison("=", Call("remainder", (K, Literal(1000, LONG)), LONG), Literal(7, LONG)),
            "k % 1000 = 7",
        ),
        (Comparison("<", X, Literal(1e-300, DOUBLE)), "x < 1E-300"),
        (Comparison(">=", D, Literal(19_782, DATE)), "d >= DATE '2024-02-29'"),
        (Match("starts_with", CITY, "Os"), "city LIKE 'Os%'"),
        (Not(Match("contains", CITY, "l")), "city NOT LIKE '%l%'"),
        (Match("ends_with", CITY, "50%"), "endswith(city, '50%')"),
        (Comparison("=", CITY, Literal("7L or 1.50BD", STRING)), "city = '7L or 1.50BD'"),
    ],
)
def test_constants_and_matches_are_shown_as_people_write_them(expr: Expr, text: str) -> None:
    assert readable(expr) == text


def test_names_and_texts_that_look_like_constants_stay() -> None:
    assert (
        plain_constants("`7L` = 7L AND f1D = 1.0D AND c = 'it\\'s 5S'")
        == "`7L` = 7 AND f1D = 1 AND c = 'it\\'s 5S'"
    )


def test_null_tests_that_another_condition_implies_are_left_out_and_others_stay() -> None:
    present = [Not(IsNull(column)) for column in (PRICE, K, CITY)]
    assert (
        readable(And((*present, dear("3.00"), Comparison("=", K, K))))
        == "city IS NOT NULL AND price > 3 AND k = k"
    )
    assert readable(And((present[0], present[1]))) == "price IS NOT NULL AND k IS NOT NULL"


def test_a_very_long_predicate_is_cut_off_and_says_so() -> None:
    many = Or(tuple(And((Comparison("=", K, Literal(n, LONG)), dear("3.00"))) for n in range(1000)))
    assert len(readable(many)) < 450
    assert readable(many).endswith("more characters)")
    listed = readable(In(X, tuple(Literal(float(n), DOUBLE) for n in range(5000))), most=60)
    assert listed.startswith("x IN (0, 1, 2")
    assert readable(Comparison("=", Column(("i",), INT), Literal(5, INT))) == "i = 5"

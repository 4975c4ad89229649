from __future__ import annotations

import json
import math
import subprocess
import sys
from decimal import Decimal

import pytest
from hypothesis import given, settings
from tests.predicate.samples import PREDICATES, D, X, literal

from skipstone.predicate.codec import fingerprint, from_json, to_json
from skipstone.predicate.expr import And, Call, Column, Comparison, Expr, IsNull, Like, Literal, Match, Opaque
from skipstone.predicate.types import BINARY, BOOLEAN, DOUBLE, INT, LONG, STRING, Kind, Type

MONEY = Type.parse("decimal(38,2)")
VALUES = [
    *(Literal(value, DOUBLE) for value in (math.nan, math.inf, -math.inf, -0.0, 0.0, 0.1, 5e-324, 1e308)),
    *(Literal(value, LONG) for value in (-(2**63), 2**63 - 1, 0, None)),
    *(Literal(value, MONEY) for value in (Decimal("-0.05"), Decimal("9" * 36 + ".99"), Decimal("1E+2"))),
    *(Literal(value, STRING) for value in ("", "\U0001f600'\"\\\n\x00", "x" * 2000)),
    *(Literal(value, BINARY) for value in (b"", b"\x00\xff")),
    *(Literal(value, BOOLEAN) for value in (True, False, None)),
]


def through_text(expr: Expr) -> Expr:
    return from_json(json.loads(json.dumps(to_json(expr))))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: str(value.value)[:20])
def test_every_value_survives(value: Literal) -> None:
    read = through_text(Comparison("=", Column(("x",), value.type), value))
    assert read == Comparison("=", Column(("x",), value.type), value)
    assert isinstance(read, Comparison)
    assert isinstance(read.right, Literal)
    assert type(read.right.value) is type(value.value)
    assert repr(read.right.value) == repr(value.value) or value.type == MONEY


@settings(max_examples=300, deadline=None)
@given(PREDICATES)
def test_property_every_expression_survives(expr: Expr) -> None:
    assert through_text(expr) == expr
    assert fingerprint(through_text(expr)) == fingerprint(expr)


@pytest.mark.parametrize(
    "expr",
    [
        Call("cast", (X,), STRING, (("mode", "ansi"), ("timezone", "UTC"))),
        Like(X, "a%", "!"),
        Match("rlike", X, "^a"),
        Opaque("f(x)", "UDF", (X, D), INT),
        IsNull(Column(("a", "b c", "`"), Type.parse("struct<a:int>"))),
        IsNull(Column(("a",), Type(Kind.STRING, "varchar(3)"))),
        IsNull(Column(("a",), Type.parse("string collate UTF8_LCASE"))),
        IsNull(Column(("a",), Type.parse("interval day to second"))),
    ],
)
def test_every_node_and_type_survives(expr: Expr) -> None:
    assert through_text(expr) == expr


def test_fingerprint_tells_values_apart_and_is_the_same_in_another_process() -> None:
    zero, negative = (Comparison("=", D, Literal(value, DOUBLE)) for value in (0.0, -0.0))
    assert fingerprint(zero) != fingerprint(negative)
    assert fingerprint(Literal(Decimal("1.5"), MONEY)) == fingerprint(Literal(Decimal("1.50"), MONEY))
    script = (
        "import json, sys; from skipstone.predicate.codec import fingerprint, from_json;"
        "print(fingerprint(from_json(json.loads(sys.argv[1]))))"
    )
    text = json.dumps(to_json(And((zero, IsNull(X)))))
    other = subprocess.run([sys.executable, "-c", script, text], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == fingerprint(And((zero, IsNull(X))))
    assert len(other.stdout.strip()) == 16


@pytest.mark.parametrize(
    "broken",
    [None, 3, {}, [], ["column"], ["nonsense", 1], ["comparison", "~", [], []], ["column", [1], "int"],
     ["literal", {"float": "x"}, "double"], ["in", ["column", ["x"], "int"], [5]], ["like", 1, "a", "b"]],
)  # fmt: skip
def test_damaged_json_is_refused(broken: object) -> None:
    with pytest.raises(ValueError, match="not an expression"):
        from_json(broken)


def test_literal_without_json_form_is_refused() -> None:
    with pytest.raises(TypeError):
        to_json(literal(object()))

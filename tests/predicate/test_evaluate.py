from __future__ import annotations

import itertools
import math
from decimal import Decimal

import pytest
from tests.predicate.samples import DAY, B, D, S, X, Y, literal

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
from skipstone.predicate.types import (
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIMESTAMP_NTZ,
    Type,
)

NULL = Literal(None, BOOLEAN)
UNKNOWN = Opaque("udf()", "UDF")
TRUTHS = (True, False, None)
MONEY = Type.parse("decimal(5,2)")


def truth(value: Value) -> Literal:
    return Literal(value, BOOLEAN)


def compare(op: str, left: Value, right: Value, type_: Type = DOUBLE) -> Value:
    return evaluate(Comparison(op, Literal(left, type_), Literal(right, type_)), {})


def call(name: str, result: Type, *args: tuple[Value, Type], **params: str) -> Value:
    literals = tuple(Literal(value, type_) for value, type_ in args)
    return evaluate(Call(name, literals, result, tuple(params.items())), {})


@pytest.mark.parametrize(("left", "right"), list(itertools.product(TRUTHS, repeat=2)))
def test_truth_tables_are_three_valued(left: bool | None, right: bool | None) -> None:
    both, either = (evaluate(kind((truth(left), truth(right))), {}) for kind in (And, Or))
    assert both is (False if False in (left, right) else (None if None in (left, right) else True))
    assert either is (True if True in (left, right) else (None if None in (left, right) else False))
    assert evaluate(Not(truth(left)), {}) is (None if left is None else not left)


def test_nan_equals_itself_and_is_greater_than_everything() -> None:
    assert compare("=", math.nan, float("nan")) is True
    assert compare(">", math.nan, math.inf) is True
    assert compare("<", math.nan, math.nan) is False
    assert compare("<=", math.inf, math.nan) is True


def test_zeros_are_equal() -> None:
    assert compare("=", -0.0, 0.0) is True
    assert compare("<", -0.0, 0.0) is False


def test_strings_are_ordered_by_code_point_not_by_utf16() -> None:
    assert compare("<", "\uffff", "\U00010000", STRING) is True


def test_comparison_with_null_is_null_except_null_safe() -> None:
    assert compare("=", None, 1.0) is None
    assert compare("<=>", None, 1.0) is False
    assert compare("<=>", None, None) is True


def test_in_with_null_is_true_or_null() -> None:
    one_or_null = In(X, (literal(1), literal(None)))
    assert [evaluate(one_or_null, {X: value}) for value in (1, 2, None)] == [True, None, None]


def test_nan_in_a_list_with_null_is_unknown_because_spark_disagrees_with_itself() -> None:
    with pytest.raises(NotEvaluable):
        evaluate(In(D, (Literal(1.0, DOUBLE), Literal(None, DOUBLE))), {D: math.nan})


@pytest.mark.parametrize(
    "expr",
    [
        Comparison("=", X, literal(1)),
        UNKNOWN,
        And((UNKNOWN, truth(True))),
        And((UNKNOWN, NULL)),
        Or((UNKNOWN, truth(False))),
        Comparison("=", Literal("1", STRING), literal(1)),
        Comparison("=", Literal("x", Type.parse("string collate UTF8_LCASE")), Literal("X", STRING)),
        In(literal(None), ()),
        Like(Literal("a", STRING), "a\\"),
        Like(Literal("a", STRING), "\\a"),
        Call("map_get", (literal(1),), INT),
    ],
)
def test_what_cannot_be_known_is_not_evaluable(expr: Expr) -> None:
    with pytest.raises(NotEvaluable):
        evaluate(expr, {})


def test_decisive_neighbour_wins_over_the_unknown() -> None:
    assert evaluate(And((UNKNOWN, truth(False))), {}) is False
    assert evaluate(Or((UNKNOWN, truth(True))), {}) is True


def test_row_may_give_the_value_of_a_whole_call() -> None:
    month = Call("month", (DAY,), INT)
    assert evaluate(Comparison("=", month, literal(3)), {month: 3}) is True


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a%", "abc", True),
        ("a%", "ba", False),
        ("%b%", "a\nb\n", True),
        ("_", "\n", True),
        ("_", "\U0001f600", True),
        ("_", "", False),
        ("a%b%c", "a-b-b-c", True),
        ("a%bb%b", "abb", False),
        ("a_c", "abc", True),
        ("100\\%", "100%", True),
        ("100\\%", "1000", False),
        ("", "", True),
        ("%", "", True),
        ("a.c", "abc", False),
        ("abc", "abcd", False),
        ("%aab", "aaab", True),
    ],
)
def test_like_matches_the_whole_string(pattern: str, text: str, matches: bool) -> None:
    assert evaluate(Like(S, pattern), {S: text}) is matches


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("a.c", "abc", True),
        ("^a+b*c?$", "aab", True),
        ("c$", "abc", True),
        (r"\d{2,3}", "a12", True),
        (r"\d", "\u0663", False),
        (r"[^0-9]+", "12", False),
        ("x|b", "abc", True),
        ("^(?:ab)+$", "abab", True),
        ("(a|b)?c", "c", True),
        (r"a\.b", "axb", False),
        (r"a\$", "a$", True),
        ("[$]", "a", "unknown"),
        ("a$", "a\n", "unknown"),
        ("a.b", "a\rb", "unknown"),
        (r"\bfoo", "foo", "unknown"),
        ("(a+)+", "aa", "unknown"),
        ("(a|aa)*", "aa", "unknown"),
        ("a++", "aa", "unknown"),
        ("a{,2}", "aa", "unknown"),
        ("(?i)a", "A", "unknown"),
        ("[a-z&&[b]]", "b", "unknown"),
        (r"\p{L}", "a", "unknown"),
        ("(", "a", "unknown"),
        ("*a", "a", "unknown"),
        ("a**", "a", "unknown"),
        ("[z-a]", "a", "unknown"),
        ("a{3,2}", "a", "unknown"),
    ],
)
def test_rlike_finds_what_java_finds_or_does_not_say(pattern: str, text: str, found: object) -> None:
    expr = Match("rlike", S, pattern)
    if found == "unknown":
        with pytest.raises(NotEvaluable):
            evaluate(expr, {S: text})
    else:
        assert evaluate(expr, {S: text}) is found


@pytest.mark.parametrize(
    ("name", "result", "args", "value"),
    [
        ("add", INT, ((2, INT), (3, INT)), 5),
        ("multiply", LONG, ((1 << 31, LONG), (4, LONG)), 1 << 33),
        ("subtract", DOUBLE, ((0.3, DOUBLE), (0.1, DOUBLE)), 0.3 - 0.1),
        ("add", FLOAT, ((0.10000000149011612, FLOAT), (0.20000000298023224, FLOAT)), 0.30000001192092896),
        (
            "add",
            Type.parse("decimal(6,2)"),
            ((Decimal("1.50"), MONEY), (Decimal("2.25"), MONEY)),
            Decimal("3.75"),
        ),
        ("divide", DOUBLE, ((1.0, DOUBLE), (4.0, DOUBLE)), 0.25),
        ("negate", INT, ((5, INT),), -5),
        ("abs", DOUBLE, ((-2.5, DOUBLE),), 2.5),
        ("floor", LONG, ((-0.5, DOUBLE),), -1),
        ("ceil", Type.parse("decimal(4,0)"), ((Decimal("-1.50"), MONEY),), Decimal(-1)),
        ("year", INT, ((-719162, DATE),), 1),
        ("month", INT, ((19_782, DATE),), 2),
        ("dayofmonth", INT, ((19_782, DATE),), 29),
        ("quarter", INT, ((19_783, DATE),), 1),
        ("dayofweek", INT, ((0, DATE),), 5),
        ("weekday", INT, ((0, DATE),), 3),
        ("dayofyear", INT, ((19_783, DATE),), 61),
        ("day_of_week", INT, ((3, DATE),), 1),
        ("date_add", DATE, ((10, DATE), (-11, INT)), -1),
        ("datediff", INT, ((10, DATE), (3, DATE)), 7),
        ("lower", STRING, (("AbC", STRING),), "abc"),
        ("upper", STRING, (("AbC", STRING),), "ABC"),
        ("trim", STRING, ((" a\t ", STRING),), "a\t"),
        ("length", INT, (("a\U0001f600", STRING),), 2),
        ("concat", STRING, (("a", STRING), ("b", STRING), ("", STRING)), "ab"),
        ("concat", STRING, (("a", STRING), (None, STRING)), None),
        ("coalesce", INT, ((None, INT), (3, INT)), 3),
        ("if", INT, ((None, BOOLEAN), (1, INT), (2, INT)), 2),
        ("case_when", INT, ((False, BOOLEAN), (1, INT), (True, BOOLEAN), (2, INT), (3, INT)), 2),
        ("case_when", INT, ((False, BOOLEAN), (1, INT)), None),
        ("cast", LONG, ((5, INT),), 5),
        ("cast", DOUBLE, ((5, INT),), 5.0),
        ("cast", MONEY, ((5, INT),), Decimal("5.00")),
        ("cast", DOUBLE, ((Decimal("0.50"), MONEY),), 0.5),
        ("cast", STRING, ((-5, INT),), "-5"),
        ("cast", STRING, ((True, BOOLEAN),), "true"),
        ("cast", TIMESTAMP_NTZ, ((-1, DATE),), -86_400_000_000),
        ("cast", DATE, ((-1, TIMESTAMP_NTZ),), -1),
        ("cast", BYTE, ((127, INT),), 127),
    ],
)
def test_function_has_sparks_value(
    name: str, result: Type, args: tuple[tuple[Value, Type], ...], value: Value
) -> None:
    assert call(name, result, *args) == value


@pytest.mark.parametrize(
    ("start", "length", "part"),
    [
        (1, 2, "ab"),
        (0, 2, "ab"),
        (2, 9, "bcd"),
        (-2, 2, "cd"),
        (-6, 3, "a"),
        (5, 1, ""),
        (2, -1, ""),
        (-9, 2, ""),
    ],
)
def test_substring_counts_from_one_and_from_the_end(start: int, length: int, part: str) -> None:
    assert call("substring", STRING, ("abcd", STRING), (start, INT), (length, INT)) == part


@pytest.mark.parametrize(
    ("name", "result", "args"),
    [
        ("add", INT, ((2**31 - 1, INT), (1, INT))),
        ("add", LONG, ((1, INT), (1, LONG))),
        ("negate", BYTE, ((-128, BYTE),)),
        ("abs", LONG, ((-(2**63), LONG),)),
        ("multiply", MONEY, ((Decimal("1.25"), MONEY), (Decimal("1.25"), MONEY))),
        ("add", MONEY, ((Decimal("999.99"), MONEY), (Decimal("0.01"), MONEY))),
        ("divide", DOUBLE, ((1.0, DOUBLE), (-0.0, DOUBLE))),
        ("divide", Type.parse("decimal(10,6)"), ((Decimal(1), MONEY), (Decimal(3), MONEY))),
        ("multiply", FLOAT, ((3e38, FLOAT), (10.0, FLOAT))),
        ("floor", LONG, ((math.nan, DOUBLE),)),
        ("floor", LONG, ((1e30, DOUBLE),)),
        ("year", INT, ((-719163, DATE),)),
        ("year", INT, ((10**7, DATE),)),
        ("year", INT, ((0, Type.parse("timestamp")),)),
        ("lower", STRING, (("İ", STRING),)),
        ("upper", STRING, (("ß", STRING),)),
        ("trim", STRING, (("xax", STRING), ("x", STRING))),
        ("cast", INT, ((2**31, LONG),)),
        ("cast", DOUBLE, ((2**53 + 1, LONG),)),
        ("cast", DOUBLE, ((Decimal("0.10"), MONEY),)),
        ("cast", INT, ((1.0, DOUBLE),)),
        ("cast", INT, (("1", STRING),)),
        ("cast", STRING, ((1.0, DOUBLE),)),
        ("cast", Type.parse("timestamp"), ((0, DATE),)),
        ("cast", MONEY, ((1000, INT),)),
        ("soundex", STRING, (("a", STRING),)),
    ],
)
def test_function_outside_its_certain_range_is_not_evaluable(
    name: str, result: Type, args: tuple[tuple[Value, Type], ...]
) -> None:
    with pytest.raises(NotEvaluable):
        call(name, result, *args)


def test_function_under_a_setting_that_changes_values_is_not_evaluable() -> None:
    with pytest.raises(NotEvaluable):
        evaluate(Call("add", (literal(1), literal(2)), INT, (("conf.legacy", "true"),)), {})


def test_null_argument_gives_null_and_boolean_column_is_its_value() -> None:
    assert evaluate(Call("add", (X, Y), INT), {X: 1, Y: None}) is None
    assert evaluate(B, {B: False}) is False
    assert evaluate(IsNull(Column(("a", "b"), INT)), {Column(("a", "b"), INT): None}) is True

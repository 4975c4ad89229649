from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import pytest
from tests.predicate.samples import DAY, B, D, S, X, Y, literal

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
from skipstone.predicate.literals import civil
from skipstone.predicate.render import to_sql
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

ONE = literal(1)
SUM = Call("add", (X, Y), INT)
MAP = Column(("attrs",), Type.parse("map<string,string>"))


@pytest.mark.parametrize(
    ("expr", "sql"),
    [
        (Comparison("=", X, ONE), "x = 1"),
        (Not(Comparison("=", X, ONE)), "x != 1"),
        (Not(Comparison("<=>", X, ONE)), "NOT (x <=> 1)"),
        (And((B, Or((IsNull(X), Not(B))))), "b AND (x IS NULL OR NOT b)"),
        (Or((And((B, IsNull(X))), B)), "b AND x IS NULL OR b"),
        (Not(And((B, B))), "NOT (b AND b)"),
        (Not(IsNull(SUM)), "x + y IS NOT NULL"),
        (Not(In(X, (ONE, literal(None)))), "x NOT IN (1, NULL)"),
        (Like(S, "a\\%b%"), "s LIKE concat('a', chr(92), '%b%')"),
        (Not(Like(S, "it's%", "!")), "s NOT LIKE concat('it', chr(39), 's%') ESCAPE '!'"),
        (Match("starts_with", S, "a"), "startswith(s, 'a')"),
        (Match("rlike", S, "^\\d"), "s RLIKE concat('^', chr(92), 'd')"),
        (Call("multiply", (SUM, X), INT), "(x + y) * x"),
        (Call("subtract", (X, SUM), INT), "x - (x + y)"),
        (Call("negate", (literal(-1),), INT), "-(-1)"),
        (Call("cast", (X,), LONG), "CAST(x AS BIGINT)"),
        (Call("cast", (X,), STRING, (("mode", "try"),)), "TRY_CAST(x AS STRING)"),
        (Call("map_get", (MAP, Literal("k", STRING)), STRING), "attrs['k']"),
        (Call("array_get", (X, literal(0)), INT, (("base", "0"),)), "x[0]"),
        (Call("array_get", (X, literal(-1)), INT, (("base", "1"),)), "element_at(x, -1)"),
        (Call("day_of_month", (DAY,), INT), "dayofmonth(day)"),
        (Call("case_when", (B, ONE, X), INT), "CASE WHEN b THEN 1 ELSE x END"),
        (Opaque("my_udf(x)", "UDF"), "my_udf(x)"),
        (Column(("a b", "order", "ok"), INT), "`a b`.`order`.ok"),
        (Column(("tick`s",), INT), "`tick``s`"),
        (Comparison("=", Comparison("<", X, ONE), B), "(x < 1) = b"),
    ],
)
def test_expression_reads_as_sql(expr: Expr, sql: str) -> None:
    assert to_sql(expr) == sql


@pytest.mark.parametrize(
    ("value", "type_", "sql"),
    [
        (5, BYTE, "5Y"),
        (5, SHORT, "5S"),
        (-(2**63), LONG, "-9223372036854775808L"),
        (1.5, DOUBLE, "1.5D"),
        (1e300, DOUBLE, "1E300D"),
        (1e-7, DOUBLE, "1E-07D"),
        (2.5, FLOAT, "2.5F"),
        (math.nan, DOUBLE, "double('NaN')"),
        (-math.inf, FLOAT, "float('-Infinity')"),
        (Decimal("1.50"), Type.parse("decimal(3,2)"), "1.50BD"),
        (Decimal("1.5"), Type.parse("decimal(5,2)"), "CAST(1.50BD AS DECIMAL(5,2))"),
        (Decimal("1E+3"), Type.parse("decimal(4,0)"), "1000BD"),
        ("it's \\ \n", STRING, "concat('it', chr(39), 's ', chr(92), ' ', chr(10))"),
        (b"\x00\xab", BINARY, "X'00AB'"),
        (True, BOOLEAN, "TRUE"),
        (None, INT, "CAST(NULL AS INT)"),
        (0, DATE, "DATE '1970-01-01'"),
        (-719528, DATE, "DATE '0000-01-01'"),
        (-719529, DATE, "DATE '-0001-12-31'"),
        (2932897, DATE, "DATE '+10000-01-01'"),
        (1_500_000, TIMESTAMP, "TIMESTAMP '1970-01-01 00:00:01.5Z'"),
        (-1, TIMESTAMP_NTZ, "TIMESTAMP_NTZ '1969-12-31 23:59:59.999999'"),
        (-3, Type.parse("interval year to month"), "INTERVAL '-0-3' YEAR TO MONTH"),
        (
            -90_000_000_001,
            Type.parse("interval day to second"),
            "INTERVAL '-1 01:00:00.000001' DAY TO SECOND",
        ),
        (3_600_000_001_000, Type.parse("time(6)"), "TIME '01:00:00.000001'"),
    ],
)
def test_literal_shows_its_type(value: Value, type_: Type, sql: str) -> None:
    assert to_sql(Literal(value, type_)) == sql


def test_days_become_the_dates_that_python_knows() -> None:
    days = range(-719162, 2932897, 7919)
    start = dt.date(1970, 1, 1)
    assert [civil(day) for day in days] == [
        (d.year, d.month, d.day) for d in (start + dt.timedelta(day) for day in days)
    ]
    assert to_sql(Comparison("<", D, Literal(0.0, DOUBLE))) == "d < 0.0D"

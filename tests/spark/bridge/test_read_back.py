"""What is rendered is read back by Spark as the same normal form, in every session."""

from __future__ import annotations

import itertools
import math
import random
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

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
    Or,
    is_opaque,
)
from skipstone.predicate.normalize import normalize
from skipstone.predicate.render import to_sql, unwritable
from skipstone.predicate.types import BOOLEAN, STRING, Type
from skipstone.spark.bridge.read_back import Unreadable, read_back, unevaluable
from skipstone.spark.engine.session_copy import copied_session

from .read_back_cases import CALLS, CONTAINERS

TEXTS = (
    *(
        "",
        "a",
        "it's",
        "'",
        '"',
        "\\",
        "\\\\",
        "\\'",
        "a\\nb",
        "a\nb",
        "tab\t\r",
        "\x00\x01\x7f",
        "é😀\u2028",
    ),
    *("100%", "a_b", "--x", "/* x */", "`", "${x}", "\\u0041", "'; DROP TABLE t", "end\\"),
)
DAY, LONGS = 86_400_000_000, (-(2**63), -(2**63) + 1, -1, 0, 1, 2**31, 2**63 - 1)
TIMES = (0, -1, 1, 1_500_000, -62_135_596_800_000_000, 253_402_300_799_999_999, 253_402_300_800_000_000)
REALS = (math.nan, math.inf, -math.inf, 0.0, 1.5, -2.5, 0.1, 1e22, 1e-7, 5e-324, 1.7976931348623157e308)
FLOATS = (
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -2.5,
    0.10000000149011612,
    3.4028234663852886e38,
    1.401298464324817e-45,
)
VALUES: dict[str, tuple[Any, ...]] = {
    "bo boolean": (),
    "ti tinyint": (-128, -1, 0, 127),
    "sm smallint": (-32768, -1, 0, 32767),
    "i int": (-(2**31), -1, 0, 2**31 - 1),
    "l bigint": LONGS,
    "f float": FLOATS,
    "d double": REALS,
    "de decimal(20,4)": tuple(map(Decimal, ("0", "0.0000", "-1.5", "0.05", "1E+3", "9999999999999999.9999"))),
    "dt decimal(2,2)": tuple(map(Decimal, ("0", "0.01", "-0.99"))),
    "dw decimal(38,0)": tuple(map(Decimal, ("0", "-" + "9" * 38))),
    "s string": TEXTS,
    "by binary": (b"", b"\x00\xff", b"it's"),
    "da date": (0, -1, -719_529, -719_528, 2_932_896, 2_932_897, 100_000_000, -100_000_000),
    "ts timestamp": TIMES,
    "tn timestamp_ntz": TIMES,
    "ym interval year to month": (0, 1, -13, 2**31 - 1, -(2**31)),
    "iy interval year": (0, 12, -24),
    "im interval month": (0, 7, -13),
    "dti interval day to second": (0, 1, -1, -90_000_000_001, 2**63 - 1, -(2**63)),
    "dh interval day to hour": (0, DAY + 3_600_000_000, -3_600_000_000),
    "id interval day": (0, -DAY),
    "hs interval hour to second": (0, -1, 86_399_999_999),
}
MORE = (
    "arr array<int>, texts array<string>, days array<date>, attrs map<string,string>, keyed map<int,double>, "
    "st struct<a: int, `odd name`: struct<b: string>>, cal interval, `user` int, `a``b c` string"
)
SCHEMA = ", ".join(VALUES) + ", " + MORE


@pytest.fixture(scope="module")
def everything(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """No rows, of every type that a predicate can speak about."""
    frame = spark.createDataFrame([], SCHEMA.replace(", cal interval", ""))
    return frame.selectExpr("*", "CAST(NULL AS INTERVAL) AS cal")


def columns() -> list[tuple[Column, tuple[Any, ...]]]:
    found = []
    for described, values in VALUES.items():
        name, type_ = described.split(" ", 1)
        found.append((Column((name,), Type.parse(type_)), values))
    return found


def atoms() -> list[list[Expr]]:
    """Predicates with constants of every type, one list for each column."""
    out = []
    for column, values in columns():
        literals = [Literal(value, column.type) for value in values]
        one: list[Expr] = [IsNull(column)]
        one += [Comparison(op, column, each) for each in literals for op in ("=", "<", ">=", "<=>")]
        one += [In(column, tuple(two)) for two in itertools.pairwise(literals)]
        one += [In(column, (*literals, Literal(None, column.type)))] if len(literals) > 1 else []
        one += [column] if column.type == BOOLEAN else []
        if column.type == STRING:
            one += [
                Match(kind, column, text) for kind in ("starts_with", "contains", "rlike") for text in TEXTS
            ]
            one += [Like(column, f"%{text}_b%") for text in TEXTS if not text.endswith("\\")]
        out.append([normalize(atom) for atom in one])
    return out


def nested(seed: int, count: int) -> list[Expr]:
    """ANDs, ORs and NOTs of predicates on different columns, so that nothing is there to simplify."""
    chance = random.Random(seed)
    groups: list[list[Expr]] = [
        [atom for atom in group if not isinstance(atom, Literal)] for group in atoms()
    ]

    def one(available: list[list[Expr]], depth: int) -> Expr:
        if depth == 0 or len(available) < 4:
            found = chance.choice(chance.choice(available))
            return Not(found) if chance.random() < 0.4 else found
        middle = len(available) // 2
        parts = (one(available[:middle], depth - 1), one(available[middle:], depth - 1))
        joined: Expr = And(parts) if chance.random() < 0.5 else Or(parts)
        return Not(joined) if chance.random() < 0.2 else joined

    return [normalize(one(chance.sample(groups, len(groups)), chance.randint(1, 3))) for _ in range(count)]


def assert_read_back(frame: DataFrame, exprs: list[Expr]) -> None:
    read = read_back(frame, frame.schema.json(), [to_sql(expr) for expr in exprs])
    wrong = [
        (to_sql(a), b if isinstance(b, Unreadable) else to_sql(b))
        for a, b in zip(exprs, read, strict=True)
        if a != b
    ]
    assert not wrong, f"{len(wrong)} of {len(exprs)}: {wrong[:30]}"


NOT_UNDERSTOOD = ["base64(by) = 'x'", "ts + make_interval(0, 1, 0, 2) > ts"]


@pytest.mark.parametrize("escaped", ["false", "true"])
def test_every_predicate_is_read_back_as_itself(
    spark: SparkSession, everything: DataFrame, escaped: str
) -> None:
    spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
    exprs: list[Expr] = [atom for group in atoms() for atom in group if not isinstance(atom, Literal)]
    exprs += nested(7, 400)
    assert len(exprs) > 800
    assert not any(map(unwritable, exprs))
    assert_read_back(everything, exprs)


def test_every_call_and_container_is_read_back_as_itself(spark: SparkSession, everything: DataFrame) -> None:
    texts = [*CALLS, *(f"hash({each}, i) = 5" for each in CONTAINERS)]
    texts += ["array_contains(array('SFO', 'LAX'), s)", "map('a', 1, 'b', 2)[s] = 1"]
    read = read_back(everything, everything.schema.json(), texts)
    assert [text for text, one in zip(texts, read, strict=True) if isinstance(one, Unreadable)] == []
    known = {text: one for text, one in zip(texts, read, strict=True) if not isinstance(one, Unreadable)}
    understood = {text: one for text, one in known.items() if not is_opaque(one)}
    assert sorted(set(texts) - set(understood)) == NOT_UNDERSTOOD
    assert not any(map(unwritable, understood.values()))
    spark.conf.set("spark.sql.parser.escapedStringLiterals", "true")
    assert_read_back(everything, list(understood.values()))


SIMPLIFIED = {"element_at", "if", "nvl2", "right", "try_element_at", "time_bucket"}


@pytest.fixture(scope="module")
def unfolded(spark: SparkSession) -> SparkSession:
    """A session in which calls of constants stay calls."""
    rules = ("ConstantFolding", "ConvertToLocalRelation")
    excluded = ",".join(f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in rules)
    return copied_session(spark, {"spark.sql.optimizer.excludedRules": excluded})


def test_functions_are_read_back_as_themselves_or_not_at_all(unfolded: SparkSession) -> None:
    """By the examples of Spark's own documentation, one for each function."""
    frame = unfolded.range(1)
    texts = examples(unfolded)
    read = dict(zip(texts, read_back(frame, frame.schema.json(), texts), strict=True))
    written = {
        text: expr
        for text, expr in read.items()
        if not isinstance(expr, Unreadable) and not is_opaque(expr) and unwritable(expr) is None
    }
    assert len(written) > 150
    sql = [to_sql(expr) for expr in written.values()]
    again = read_back(frame, frame.schema.json(), sql)
    other = {
        text.split("(")[0]
        for (text, expr), found in zip(written.items(), again, strict=True)
        if not isinstance(found, Unreadable)
        and without_params(found) != without_params(expr)
        and "chr(" not in to_sql(found)
    }
    # Spark simplifies these examples, for all of them have constants only.
    assert other <= {"CASE WHEN 1 > 0 THEN 1 WHEN 2 > 0 THEN 2.0 ELSE 1.2 END", *SIMPLIFIED}


def without_params(expr: Expr) -> Expr:
    match expr:
        case Call(args=args):
            return replace(expr, args=tuple(map(without_params, args)), params=())
        case Comparison(op, left, right):
            return Comparison(op, without_params(left), without_params(right))
        case In() | IsNull() | Like() | Match() | Not():
            return replace(expr, arg=without_params(expr.arg))
        case And(args) | Or(args):
            return replace(expr, args=tuple(map(without_params, args)))
    return expr


def examples(spark: SparkSession) -> list[str]:
    """The first example of each scalar function that its documentation has."""
    registry = spark._jsparkSession.sessionState().functionRegistry()
    names = registry.listFunction().iterator()
    found: dict[str, str] = {}
    while names.hasNext():
        name = names.next()
        info = registry.lookupFunction(name).get()
        shown = re.search(r"> SELECT (.*?);\s*\n", info.getExamples().replace("_FUNC_", name.funcName()))
        if shown and " FROM " not in shown[1] and not info.getGroup().endswith(("agg_funcs", "window_funcs")):
            found.setdefault(info.getClassName(), shown[1])
    return sorted(set(found.values()))


def test_what_fails_is_found_among_many_and_named(spark: SparkSession, everything: DataFrame) -> None:
    texts = [f"i > {n}" for n in range(40)]
    texts[7], texts[31] = 'array_contains(["SFO"], s)', "no_such_function(i) = 1"
    read = read_back(everything, everything.schema.json(), texts)
    wrong = {index: one.reason for index, one in enumerate(read) if isinstance(one, Unreadable)}
    assert set(wrong) == {7, 31}
    assert wrong[7] == "Syntax error at or near '['"
    assert "no_such_function" in wrong[31]
    rows = spark.range(10)
    assert set(
        unevaluable(rows, ["id > 3", "CAST('x' AS INT) = id", "element_at(array(1), CAST(id AS INT)) = 1"])
    ) == {2}

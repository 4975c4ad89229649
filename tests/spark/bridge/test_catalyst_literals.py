"""Literals of every scalar type arrive exactly, whatever the session's time zone."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from skipstone.predicate.expr import Call, Column, Comparison, In, Literal
from skipstone.predicate.types import DATE, STRING, TIMESTAMP, Kind

from .live_filters import live_filter, without_null_checks

SCHEMA = (
    "bo boolean, ti tinyint, sm smallint, i int, l bigint, f float, d double, de decimal(38,10), s string, "
    "b binary, dt date, ts timestamp, tn timestamp_ntz, "
    "dti interval day to second, ymi interval year to month"
)
LONG_DECIMAL = Decimal("1234567890123456789012345678.1234567890")


@pytest.fixture(scope="module")
def scalars(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("scalars") / "t")
    spark.createDataFrame([], SCHEMA).write.parquet(path)
    return spark.read.schema(SCHEMA).parquet(path)


def days(year: int, month: int, day: int) -> int:
    return date(year, month, day).toordinal() - date(1970, 1, 1).toordinal()


def micros(*parts: int) -> int:
    delta = datetime(*parts) - datetime(1970, 1, 1)  # type: ignore[arg-type]
    return (delta.days * 86400 + delta.seconds) * 1_000_000 + delta.microseconds


@pytest.mark.parametrize(
    ("condition", "kind", "value"),
    [
        ("ti = 3Y", Kind.BYTE, 3),
        ("sm = -3S", Kind.SHORT, -3),
        ("i = 3", Kind.INT, 3),
        ("l = 9223372036854775807", Kind.LONG, 2**63 - 1),
        ("f = float(0.1)", Kind.FLOAT, 0.10000000149011612),
        ("d = 1e-300D", Kind.DOUBLE, 1e-300),
        ("d = double('-Infinity')", Kind.DOUBLE, -math.inf),
        ("de = 1234567890123456789012345678.1234567890", Kind.DECIMAL, LONG_DECIMAL),
        (r"s = 'it\'s \"q\" 😀 \\ \n'", Kind.STRING, 'it\'s "q" 😀 \\ \n'),
        ("s = ''", Kind.STRING, ""),
        ("b = X'00ff41'", Kind.BINARY, b"\x00\xffA"),
        ("dt = date'1500-03-01'", Kind.DATE, days(1500, 3, 1)),
        ("dt = date'0001-01-01'", Kind.DATE, days(1, 1, 1)),
        ("dt = date'1969-12-31'", Kind.DATE, -1),
        ("dt = date'12020-12-31'", Kind.DATE, 3671052),
        ("ts = timestamp'1582-10-04 00:00:00'", Kind.TIMESTAMP, micros(1582, 10, 4)),
        ("ts = timestamp'1890-01-01 00:00:00.123456'", Kind.TIMESTAMP, micros(1890, 1, 1, 0, 0, 0, 123456)),
        ("tn = timestamp_ntz'1500-01-01 00:00:00'", Kind.TIMESTAMP_NTZ, micros(1500, 1, 1)),
        ("tn = timestamp_ntz'1500-01-01 00:00:00.000001'", Kind.TIMESTAMP_NTZ, micros(1500, 1, 1) + 1),
        ("dti = interval '1 02:03:04.000005' day to second", Kind.DAY_TIME_INTERVAL, 93784000005),
        ("ymi = interval '-3-2' year to month", Kind.YEAR_MONTH_INTERVAL, -38),
    ],
)
def test_literal_is_held_in_its_canonical_form(
    scalars: DataFrame, condition: str, kind: Kind, value: object
) -> None:
    found = without_null_checks(live_filter(scalars.where(condition)))
    assert isinstance(found, Comparison)
    assert isinstance(found.right, Literal)
    assert found.op == "="
    assert found.left == Column((condition.split(maxsplit=1)[0],), found.right.type)
    assert (found.right.type.kind, found.right.value) == (kind, value)


def test_nan_literals_are_equal_nodes(scalars: DataFrame) -> None:
    first = without_null_checks(live_filter(scalars.where("d = double('NaN')")))
    second = without_null_checks(live_filter(scalars.where("d = double('nan')")))
    assert first == second
    assert isinstance(first, Comparison)
    assert isinstance(first.right, Literal)
    assert repr(first.right.value) == "nan"


def test_negative_zero_is_told_from_zero_inside_a_function(scalars: DataFrame) -> None:
    negative = without_null_checks(live_filter(scalars.where("atan2(-0.0D, d) = 1")))
    positive = without_null_checks(live_filter(scalars.where("atan2(0.0D, d) = 1")))
    assert isinstance(negative, Comparison)
    assert isinstance(negative.left, Call)
    assert negative != positive


def test_nan_is_the_last_value_of_a_long_in_list(scalars: DataFrame) -> None:
    found = live_filter(scalars.where(f"d in ({', '.join(map(str, range(13)))}, double('NaN'))"))
    assert isinstance(found, In)
    assert [repr(literal.value) for literal in found.values] == [*(f"{n}.0" for n in range(13)), "nan"]


def test_null_among_the_values_of_in_is_kept(scalars: DataFrame) -> None:
    found = live_filter(scalars.where("s in ('a', null)"))
    assert found == In(Column(("s",), STRING), (Literal("a", STRING), Literal(None, STRING)))


@pytest.mark.parametrize(
    ("column", "texts", "values"),
    [
        ("dt", [f"date'1500-01-{n:02}'" for n in range(1, 15)], [days(1500, 1, n) for n in range(1, 15)]),
        ("b", [f"X'{n:02x}'" for n in range(14)], [bytes([n]) for n in range(14)]),
        ("s", [f"'é{n}'" for n in range(14)], sorted(f"é{n}" for n in range(14))),
    ],
)
def test_long_in_list_keeps_its_values(
    scalars: DataFrame, column: str, texts: list[str], values: list[object]
) -> None:
    found = live_filter(scalars.where(f"{column} in ({', '.join(texts)})"))
    assert isinstance(found, In)
    assert [literal.value for literal in found.values] == values


@pytest.mark.parametrize(
    ("zone", "hours"), [("UTC", 0), ("America/Los_Angeles", 8), ("Asia/Kolkata", -5.5), ("+03:00", -3)]
)
def test_timestamp_text_is_read_in_the_session_zone_and_held_in_utc(
    spark: SparkSession, scalars: DataFrame, zone: str, hours: float
) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)
    found = without_null_checks(live_filter(scalars.where("ts > '2020-01-15 00:00:00.5'")))
    expected = micros(2020, 1, 15, 0, 0, 0, 500000) + int(hours * 3600) * 1_000_000
    assert found == Comparison(">", Column(("ts",), TIMESTAMP), Literal(expected, TIMESTAMP))


def test_the_two_instants_of_a_repeated_hour_are_told_apart(spark: SparkSession, scalars: DataFrame) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/Los_Angeles")
    first, second = (
        without_null_checks(live_filter(scalars.where(f"ts = timestamp_seconds({seconds})")))
        for seconds in (1604219400, 1604223000)  # both 2020-11-01 01:30:00 by the clock
    )
    assert first == Comparison("=", Column(("ts",), TIMESTAMP), Literal(1604219400 * 10**6, TIMESTAMP))
    assert second == Comparison("=", Column(("ts",), TIMESTAMP), Literal(1604223000 * 10**6, TIMESTAMP))


def test_current_date_arrives_folded_in_a_live_filter(scalars: DataFrame) -> None:
    found = without_null_checks(live_filter(scalars.where("dt > current_date()")))
    assert isinstance(found, Comparison)
    assert isinstance(found.right, Literal)
    assert found.right.type == DATE


def test_array_literals_are_equal_when_their_values_are(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    spark.createDataFrame([], "arr array<int>").write.parquet(path)
    frame = spark.read.parquet(path)
    one, same, other = (
        without_null_checks(live_filter(frame.where(f"arr = array({text})")))
        for text in ("1, 2", "1, 1 + 1", "2, 1")
    )
    assert one == same
    assert one != other

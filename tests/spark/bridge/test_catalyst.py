"""Expressions arrive with everything that decides their value, and nothing else."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Opaque,
    Or,
)
from skipstone.predicate.types import BOOLEAN, DATE, DOUBLE, INT, LONG, STRING
from skipstone.spark.bridge.catalyst import expr_from_catalyst
from skipstone.spark.bridge.catalyst_json import expression_json

from .live_filters import live_filter, without_null_checks

SCHEMA = (
    "i int, l bigint, d double, de decimal(20,2), s string, dt date, ts timestamp, "
    "st struct<x int, y struct<z string>>, m map<string,int>, arr array<int>"
)
NUM = Column(("i",), INT)
L, D, S = Column(("l",), LONG), Column(("d",), DOUBLE), Column(("s",), STRING)
DT = Column(("dt",), DATE)


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("catalyst") / "t")
    spark.createDataFrame([], SCHEMA).write.parquet(path)
    return spark.read.parquet(path)


def one(value: object) -> Literal:
    return Literal(value, INT)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("i <=> 3", Comparison("<=>", NUM, one(3))),
        ("i != 3", Not(Comparison("=", NUM, one(3)))),
        ("i is null", IsNull(NUM)),
        ("i is not null", Not(IsNull(NUM))),
        ("i = 1 or (l = 2 or d > 3D)", Or((
            Comparison("=", NUM, one(1)),
            Comparison("=", L, Literal(2, LONG)),
            Comparison(">", D, Literal(3.0, DOUBLE)),
        ))),
        ("s like 'a%b_'", Like(S, "a%b_")),
        ("s like 'a!%%_b' escape '!'", Like(S, "a!%%_b", "!")),
        ("s like 'a%'", Match("starts_with", S, "a")),
        ("endswith(s, 'x')", Match("ends_with", S, "x")),
        ("contains(s, 'x')", Match("contains", S, "x")),
        ("s rlike 'a.*'", Match("rlike", S, "a.*")),
        ("s like any ('a%b%', '%c_')", Or((Like(S, "a%b%"), Like(S, "%c_")))),
        ("i = l", Comparison("=", Call("cast", (NUM,), LONG), L)),
        ("st.y.z = 'k'", Comparison("=", Column(("st", "y", "z"), STRING), Literal("k", STRING))),
        ("st.x = 1", Comparison("=", Column(("st", "x"), INT), one(1))),
        ("trunc(dt, 'MM') = date'1970-01-02'", Comparison(
            "=", Call("trunc", (DT, Literal("MM", STRING)), DATE), Literal(1, DATE)
        )),
        ("year(dt) = 2020", Comparison("=", Call("year", (DT,), INT), one(2020))),
        ("lower(s) = 'a'", Comparison("=", Call("lower", (S,), STRING), Literal("a", STRING))),
        ("i + 1 = 5", Comparison("=", Call("add", (NUM, one(1)), INT, (("mode", "ansi"),)), one(5))),
        ("try_add(i, 1) = 5", Comparison("=", Call("add", (NUM, one(1)), INT, (("mode", "try"),)), one(5))),
        ("-i = 5", Comparison("=", Call("negate", (NUM,), INT, (("mode", "ansi"),)), one(5))),
        ("cast(s as int) = 5", Comparison("=", Call("cast", (S,), INT, (("mode", "ansi"),)), one(5))),
        ("try_cast(s as int) = 5", Comparison("=", Call("cast", (S,), INT, (("mode", "try"),)), one(5))),
        ("coalesce(i, 1) = 2", Comparison("=", Call("coalesce", (NUM, one(1)), INT), one(2))),
        ("isnan(d)", Call("is_nan", (D,), BOOLEAN)),
    ],
)  # fmt: skip
def test_expression_becomes_its_node(table: DataFrame, condition: str, expected: Expr) -> None:
    assert without_null_checks(live_filter(table.where(condition))) == expected


def test_between_and_conjunctions_are_one_flat_and(table: DataFrame) -> None:
    found = live_filter(table.where("i between 1 and 2 and s = 'a'"))
    assert isinstance(found, And)
    assert Comparison(">=", NUM, one(1)) in found.args
    assert Comparison("<=", NUM, one(2)) in found.args
    assert Not(IsNull(NUM)) in found.args


def test_map_lookups_are_one_call_however_written(table: DataFrame) -> None:
    first, second = (
        without_null_checks(live_filter(table.where(f"{text} = 3")))
        for text in ("m['k']", "element_at(m, 'k')")
    )
    assert first == second
    assert isinstance(first, Comparison)
    assert isinstance(first.left, Call)
    assert (first.left.name, first.left.args[1], first.left.params) == ("map_get", Literal("k", STRING), ())


def test_array_lookups_count_from_zero_and_keep_their_failure_mode(table: DataFrame) -> None:
    index, element, tried, last = (
        without_null_checks(live_filter(table.where(f"{text} = 1")))
        for text in ("arr[0]", "element_at(arr, 1)", "try_element_at(arr, 1)", "element_at(arr, -1)")
    )
    assert index == element
    assert isinstance(index, Comparison)
    assert isinstance(index.left, Call)
    assert index.left.args[1] == one(0)
    assert len({index, tried, last}) == 3


def test_zone_is_part_of_a_function_only_where_it_matters(spark: SparkSession, table: DataFrame) -> None:
    def in_zone(zone: str, condition: str) -> Expr:
        spark.conf.set("spark.sql.session.timeZone", zone)
        return without_null_checks(live_filter(table.where(condition)))

    for condition in ("hour(ts) = 3", "cast(ts as string) = 'x'", "date_format(ts, 'yyyy') = '2020'"):
        assert in_zone("UTC", condition) != in_zone("Asia/Kolkata", condition)
    for condition in ("cast(i as string) = '1'", "cast(s as date) = date'2020-01-01'", "month(dt) = 1"):
        assert in_zone("UTC", condition) == in_zone("Asia/Kolkata", condition)


def test_overflow_mode_is_part_of_arithmetic_and_casts(spark: SparkSession, table: DataFrame) -> None:
    def by_mode(condition: str) -> set[Expr]:
        out = set()
        for ansi in ("true", "false"):
            spark.conf.set("spark.sql.ansi.enabled", ansi)
            out.add(without_null_checks(live_filter(table.where(condition))))
        return out

    assert len(by_mode("i * 2 = 4")) == 2
    assert len(by_mode("de + de = 4.00")) == 2
    assert len(by_mode("cast(d as int) = 4")) == 2
    assert len(by_mode("cast(i as bigint) + l > 4")) == 2
    assert len(by_mode("cast(de as string) = '4.00'")) == 2
    assert len(by_mode("i = l")) == 1
    assert len(by_mode("cast(i as string) = '4'")) == 1


def test_setting_that_changes_values_is_part_of_the_call(spark: SparkSession, table: DataFrame) -> None:
    plain = without_null_checks(live_filter(table.where("upper(s) = 'A'")))
    spark.conf.set("spark.sql.icu.caseMappings.enabled", "false")
    changed = without_null_checks(live_filter(table.where("upper(s) = 'A'")))
    assert plain != changed
    assert isinstance(changed, Comparison)
    assert isinstance(changed.left, Call)
    assert changed.left.params == (("conf.spark.sql.icu.caseMappings.enabled", "false"),)


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("rand() > 0.5", "NON_DETERMINISTIC"),
        ("uuid() = s", "NON_DETERMINISTIC"),
        ("monotonically_increasing_id() = l", "NON_DETERMINISTIC"),
        ("input_file_name() = s", "NON_DETERMINISTIC"),
        ("exists(arr, x -> x > i)", "LAMBDA"),
        ("s collate UTF8_LCASE = 'a'", "COLLATION"),
        ("i = (select max(id) from range(3))", "SUBQUERY"),
        ("_metadata.file_name = 'x'", "METADATA_COLUMN"),
        ("java_method('java.lang.Math', 'abs', i) = 'x'", "NON_DETERMINISTIC"),
        ("cast(arr as string) = 'x'", "UNSUPPORTED"),
    ],
)
def test_what_must_not_be_understood_is_opaque(table: DataFrame, condition: str, code: str) -> None:
    found = live_filter(table.where(condition))
    parts = found.args if isinstance(found, And) else (found,)
    assert [part.code for part in parts if isinstance(part, Opaque)] == [code]
    assert not any(isinstance(part, Comparison) for part in parts)


def test_udf_is_opaque_and_names_itself_and_its_columns(spark: SparkSession, table: DataFrame) -> None:
    spark.udf.register("shout", lambda text: text, "string")
    parsed = table.where("shout(s) = 'A' or i = 1")._jdf.queryExecution().analyzed()
    found = expr_from_catalyst(expression_json(spark, parsed.condition()))
    assert isinstance(found, Or)
    assert isinstance(found.args[0], Opaque)
    assert (found.args[0].code, found.args[0].columns) == ("UDF", (S,))
    assert found.args[0].text.startswith("shout(s)")
    assert found.args[1] == Comparison("=", NUM, one(1))


def test_session_dependent_functions_are_refused_before_they_are_folded(
    spark: SparkSession, table: DataFrame
) -> None:
    for text in ("dt > current_date()", "ts > now()", "s = current_user()", "s = current_timezone()"):
        plan = table.where(text)._jdf.queryExecution().analyzed()
        found = expr_from_catalyst(expression_json(spark, plan.condition()))
        assert isinstance(found, Opaque)
        assert found.code == "SESSION_DEPENDENT"


def test_a_thousand_ors_need_no_recursion(table: DataFrame) -> None:
    found = live_filter(table.where(" or ".join(f"(i = {n} and l = {n})" for n in range(400))))
    assert isinstance(found, Or)
    assert len(found.args) == 400


def test_column_with_an_existence_default_is_not_used(spark: SparkSession) -> None:
    spark.sql("create table with_default (a int, b int) using parquet")
    try:
        spark.sql("alter table with_default add column c int default 7")
        found = live_filter(spark.table("with_default").where("c = 7"))
        parts = found.args if isinstance(found, And) else (found,)
        assert {part.code for part in parts if isinstance(part, Opaque)} == {"COLUMN_DEFAULT"}
        assert all(isinstance(part, Opaque) for part in parts)
    finally:
        spark.sql("drop table with_default")

"""Logged SQL: the filters and columns that reach each table."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import Column, Comparison, Expr, Literal, walk
from skipstone.predicate.types import BOOLEAN, INT, STRING
from skipstone.spark.bridge.parse_sql import QueryParser, TableSource, parse_queries
from skipstone.workload import BrokenQuery, LeftOut, ParsedQuery, Query, TableScan, Workload

from .live_filters import live_filter

ORDERS = (
    StructType()
    .add("o_id", "integer")
    .add("o_day", "integer")
    .add("o_state", "string")
    .add("o_note", "string")
    .add("o_to", StructType().add("city", "string").add("zip", "integer"))
)
ITEMS = StructType().add("i_id", "integer").add("i_order", "integer").add("i_price", "integer")
DAY_5 = Comparison("=", Column(("o_day",), INT), Literal(5, INT))
PRICE_7 = Comparison(">", Column(("i_price",), INT), Literal(7, INT))


@pytest.fixture(scope="module")
def parser(spark: SparkSession) -> QueryParser:
    views = {"big_items": "select * from items where i_price > 7"}
    return QueryParser(spark, {"sales.orders": ORDERS, "items": ITEMS}, views)


def scans(parser: QueryParser, sql: str) -> tuple[TableScan, ...]:
    parsed = parser.parse(Query(sql))
    assert isinstance(parsed, ParsedQuery), parsed
    return parsed.scans


def parts(expr: Expr) -> set[Expr]:
    return set(walk(expr))


def by_table(found: tuple[TableScan, ...]) -> dict[str, TableScan]:
    assert len({scan.table for scan in found}) == len(found)
    return {scan.table: scan for scan in found}


def test_filter_and_columns_of_a_plain_query(parser: QueryParser) -> None:
    (scan,) = scans(parser, "select o_note from orders where o_day = 5")
    assert scan.table == "sales.orders"
    assert DAY_5 in parts(scan.filter)
    assert scan.columns == ("o_day", "o_note")


def test_scan_without_a_filter_has_a_true_one(parser: QueryParser) -> None:
    (scan,) = scans(parser, "select count(*) from orders")
    assert (scan.filter, scan.columns) == (Literal(True, BOOLEAN), ())


def test_join_gives_each_side_its_own_filter(parser: QueryParser) -> None:
    joined = "orders o join items i on o.o_id = i.i_order"
    found = by_table(scans(parser, f"select o_note from {joined} where o_day = 5 and i_price > 7"))
    assert DAY_5 in parts(found["sales.orders"].filter)
    assert PRICE_7 in parts(found["items"].filter)
    assert found["items"].columns == ("i_order", "i_price")


def test_filter_is_inferred_across_a_join(parser: QueryParser) -> None:
    found = by_table(scans(parser, "select 1 from orders join items on o_id = i_order where o_id = 3"))
    assert Comparison("=", Column(("i_order",), INT), Literal(3, INT)) in parts(found["items"].filter)


@pytest.mark.parametrize(
    "sql",
    [
        "select * from orders where o_id > (select max(i_order) from items where i_price > 7) and o_day = 5",
        "select * from orders where o_id in (select i_order from items where i_price > 7) and o_day = 5",
        (
            "select * from orders where o_day = 5"
            " and not exists (select 1 from items where i_order = o_id and i_price > 7)"
        ),
        (
            "with x as (select * from items where i_price > 7)"
            " select * from orders, x where i_order = o_id and o_day = 5"
        ),
        "with orders as (select * from sales.orders where o_day = 5) select * from orders, big_items",
        "select o_id from orders where o_day = 5 union all select i_id from items where i_price > 7",
        "select (select count(*) from big_items) from orders where o_day = 5",
        "select * from (select * from orders order by o_id limit 10), items where o_day = 5 and i_price > 7",
        "insert into somewhere select o_id from orders, items where o_day = 5 and i_price > 7",
        "with x as (select * from orders where o_day = 5) insert into y select o_id from x, big_items",
        "create table copy using parquet as select * from orders, items where o_day = 5 and i_price > 7",
        "merge into orders using big_items on o_id = i_order and o_day = 5 when matched then delete",
    ],
)
def test_filters_reach_both_tables(parser: QueryParser, sql: str) -> None:
    found = by_table(scans(parser, sql))
    assert set(found) == {"sales.orders", "items"}
    assert PRICE_7 in parts(found["items"].filter)
    if "limit" not in sql:  # a filter must not pass a limit
        assert DAY_5 in parts(found["sales.orders"].filter)


@pytest.mark.parametrize(
    "sql", ["delete from orders where o_day = 5", "update sales.orders set o_note = 'x' where o_day = 5"]
)
def test_rows_that_a_change_looks_for(parser: QueryParser, sql: str) -> None:
    (scan,) = scans(parser, sql)
    assert DAY_5 in parts(scan.filter)
    assert scan.columns == ("o_id", "o_day", "o_state", "o_note", "o_to")


@pytest.mark.parametrize(
    "name",
    ["sales.orders", "SALES.Orders", "`sales`.`orders`", "prod.sales.orders", "orders", "sales . orders"],
)
def test_table_is_known_by_plain_and_qualified_names(parser: QueryParser, name: str) -> None:
    (scan,) = scans(parser, f"select {name}.o_note, 'sales.orders' from {name} where {name}.o_day = 5")
    assert scan.table == "sales.orders"
    assert DAY_5 in parts(scan.filter)


def test_self_join_has_two_scans(parser: QueryParser) -> None:
    found = scans(parser, "select * from orders a join orders b on a.o_id = b.o_id where a.o_day = 5")
    assert [scan.table for scan in found] == ["sales.orders"] * 2
    assert sum(DAY_5 in parts(scan.filter) for scan in found) == 1


def test_nested_field_in_a_filter(parser: QueryParser) -> None:
    (scan,) = scans(parser, "select o_id from orders where o_to.city = 'Ulm'")
    assert Comparison("=", Column(("o_to", "city"), STRING), Literal("Ulm", STRING)) in parts(scan.filter)
    assert scan.columns == ("o_id", "o_to")


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELEC 1", "Syntax error at or near 'SELEC'"),
        ("select nope from orders", "`nope`"),
        ("select * from unknown_table", "`unknown_table` cannot be found"),
        ("select 1", "it reads none of the given tables"),
        ("set spark.sql.ansi.enabled = false", "it is SET, not a query"),
        ("drop table orders", "it is DROP TABLE, not a query"),
        ("begin select * from orders; end", "it is BEGIN … END, not a query"),
        # Analysis alone would run these two.
        ("execute immediate 'select * from orders'", "it is EXECUTE IMMEDIATE, not a query"),
        ("call system.clean('orders')", "it is CALL, not a query"),
        (
            "merge into orders using items on o_id = i_id when not matched by source then delete",
            "reads the whole table",
        ),
    ],
)
def test_unusable_statement_has_a_reason_in_one_line(parser: QueryParser, sql: str, reason: str) -> None:
    result = parser.parse(Query(sql, position=3))
    assert isinstance(result, BrokenQuery)
    assert reason in result.reason
    assert "\n" not in result.reason
    assert "SQLSTATE" not in result.reason
    assert result.position == 3


def test_broken_statements_do_not_stop_the_rest(spark: SparkSession) -> None:
    fine = Query("select * from items where i_price > 7", count=4, position=3)
    unclosed = BrokenQuery("'", "the ' on line 1 is never closed", 1)
    workload = Workload((Query("select 1 frm", position=2), fine), (unclosed,))
    parsed = parse_queries(spark, workload, {"items": ITEMS})
    assert [(query.count, scan.table) for query, scan in parsed.scans_of("items")] == [(4, "items")]
    assert [broken.position for broken in parsed.unusable] == [1, 2]


def test_users_session_is_left_alone(spark: SparkSession) -> None:
    spark.range(3).createOrReplaceTempView("items")
    try:
        QueryParser(spark, {"items": ITEMS}, {"extra": "select 1 as one"})
        assert spark.table("items").count() == 3
        assert not spark.catalog.tableExists("extra")
    finally:
        spark.catalog.dropTempView("items")


def test_statement_does_not_change_later_ones(parser: QueryParser) -> None:
    parser.parse(Query("set spark.sql.ansi.enabled = false"))
    parser.parse(Query("drop view items"))
    assert scans(parser, "select * from items where i_price > 7")


def test_users_own_views_are_seen_through(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    spark.createDataFrame([(1, 2, 3)], ITEMS).write.parquet(path)
    spark.read.parquet(path).where("i_price > 7").createOrReplaceTempView("pricey")
    try:
        parser = QueryParser(spark, {"items": TableSource(ITEMS.json(), path)})
        (scan,) = scans(parser, "select i_id from pricey where i_id = 1")
        assert scan.table == "items"
        assert PRICE_7 in parts(scan.filter)
        (scan,) = scans(parser, f"select i_id from parquet.`{path}` where i_price > 7")
        assert PRICE_7 in parts(scan.filter)
    finally:
        spark.catalog.dropTempView("pricey")


def test_view_that_cannot_be_made_is_one_sentence(spark: SparkSession) -> None:
    with pytest.raises(SkipstoneError, match=r"^The view v cannot be used: .*nope.*$"):
        QueryParser(spark, {"items": ITEMS}, {"v": "select nope from items"})
    with pytest.raises(SkipstoneError, match=r"^The view v cannot be used: it is SET, not a query\.$"):
        QueryParser(spark, {"items": ITEMS}, {"v": "set spark.sql.ansi.enabled = false"})


def test_a_further_table_is_known_by_plain_and_qualified_names(spark: SparkSession) -> None:
    spark.createDataFrame([], ITEMS).createOrReplaceTempView("further")
    try:
        parser = QueryParser(spark, {"sales.orders": ORDERS})
        for name in ("further", "shop.further", "main.shop.Further"):
            joined = f"select o_note from orders join {name} on o_id = i_order where o_day = 5"
            (scan,) = scans(parser, joined)
            assert DAY_5 in parts(scan.filter)
            alone = parser.parse(Query(f"select * from {name}", position=3, line=7, file="a.sql"))
            assert alone == LeftOut(f"select * from {name}", "it does not read sales.orders", 3, 7, "a.sql")
        assert not isinstance(parser.parse(Query("select * from shop.unknown")), LeftOut)
    finally:
        spark.catalog.dropTempView("further")


@pytest.mark.parametrize(
    "condition",
    [
        "o_day = 5 and o_state in ('a', 'b')",
        "o_to.city like 'U%' or o_to.zip between 1 and 3",
        "o_id + 1 > o_day and lower(o_state) = 'x'",
        "o_to is not null and substring(o_note, 1, 3) <> 'abc'",
    ],
)
def test_logged_and_live_filters_are_equal(
    spark: SparkSession, parser: QueryParser, tmp_path: Path, condition: str
) -> None:
    path = str(tmp_path / "t")
    spark.createDataFrame([], ORDERS).write.parquet(path)
    (scan,) = scans(parser, f"select o_id from orders where {condition}")
    frame = spark.read.parquet(path).where(condition).select("o_id")
    assert parts(scan.filter) == parts(live_filter(frame, parser._names["sales.orders"]))

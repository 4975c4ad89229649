"""Replaying compares on and off, and says of every statement what became of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import skipstone
from skipstone.workload.queries import Query, Workload


@pytest.fixture(scope="module")
def orders(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """Four files with k from 0 to 399 in order."""
    path = tmp_path_factory.mktemp("replay") / "orders"
    spark.range(0, 400, 1, 4).selectExpr("id AS k", "id / 3D AS x").write.format("delta").save(str(path))
    table = skipstone.table(spark, f"orders={path}")
    table.index()
    return table


def _workload(*texts: str) -> Workload:
    return Workload(tuple(Query(text, position=index) for index, text in enumerate(texts, 1)))


def test_figures_are_of_the_files_that_are_read(orders: skipstone.Table) -> None:
    queries = _workload(
        "SELECT sum(x) FROM orders WHERE k < 50",
        "SELECT a.k FROM orders a JOIN orders b ON a.k = b.k WHERE a.k < 20 AND b.k < 10",
        "SELECT count(*) FROM orders",
    )
    one, joined, whole = orders.replay(queries).queries
    assert (one.rows_total, one.rows_scanned, one.rows_needed) == (400, 100, 50)
    assert (one.files_total, one.files_read, one.same_result) == (4, 1, True)
    assert (joined.rows_total, joined.rows_scanned, joined.files_read) == (800, 200, 2)
    assert (whole.rows_scanned, whole.rows_needed, whole.files_read) == (400, 400, 4)


def test_what_is_no_query_of_the_table_is_left_out_or_broken_with_its_reason(orders: skipstone.Table) -> None:
    queries = _workload(
        "DELETE FROM orders",
        "SELECT 1",
        "SELECT missing FROM orders",
        "SELECT k FROM orders WHERE k = 7",
    )
    report = orders.replay(queries)
    assert [query.sql for query in report.queries] == ["SELECT k FROM orders WHERE k = 7"]
    assert [(each.position, each.reason) for each in report.left_out] == [
        (1, "it is DELETE, not a query"),
        (2, "it does not read the table"),
    ]
    assert [each.position for each in report.broken] == [3]
    assert orders.frame().count() == 400


def test_a_query_that_varies_by_itself_is_neither_the_same_nor_different(orders: skipstone.Table) -> None:
    (varying,) = orders.replay(_workload("SELECT k, rand() AS r FROM orders WHERE k < 50")).queries
    assert varying.same_result is None


@pytest.mark.parametrize("before", [None, "true", "false"])
def test_the_switch_of_the_session_is_as_it_was(
    spark: SparkSession, orders: skipstone.Table, before: str | None
) -> None:
    name = "spark.skipstone.enabled"
    if before is not None:
        spark.conf.set(name, before)
    orders.replay(_workload("SELECT k FROM orders WHERE k = 7"))
    assert spark.conf.get(name, None) == before


def test_without_a_usable_catalog_queries_are_replayed_all_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "damaged"
    spark.range(0, 40, 1, 2).write.parquet(str(path))
    table = skipstone.table(spark, f"damaged={path}")
    table.index()
    (segment,) = (path / "_skipstone" / "blocks").glob("*.parquet")
    (segment.parent / f".{segment.name}.crc").unlink(missing_ok=True)
    segment.write_bytes(b"nonsense")
    (query,) = table.replay(_workload("SELECT id FROM damaged WHERE id < 3")).queries
    assert (query.rows_scanned, query.same_result) == (40, True)

"""Tables whose queries nobody knows: laid out for any query, and said so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession
from tests.opened import opened
from tests.shipments import ROWS

import skipstone
from skipstone.actions.optimize import Optimize
from skipstone.layout.assignment import Tree
from skipstone.layout.options import LayoutOptions
from skipstone.layout.stored_layout import stored_layout
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Query, Workload

RANGES = ("k < 50", "d < DATE'2020-02-01'", "price < 80", "nested.a < 900", "id BETWEEN 3000 AND 3400")


def rows_of(table: skipstone.Table, filter_: str, enabled: bool) -> list[Row]:
    table.spark.conf.set("spark.skipstone.enabled", str(enabled).lower())
    found = table.spark.sql(f"SELECT id FROM shipments WHERE {filter_} ORDER BY id").collect()
    table.spark.conf.set("spark.skipstone.enabled", "true")
    return found


def test_a_table_without_a_log_is_laid_out_for_ranges_of_any_column(
    shipments: Callable[..., skipstone.Table],
) -> None:
    table = shipments()
    before = hash_of(table.frame())
    report = table.optimize(block_rows=150)
    assert (report.layout, report.files_after) == ("hyper", 40)
    assert (report.percent_before, report.percent_after) == (None, None)
    assert "no query has a usable filter" in report.reason
    assert "9 columns, allocation" in report.reason
    assert hash_of(table.frame()) == before
    for filter_ in RANGES:
        (scan,) = table.explain(f"SELECT * FROM shipments WHERE {filter_}").scans
        assert 0 < scan.files_read < scan.files_total, filter_
        found = rows_of(table, filter_, enabled=True)
        assert found == rows_of(table, filter_, enabled=False)
        assert found


def test_every_cut_column_has_bounds_and_what_is_stored_lays_out_what_comes_later(
    spark: SparkSession, shipments: Callable[..., skipstone.Table]
) -> None:
    table = shipments()
    report = table.optimize(block_rows=300, layout="hyper", layout_options={"balance": "worst"})
    now = opened(table)
    stored = stored_layout(now.store, report.layout_id, now.root)
    assert stored is not None
    assert isinstance(stored.design.group.assignment, Tree)
    allocation = stored.record.parameters["allocation"]
    assert isinstance(allocation, dict)
    assert len(allocation) == 9
    known = {".".join(column.path) for column in now.catalog.blocks.statistics if hasattr(column, "path")}
    assert known >= set(allocation)
    table.frame().limit(1_000).write.format("delta").mode("append").save(table.source)
    again = table.optimize_new()
    assert (again.layout, again.rows) == ("hyper", 1_000)


def test_a_log_whose_queries_filter_by_nothing_counts_as_none(
    shipments: Callable[..., skipstone.Table],
) -> None:
    everything = Workload((Query("SELECT count(*) FROM shipments"),))
    table = shipments()
    advice = table.advise(everything, block_rows=300)
    assert (advice.queries, advice.best, advice.percent_needed) == (0, "hyper", None)
    rows = {row.layout: row for row in advice.layouts}
    assert set(rows) == {"current layout", "hyper"}
    assert rows["hyper"].percent_scanned is None
    assert rows["hyper"].rewrite_seconds is not None
    assert "what would be scanned is not known" in str(advice)
    assert advice.to_dict()["best"] == "hyper"
    assert table.optimize(everything, block_rows=300).layout == "hyper"


def test_given_queries_none_of_which_reads_the_table_are_refused(
    shipments: Callable[..., skipstone.Table],
) -> None:
    table = shipments()
    other = Workload((Query("SELECT * FROM elsewhere WHERE k < 3"),))
    for act in (table.advise, table.optimize):
        with pytest.raises(skipstone.SkipstoneError, match="No query of the log reads"):
            act(other, block_rows=300)


def test_a_sample_of_some_rows_is_enough(shipments: Callable[..., skipstone.Table]) -> None:
    options = LayoutOptions(block_rows=300, sample_rows=1_000)
    report = shipments().perform(Optimize(options=options))
    assert (report.layout, report.rows) == ("hyper", ROWS)
    assert report.files_after == 20
    assert (report.percent_before, report.percent_after) == (None, None)


def test_named_columns_need_no_queries(shipments: Callable[..., skipstone.Table]) -> None:
    table = shipments()
    report = table.optimize(layout="zorder", block_rows=300, layout_options={"columns": "k,d"})
    assert report.layout == "zorder"
    assert report.reason.endswith("by k, d")
    for filter_ in RANGES[:2]:
        (scan,) = table.explain(f"SELECT * FROM shipments WHERE {filter_}").scans
        assert 0 < scan.files_read < scan.files_total
    with pytest.raises(skipstone.SkipstoneError, match="has no query log yet"):
        table.optimize(layout="zorder", block_rows=300)


def test_with_queries_it_is_compared_only_if_an_option_of_its_own_is_given(
    shipments: Callable[..., skipstone.Table],
) -> None:
    table = shipments()
    log = Workload((Query("SELECT * FROM shipments WHERE k < 50"),))
    assert "hyper" not in {row.layout for row in table.advise(log, block_rows=300).layouts}
    compared = {
        row.layout: row for row in table.advise(log, block_rows=300, layout_options={"keys": "k"}).layouts
    }
    percent = compared["hyper"].percent_scanned
    assert percent is not None
    assert percent < 60


def test_texts_that_agree_in_all_that_bounds_keep_are_skipped_by_their_bits(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "pages")
    site = "https://example.org/" + "a" * 80
    spark.range(0, 4_000, 1, 2).selectExpr(f"concat('{site}/', lpad(id, 5, '0')) AS url").write.format(
        "delta"
    ).save(path)
    table = skipstone.table(spark, f"pages={path}")
    table.optimize(block_rows=500)
    asked = f"SELECT count(*) FROM pages WHERE url < '{site}/00400'"
    (scan,) = table.explain(asked).scans
    assert 0 < scan.files_read < scan.files_total == 8
    assert spark.sql(asked).collect()[0][0] == 400

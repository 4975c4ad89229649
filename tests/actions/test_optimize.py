"""Optimising keeps exactly the same rows, and lets the log's queries skip."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.opened import opened

import skipstone
from skipstone.catalog.layouts import load_layout
from skipstone.estimate.advice import CURRENT_LAYOUT
from skipstone.layout import LAYOUTS
from skipstone.predicate.render import to_sql
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Query, Workload

Make = Callable[..., skipstone.Table]


@pytest.mark.parametrize("layout", [*LAYOUTS, "auto"])
def test_every_layout_keeps_the_rows_and_skips(shipments: Make, log: Workload, layout: str) -> None:
    table = shipments()
    before = hash_of(table.frame())
    report = table.optimize(log, layout, block_rows=600)
    assert hash_of(table.frame()) == before
    assert report.layout_id
    assert 8 <= report.files_after <= 60
    assert table.status().files_indexed == report.files_after
    replayed = table.replay(Workload(log.queries[:6:2]))
    assert all(query.same_result for query in replayed.queries)
    assert all(query.files_read > 0 for query in replayed.queries)
    summary = replayed.summary()
    assert summary["files_read"] < summary["files_total"]


def test_the_best_layout_scans_less_than_the_table_as_it_lies(shipments: Make, log: Workload) -> None:
    table = shipments()
    advice = table.advise(log, block_rows=600)
    shares = {row.layout: row.percent_scanned for row in advice.layouts}
    assert set(shares) == {CURRENT_LAYOUT, *LAYOUTS}
    assert advice.percent_needed <= shares[advice.best] < shares[CURRENT_LAYOUT]
    assert shares[advice.best] < 30
    (lies,) = (row for row in advice.layouts if row.layout == CURRENT_LAYOUT)
    best = next(row for row in advice.layouts if row.layout == advice.best)
    assert best.bytes_saved == pytest.approx(lies.bytes_scanned - best.bytes_scanned)
    assert best.bytes_saved > 0
    size = opened(table).files.sizes.sum()
    assert best.rewrite_bytes_read == best.rewrite_bytes_written == size
    text = str(advice)
    assert "MB saved" in text
    assert f"A rewrite reads {size / 1e6:.1f} MB" in text
    assert f"\n{best.layout}: {best.note}\n" in text


def test_a_large_vector_is_split_however_few_values_it_is_spread_along(shipments: Make) -> None:
    table = shipments()
    often, once = (f"SELECT count(*) FROM shipments WHERE {what}" for what in ("k < 50", "mode = 'AIR'"))
    report = table.optimize(Workload((Query(often, count=20), Query(once))), "sop", 200, num_features=1)
    sizes = [row["count"] for row in table.frame().groupBy(F.input_file_name()).count().collect()]
    assert len(sizes) == report.files_after > 40
    assert max(sizes) < 2 * 2 * 200
    scanned = table.replay(Workload((Query(once),))).queries[0]
    assert scanned.same_result
    assert scanned.rows_scanned < 0.4 * sum(sizes), "each file has few of the values"


def test_value_sets_are_complete_where_each_file_has_one_value(spark: SparkSession, shipments: Make) -> None:
    table = shipments()
    queries = [Query(f"SELECT count(*) FROM shipments WHERE k % 30 = {rest}") for rest in range(30)]
    table.optimize(Workload(tuple(queries)), "qdtree", block_rows=300)
    assert _known_sets(table, "30") == 1.0
    added = spark.read.format("delta").load(table.source).where("k % 30 < 25").limit(3_000)
    added.repartitionByRange(25, F.expr("k % 30")).write.format("delta").mode("append").save(table.source)
    table.index()
    assert table.status().files_indexed == len(opened(table).files)
    assert _known_sets(table, "30") == 1.0


def _known_sets(table: skipstone.Table, text: str) -> float:
    """The share of the blocks whose value sets of an expression are complete."""
    blocks = opened(table).catalog.blocks
    found = [statistics.values for expr, statistics in blocks.statistics.items() if text in to_sql(expr)]
    assert len(found) == 1
    assert found[0] is not None
    return float(found[0].known.mean())


def test_only_blocks_of_several_pages_are_sorted(
    shipments: Make, log: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments()
    store = opened(table).store
    assert load_layout(store, table.optimize(log, "zorder", block_rows=600).layout_id).sort == ()
    monkeypatch.setattr("skipstone.actions.rewrite._PAGE_ROWS", 100)
    sort = load_layout(store, table.optimize(log, "zorder", block_rows=600).layout_id).sort
    assert sort
    for place in range(len(opened(table).files)):
        rows = opened(table).frame(np.array([place])).selectExpr(*sort)
        assert rows.collect() == rows.orderBy(*rows.columns).collect()


def test_blocks_do_not_span_horizontal_partitions(shipments: Make, log: Workload) -> None:
    table = shipments()
    before = hash_of(table.frame())
    table.optimize(log, "sop", block_rows=400, partition_by="year(d)")
    assert hash_of(table.frame()) == before
    years = table.frame().selectExpr("_metadata.file_path AS file", "year(d) AS year").distinct()
    assert years.count() == years.select("file").distinct().count() > 2


def test_a_commit_changes_no_data(spark: SparkSession, shipments: Make, log: Workload) -> None:
    table = shipments()
    table.optimize(log, "qdtree", block_rows=600)
    newest = sorted(Path(table.source, "_delta_log").glob("*.json"))[-1].read_text()
    assert '"dataChange":true' not in newest
    assert '"dataChange":false' in newest
    assert spark.sql(f"DESCRIBE HISTORY delta.`{table.source}`").count() == 2


def test_deleted_rows_stay_deleted(spark: SparkSession, shipments: Make, log: Workload) -> None:
    table = shipments()
    spark.sql(
        f"ALTER TABLE delta.`{table.source}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    spark.sql(f"DELETE FROM delta.`{table.source}` WHERE id % 10 = 0")
    before = hash_of(table.frame())
    assert before.rows == 10_800
    table.optimize(log, "qdtree", block_rows=600)
    assert hash_of(table.frame()) == before


def test_a_parquet_directory_needs_an_output_or_a_conversion(
    shipments: Make, log: Workload, tmp_path: Path
) -> None:
    table = shipments("parquet")
    before = hash_of(table.frame())
    with pytest.raises(skipstone.SkipstoneError, match="--output"):
        table.optimize(log, "qdtree", block_rows=600)
    table.optimize(log, "qdtree", block_rows=600, output=str(tmp_path / "copy"))
    copy = skipstone.table(table.spark, f"copied={tmp_path / 'copy'}")
    assert hash_of(copy.frame()) == before == hash_of(table.frame())
    scan = copy.explain("SELECT * FROM copied WHERE mode = 'AIR' AND k < 50").scans[0]
    assert 0 < scan.files_read < scan.files_total
    table.optimize(log, "qdtree", block_rows=600, convert=True)
    assert opened(table).snapshot.format == "delta"
    assert hash_of(table.frame()) == before


def test_a_table_of_a_catalog_is_converted_with_its_entry_there(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(3_000).selectExpr("id", "CAST(id % 2 AS INT) AS part")
    rows.write.partitionBy("part").format("parquet").option("path", str(tmp_path / "t")).saveAsTable("parts")
    try:
        table = skipstone.table(spark, "parts")
        before = hash_of(table.frame())
        queries = Workload((Query("SELECT * FROM parts WHERE id < 100"),))
        table.optimize(queries, "range", block_rows=300, convert=True)
        assert opened(table).snapshot.format == "delta"
        assert hash_of(spark.table("parts")) == before == hash_of(table.frame())
        spark.sql("INSERT INTO parts VALUES (5000, 0)")
        assert spark.read.format("delta").load(str(tmp_path / "t")).count() == 3_001
    finally:
        spark.sql("DROP TABLE IF EXISTS parts")


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT * FROM shipments", "usable filter"),
        ("SELECT 1", "No query of the log reads"),
    ],
)
def test_a_log_that_says_nothing_is_refused(shipments: Make, sql: str, sentence: str) -> None:
    table = shipments()
    with pytest.raises(skipstone.SkipstoneError, match=sentence):
        table.optimize(Workload((Query(sql),)), block_rows=600)
    assert opened(table).snapshot.version == 0


def test_a_table_smaller_than_two_blocks_is_refused(shipments: Make, log: Workload) -> None:
    with pytest.raises(skipstone.SkipstoneError, match="less than two blocks"):
        shipments().optimize(log, block_rows=10_000)


def test_an_unknown_layout_is_refused(shipments: Make, log: Workload, tmp_path: Path) -> None:
    table = shipments()
    with pytest.raises(
        skipstone.SkipstoneError, match="There is no layout spiral; choose one of auto, range"
    ):
        table.optimize(log, "spiral", block_rows=600, output=str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists(), "nothing was copied in vain"


def test_selforg_cuts_along_a_hilbert_curve_if_asked(shipments: Make, log: Workload) -> None:
    table = shipments()
    before = hash_of(table.frame())
    report = table.optimize(log, "selforg", block_rows=600, layout_options={"curve": "hilbert"})
    assert hash_of(table.frame()) == before
    record = load_layout(opened(table).store, report.layout_id)
    assert (record.strategy, record.parameters["curve"]) == ("selforg", "hilbert")
    (replayed,) = table.replay(Workload(log.queries[:1])).queries
    assert replayed.same_result
    assert 0 < replayed.files_read < replayed.files_total
    for curve, layout, sentence in (
        ("hilbert", "auto", "is for the layout selforg"),
        ("u", "selforg", "no curve u"),
    ):
        with pytest.raises(skipstone.SkipstoneError, match=sentence):
            table.optimize(log, layout, block_rows=600, layout_options={"curve": curve})


def test_what_index_was_asked_for_survives_and_unused_patterns_get_a_bit(
    shipments: Make, log: Workload
) -> None:
    table = shipments()
    table.index(expressions=["attrs['courier']"], features=["weight > id"])
    pattern = Workload((*log.queries, Query("SELECT * FROM shipments WHERE CAST(raw AS STRING) LIKE '%77'")))
    table.optimize(pattern, "range", block_rows=600)
    status = table.status()
    assert "attrs['courier']" in status.expressions
    assert "weight > id" in status.features
    assert any("'77'" in feature for feature in status.features)

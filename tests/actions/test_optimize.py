"""Optimising keeps exactly the same rows, and lets the log's queries skip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.counting_source import CountingSource
from tests.opened import opened
from tests.shipments import write_shipments

import skipstone
from skipstone.actions import optimize
from skipstone.actions.action import perform
from skipstone.actions.optimize import Optimize
from skipstone.catalog.layout_records import load_layout
from skipstone.estimate.advice import CURRENT_LAYOUT
from skipstone.layout import LAYOUTS
from skipstone.layout.layouts import REPLICA_LAYOUTS
from skipstone.layout.options import LayoutOptions
from skipstone.predicate.render import to_sql
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Query, Workload

Make = Callable[..., skipstone.Table]
ROWS, BLOCK_ROWS = 1_500, 100
LOG = Workload(tuple(Query(f"SELECT count(*) FROM t WHERE k < {most}") for most in (50, 100, 150)))


def write_with_deletion_vectors(spark: SparkSession, path: Path) -> None:
    """A tenth of the rows is deleted, by a deletion vector in each file."""
    write_shipments(spark, path, "delta", ROWS)
    spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 10 = 0")


# With generated code, and plans that adapt, one layout of each kind of assignment is written: a curve, a map
# of vectors and a tree.
@pytest.mark.parametrize("layout", [*(name for name in LAYOUTS if name not in REPLICA_LAYOUTS), "auto"])
def test_every_layout_keeps_the_rows_that_are_not_deleted_and_skips(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    copied: Callable[..., Path],
    log: Workload,
    layout: str,
) -> None:
    if layout in ("zorder", "sop", "auto"):
        request.getfixturevalue("usual_plans")
    path = copied("shipments-deleted", lambda path: write_with_deletion_vectors(spark, path))
    table = skipstone.table(spark, f"shipments={path}")
    before = hash_of(table.frame())
    assert before.rows == ROWS * 9 // 10
    report = table.optimize(log, layout, block_rows=BLOCK_ROWS)
    assert hash_of(table.frame()) == before
    assert report.layout_id
    assert 8 <= report.files_after <= 30
    assert table.status().files_indexed == report.files_after
    replayed = table.replay(Workload(log.queries[::4]))
    assert len(replayed.queries) == 2, "one of each kind"
    assert all(query.same_result for query in replayed.queries)
    assert all(query.files_read > 0 for query in replayed.queries)
    assert sum(query.files_read for query in replayed.queries) < sum(
        query.files_total for query in replayed.queries
    )


def test_a_rewrite_lists_the_table_once_and_survives_an_append_meanwhile(
    spark: SparkSession, shipments: Make, log: Workload
) -> None:
    table = shipments(rows=ROWS)
    source = CountingSource(Engine.of(spark), table.source, "shipments")
    rows = spark.read.format("delta").load(table.source).limit(10).coalesce(1)
    listed: list[int] = []

    def append_once(what: str, done: int, total: int) -> None:
        if what == "writing blocks" and not listed:
            listed.append(len(source.listings))
            rows.write.format("delta").mode("append").save(table.source)

    report = perform(Optimize(log, "range", LayoutOptions(block_rows=300)), source, append_once)
    assert listed == [1] == [len(source.listings)]
    assert table.frame().count() == ROWS + 10
    assert len(opened(table).files) == report.files_after + 1


def test_the_best_layout_scans_less_than_the_current_layout(shipments: Make, log: Workload) -> None:
    table = shipments(rows=ROWS)
    advice = table.advise(log, block_rows=BLOCK_ROWS)
    shares = {row.layout: row.percent_scanned or 0.0 for row in advice.layouts}
    assert set(shares) == {CURRENT_LAYOUT, *LAYOUTS} - {"hyper", "gsop"}, (
        "for tables without queries, and for replicas"
    )
    assert (advice.percent_needed or 0.0) <= shares[advice.best]
    assert shares[advice.best] < shares[CURRENT_LAYOUT]
    assert shares[advice.best] < 30
    (current,) = (row for row in advice.layouts if row.layout == CURRENT_LAYOUT)
    best = next(row for row in advice.layouts if row.layout == advice.best)
    assert best.bytes_saved is not None
    assert current.bytes_scanned is not None
    assert best.bytes_scanned is not None
    assert best.bytes_saved == pytest.approx(current.bytes_scanned - best.bytes_scanned)
    assert best.bytes_saved > 0
    size = opened(table).files.sizes.sum()
    assert best.rewrite_bytes_read == best.rewrite_bytes_written == size
    text = str(advice)
    assert "MB saved" in text
    assert f"A rewrite reads {size / 1e6:.1f} MB" in text
    assert f"\n{best.layout}: {best.note}\n" in text


def test_a_large_vector_is_split_however_few_values_it_is_spread_along(shipments: Make) -> None:
    table = shipments(rows=ROWS)
    often, once = (f"SELECT count(*) FROM shipments WHERE {what}" for what in ("k < 50", "mode = 'AIR'"))
    report = table.optimize(Workload((Query(often, count=20), Query(once))), "sop", 50, num_features=1)
    sizes = [row["count"] for row in table.frame().groupBy(F.input_file_name()).count().collect()]
    assert len(sizes) == report.files_after > 20
    assert max(sizes) < 2 * 2 * 50
    scanned = table.replay(Workload((Query(once),))).queries[0]
    assert scanned.same_result
    assert scanned.rows_scanned < 0.4 * sum(sizes), "each file has few of the values"


def test_value_sets_are_complete_where_each_file_has_one_value(spark: SparkSession, shipments: Make) -> None:
    table = shipments(rows=ROWS)
    queries = [Query(f"SELECT count(*) FROM shipments WHERE k % 30 = {rest}") for rest in range(30)]
    table.optimize(Workload(tuple(queries)), "qdtree", block_rows=37)
    assert _known_sets(table, "30") == 1.0
    added = spark.read.format("delta").load(table.source).where("k % 30 < 25").limit(750)
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


def test_blocks_do_not_span_horizontal_partitions(shipments: Make, log: Workload) -> None:
    table = shipments(rows=ROWS)
    before = hash_of(table.frame())
    table.optimize(log, "sop", block_rows=BLOCK_ROWS, partition_by="year(d)")
    assert hash_of(table.frame()) == before
    years = table.frame().selectExpr("_metadata.file_path AS file", "year(d) AS year").distinct()
    assert years.count() == years.select("file").distinct().count() > 2


def test_a_parquet_directory_needs_an_output_or_a_conversion(shipments: Make, log: Workload) -> None:
    table = shipments("parquet", ROWS)
    before = hash_of(table.frame())
    with pytest.raises(skipstone.SkipstoneError, match="--output"):
        table.optimize(log, "qdtree", block_rows=BLOCK_ROWS)
    table.optimize(log, "qdtree", block_rows=BLOCK_ROWS, convert=True)
    assert opened(table).snapshot.format == "delta"
    assert hash_of(table.frame()) == before
    scan = table.explain("SELECT * FROM shipments WHERE mode = 'AIR' AND k < 50").scans[0]
    assert 0 < scan.files_read < scan.files_total


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


def test_selforg_cuts_along_a_hilbert_curve_if_asked(shipments: Make, log: Workload) -> None:
    table = shipments(rows=ROWS)
    before = hash_of(table.frame())
    report = table.optimize(log, "selforg", block_rows=BLOCK_ROWS, layout_options={"curve": "hilbert"})
    assert hash_of(table.frame()) == before
    record = load_layout(opened(table).store, report.layout_id)
    assert record is not None
    assert (record.strategy, record.parameters["curve"]) == ("selforg", "hilbert")
    (replayed,) = table.replay(Workload(log.queries[:1])).queries
    assert replayed.same_result
    assert 0 < replayed.files_read < replayed.files_total
    for curve, layout, sentence in (
        ("hilbert", "auto", "is for the layout selforg"),
        ("u", "selforg", "no curve u"),
    ):
        with pytest.raises(skipstone.SkipstoneError, match=sentence):
            table.optimize(log, layout, block_rows=BLOCK_ROWS, layout_options={"curve": curve})


def test_what_index_was_asked_for_survives_and_unused_patterns_get_a_bit(
    shipments: Make, log: Workload
) -> None:
    table = shipments(rows=ROWS)
    table.index(expressions=["attrs['courier']"], features=["weight > id"])
    pattern = Workload((*log.queries, Query("SELECT * FROM shipments WHERE CAST(raw AS STRING) LIKE '%77'")))
    table.optimize(pattern, "range", block_rows=BLOCK_ROWS)
    status = table.status()
    assert "attrs['courier']" in status.expressions
    assert "weight > id" in status.features
    assert any("'77'" in feature for feature in status.features)


def test_blocks_of_several_pages_are_sorted_and_others_are_not(
    shipments: Make, log: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments(rows=ROWS)
    store = opened(table).store
    once = load_layout(store, table.optimize(log, "zorder", block_rows=300).layout_id)
    assert once is not None
    assert once.group.sort == ()
    monkeypatch.setattr("skipstone.actions.lay_out._PAGE_ROWS", 100)
    again = load_layout(store, table.optimize(log, "zorder", block_rows=300).layout_id)
    assert again is not None
    sort = [key.sql for key in again.group.sort]
    assert sort
    for index in range(len(opened(table).files)):
        rows = opened(table).frame(np.array([index])).selectExpr(*sort)
        assert rows.collect() == rows.orderBy(*rows.columns).collect()


@pytest.fixture
def small(spark: SparkSession, copied: Callable[..., Path]) -> Callable[[str], skipstone.Table]:
    """Makes a table ``t`` of two files in a format."""

    def make(format_: str) -> skipstone.Table:
        rows = spark.range(0, 2_000, 1, 2).selectExpr("id", "pmod(xxhash64(id), 1000) AS k")
        path = copied(f"small-{format_}", lambda path: rows.write.format(format_).save(str(path)))
        return skipstone.table(spark, f"t={path}")

    return make


@pytest.mark.parametrize("target", ["in place", "output", "convert"])
def test_what_cannot_be_laid_out_is_neither_written_nor_copied_nor_converted(
    spark: SparkSession, small: Callable[[str], skipstone.Table], tmp_path: Path, target: str
) -> None:
    table = small("delta" if target == "in place" else "parquet")
    copy = tmp_path / "copy"
    targets: dict[str, dict[str, Any]] = {"output": {"output": str(copy)}, "convert": {"convert": True}}
    where = targets.get(target, {})
    refused: list[tuple[Workload | None, dict[str, Any], str]] = [
        (Workload((Query("SELECT * FROM t"),)), {"layout": "qdtree"}, "usable filter"),
        (Workload((Query("SELECT 1"),)), {}, "No query of the log reads"),
        (Workload((Query("SELECT FROM WHERE"),)), {}, "No query of the log reads"),
        (None, {"layout": "qdtree"}, "has no query log yet"),
        (LOG, {"block_rows": 1_500}, "less than two blocks"),
        (LOG, {"block_rows": -5}, "^block_rows must be a whole number from 1"),
        (LOG, {"block_rows": 0}, "^block_rows must be"),
        (LOG, {"num_features": "10"}, "^num_features must be"),
        (LOG, {"partition_by": "nothing + 1"}, "nothing"),
        (LOG, {"layout": "spiral"}, "There is no layout spiral; choose one of auto, range"),
        (LOG, {"layout": "range", "layout_options": {"curve": "hilbert"}}, "is for the layout selforg"),
    ]
    for queries, options, said in refused:
        with pytest.raises(skipstone.SkipstoneError, match=said):
            table.optimize(queries, **{"block_rows": 200, **where, **options})
    spark.conf.set("spark.databricks.delta.autoCompact.enabled", "true")
    with pytest.raises(skipstone.SkipstoneError, match=r"autoCompact\.enabled.*unset it"):
        table.optimize(LOG, "range", block_rows=200, **where)
    assert not copy.exists()
    assert opened(table).snapshot.version == (0 if target == "in place" else -1)
    assert (Path(table.source) / "_delta_log").exists() == (target == "in place")


def test_a_copy_whose_layout_fails_is_deleted_and_then_made_again(
    small: Callable[[str], skipstone.Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = small("parquet")
    output, rows = tmp_path / "deep" / "copy", hash_of(table.frame())
    there: list[bool] = []

    def fail(*_: object) -> None:
        there.append((output / "_delta_log").exists())
        raise skipstone.SkipstoneError("the rewrite has failed.")

    monkeypatch.setattr(optimize, "rewrite_table", fail)
    with pytest.raises(skipstone.SkipstoneError, match="the rewrite has failed"):
        table.optimize(LOG, "range", block_rows=200, output=str(output))
    assert there == [True]
    assert not output.exists()
    monkeypatch.undo()
    report = table.optimize(LOG, "range", block_rows=200, output=str(output))
    assert (report.percent_before, report.layout) == (100.0, "range")
    copy = skipstone.table(table.spark, f"copied={output}")
    assert hash_of(copy.frame()) == rows == hash_of(table.frame())
    assert not (output / "_skipstone" / "being-written").exists()
    (scan,) = copy.explain("SELECT * FROM copied WHERE k < 50").scans
    assert 0 < scan.files_read < scan.files_total


def test_a_table_with_renamed_columns_is_copied_and_laid_out(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "mapped")
    spark.range(0, 2_000).selectExpr("id", "pmod(xxhash64(id), 1000) AS k").write.format("delta").option(
        "delta.columnMapping.mode", "name"
    ).save(path)
    spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN k TO key")
    table = skipstone.table(spark, f"mapped={path}")
    log = Workload(tuple(Query(f"SELECT * FROM mapped WHERE key < {most}") for most in (50, 100)))
    table.optimize(log, "range", block_rows=200, output=str(tmp_path / "copy"))
    copy = skipstone.table(spark, f"copied={tmp_path / 'copy'}")
    assert hash_of(copy.frame()) == hash_of(table.frame())
    (scan,) = copy.explain("SELECT * FROM copied WHERE key < 50").scans
    assert 0 < scan.files_read < scan.files_total


def test_a_layout_that_is_worse_than_what_is_there_needs_force(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    rows = spark.range(0, 2_000).selectExpr("id", "pmod(xxhash64(id), 1000) AS k")
    rows.repartitionByRange(20, "k").write.format("delta").save(path)
    table = skipstone.table(spark, f"t={path}")
    table.index()
    with pytest.raises(skipstone.SkipstoneError) as caught:
        table.optimize(LOG, "range", block_rows=1_000)
    sentence = str(caught.value)
    assert sentence.startswith(
        "Nothing was written: by the layout range the log's queries would scan about 5"
    )
    assert "% of the rows instead of 1" in sentence
    assert "--force (in Python force=True)" in sentence
    assert opened(table).snapshot.version == 0
    with pytest.raises(skipstone.SkipstoneError, match="Nothing was written: "):
        table.optimize(LOG, "range", block_rows=1_000, output=str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()
    report = table.optimize(LOG, "range", block_rows=1_000, force=True)
    assert (report.layout, report.files_after, report.version) == ("range", 2, 1)
    assert (report.percent_after or 0) > (report.percent_before or 0)

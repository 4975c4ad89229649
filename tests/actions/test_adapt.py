"""Adapting a table that was laid out by a tree: only some files are rewritten, and all rows stay the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession
from tests.actions.conftest import POLICY, ask
from tests.costs import EAGER
from tests.opened import opened
from tests.shipments import ROWS, write_shipments

import skipstone
from skipstone.actions.auto import Auto
from skipstone.actions.auto_status import ShowAutoStatus
from skipstone.cancel import Cancel
from skipstone.catalog.layout_records import load_layout
from skipstone.errors import CancelledError, SkipstoneError
from skipstone.estimate.unclustered import files_by_layout, newest_layout, unclustered_files
from skipstone.json_types import json_number, json_object, json_text
from skipstone.layout.assignment import Tree
from skipstone.layout.stored_layout import stored_layout
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Query, Workload

CONDITIONS = (
    "k < 50 AND d < DATE'2020-02-01'",
    "k >= 50 AND k < 100 AND d < DATE'2020-03-01'",
    "k < 80 AND d BETWEEN DATE'2020-02-01' AND DATE'2020-03-15'",
)
QUERIES = tuple(f"SELECT sum(id) FROM shipments WHERE {condition}" for condition in CONDITIONS)
WINDOW = Workload(tuple(Query(text, count=50) for text in QUERIES))


@pytest.fixture
def table(spark: SparkSession, copied: Callable[..., Path]) -> skipstone.Table:
    """Shipments in forty blocks, laid out without queries."""

    def make(path: Path) -> None:
        write_shipments(spark, path, "delta", ROWS)
        skipstone.table(spark, f"shipments={path}").optimize(block_rows=150, layout="hyper")

    return skipstone.table(spark, f"shipments={copied('shipments-hyper', make)}")


def newest(table: skipstone.Table) -> str:
    """The id of the layout that wrote the newest files."""
    now = opened(table)
    now.refresh()
    return newest_layout(now.files, now.catalog)


def answers(table: skipstone.Table, enabled: bool) -> list[list[Row]]:
    table.spark.conf.set("spark.skipstone.enabled", str(enabled).lower())
    found = [table.spark.sql(text).collect() for text in QUERIES]
    table.spark.conf.set("spark.skipstone.enabled", "true")
    return found


def rows_scanned(table: skipstone.Table) -> int:
    report = table.replay(Workload(tuple(map(Query, QUERIES))))
    assert all(each.same_result and each.files_read > 0 for each in report.queries)
    return sum(each.rows_scanned for each in report.queries)


def test_adapt_rewrites_some_of_the_files_and_the_queries_scan_less(
    table: skipstone.Table,
) -> None:
    first = newest(table)
    before, paths, scanned = hash_of(table.frame()), set(opened(table).files.paths), rows_scanned(table)

    dry = table.adapt(WINDOW, dry_run=True, model=EAGER)
    assert dry.changes
    assert set(opened(table).files.paths) == paths, "a dry run leaves no trace"

    report = table.adapt(WINDOW, model=EAGER)
    now = opened(table)
    left = paths & set(now.files.paths)
    assert 0 < report.files_rewritten < len(paths) / 2
    assert report.bytes_rewritten < report.bytes / 2
    assert len(left) == len(paths) - report.files_rewritten, "files that no change touches keep their paths"
    assert len(now.files) == len(left) + report.files_written
    assert hash_of(table.frame()) == before
    assert report.percent_after < report.percent_before
    assert rows_scanned(table) < scanned / 2
    assert answers(table, enabled=True) == answers(table, enabled=False)
    assert all(
        each.after <= 1 - (1 - each.before) / 2 + 1e-9 for each in report.attributes if not each.queried
    )

    stored = stored_layout(now.store, report.layout_id, now.root)
    assert stored is not None
    assert isinstance(stored.design.group.assignment, Tree)
    assert (stored.record.strategy, stored.record.adapted_from) == ("hyper", (first,))
    assert newest(table) == report.layout_id

    # Files that were left alone lie by the adapted layout, so the optimiser has nothing to do with them.
    block_rows = stored.record.block_rows
    assert len(unclustered_files(now.files, now.catalog, block_rows)) < report.files_written / 2
    assert set(files_by_layout(now.files, now.catalog)) == {first, report.layout_id}
    lineage = dict.fromkeys(stored.record.adapted_from, report.layout_id)
    assert set(files_by_layout(now.files, now.catalog, lineage)) == {report.layout_id}

    # To the optimiser the queries are those that the tree suits, and status shows one layout.
    ask(table, *CONDITIONS)
    rest = table.perform(Auto(policy=POLICY, model=EAGER))
    assert (rest.acted, rest.code) == (False, "WAITING"), rest.sentence
    status = table.perform(ShowAutoStatus(POLICY))
    assert (status.drift, status.unclustered_files) == (0.0, 0)
    assert [layout["id"] for layout in status.layouts] == [report.layout_id]
    assert table.status().files_indexed == len(now.files)

    again = table.adapt(WINDOW, model=EAGER)
    assert again.changes == ()
    assert "stays as it is" in str(again)
    assert set(opened(table).files.paths) == set(now.files.paths), "the second time nothing is left to do"


def test_auto_adapts_a_tree_made_without_queries_if_that_gains_more_than_a_full_rewrite(
    table: skipstone.Table,
) -> None:
    first = newest(table)
    before, paths = hash_of(table.frame()), set(opened(table).files.paths)
    assert table.perform(Auto(policy=POLICY, model=EAGER)).code == "NO_LOG"
    ask(table, *CONDITIONS)

    cheap = table.perform(Auto(act=False, policy=POLICY, model=EAGER))
    assert (cheap.code, cheap.numbers["data"]) == ("PAYS", "old"), cheap.sentence
    assert "adapting its tree would save" in cheap.sentence
    considered = json_object(cheap.numbers["adaptation"])
    assert 0 < json_number(considered["bytes"]) < opened(table).files.bytes / 2

    # By a curve, a rewrite costs more than it saves.
    curves = replace(POLICY, layouts=("zorder",))
    dear = replace(EAGER, coefficients=replace(EAGER.coefficients, rewrite_per_row_z=1e6))
    dry = table.perform(Auto(act=False, policy=curves, model=dear))
    assert (dry.acted, dry.code) == (False, "ADAPTS"), dry.sentence
    assert "Would rewrite" in str(dry)
    assert set(opened(table).files.paths) == paths, "a dry run leaves no trace"

    cancel = Cancel()

    def report(what: str, done: int, total: int) -> None:
        if what == "writing blocks":
            cancel.request()

    with pytest.raises(CancelledError):
        table.perform(Auto(policy=curves, model=dear), report, cancel)
    assert set(opened(table).files.paths) == paths

    done = table.perform(Auto(policy=curves, model=dear))
    assert (done.acted, done.code) == (True, "ADAPTS"), done.sentence
    assert done.sentence.startswith("adapting its tree saves")
    assert json_number(done.numbers["seconds_saved"]) > json_number(done.numbers["rewrite_seconds_estimated"])
    assert hash_of(table.frame()) == before
    now = opened(table)
    rewritten = paths - set(now.files.paths)
    assert 0 < len(rewritten) == json_number(done.numbers["files"]) < len(paths) / 2
    record = load_layout(now.store, json_text(done.numbers["layout_id"]))
    assert record is not None
    assert (record.strategy, record.adapted_from) == ("hyper", (first,))
    assert table.perform(ShowAutoStatus(POLICY)).decisions[-1] == done
    assert table.perform(Auto(policy=curves, model=dear)).code == "WAITING", "the tree suits them now"


def test_an_adaptation_that_is_cancelled_leaves_the_table_as_it_was(
    table: skipstone.Table,
) -> None:
    before, cancel = opened(table), Cancel()

    def report(what: str, done: int, total: int) -> None:
        if what == "writing blocks":
            cancel.request()

    with pytest.raises(CancelledError):
        table.adapt(WINDOW, model=EAGER, progress=report, cancel=cancel)
    now = opened(table)
    assert (now.files.paths, now.snapshot.version) == (before.files.paths, before.snapshot.version)
    assert answers(table, enabled=True) == answers(table, enabled=False)


def test_trees_inside_horizontal_partitions_are_adapted_one_by_one(
    shipments: Callable[..., skipstone.Table],
) -> None:
    table = shipments()
    table.optimize(block_rows=150, layout="hyper", partition_by="pmod(id, 2)")
    before, paths, scanned = hash_of(table.frame()), set(opened(table).files.paths), rows_scanned(table)
    for _ in range(2):  # the second time there is one tree, and the partitions are found in it
        report = table.adapt(WINDOW, model=EAGER)
        now = opened(table)
        assert hash_of(table.frame()) == before
        assert rows_scanned(table) < scanned
        parts = table.frame().selectExpr("pmod(id, 2) AS part", "_metadata.file_path AS path")
        assert parts.groupBy("path").agg({"part": "min"}).count() == parts.distinct().count()
    assert report.changes == ()
    assert 0 < len(paths & set(now.files.paths)) < len(paths)
    assert answers(table, enabled=True) == answers(table, enabled=False)


def test_what_cannot_be_adapted_is_told_in_one_sentence(
    shipments: Callable[..., skipstone.Table], table: skipstone.Table
) -> None:
    with pytest.raises(SkipstoneError, match="is a directory of Parquet files, which cannot be replaced"):
        shipments("parquet", 100).adapt(WINDOW)
    with pytest.raises(SkipstoneError, match="is not laid out by a tree that could be adapted"):
        shipments(rows=100).adapt(WINDOW)
    with pytest.raises(SkipstoneError, match="The log has no query of the last 30 days on"):
        table.adapt()
    with pytest.raises(SkipstoneError, match="No query of the log reads"):
        table.adapt(Workload((Query("SELECT 1"),)))
    with pytest.raises(SkipstoneError, match="most_given_up must be a number from 0 to 1"):
        table.adapt(WINDOW, most_given_up=2.0)
    with pytest.raises(SkipstoneError, match="most_rewritten must be a number from 0 to 1"):
        table.adapt(WINDOW, most_rewritten=-1.0)

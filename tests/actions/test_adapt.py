"""Adapting a table that was laid out by a tree: only some files are rewritten, and all rows stay the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import Row
from tests.costs import EAGER
from tests.opened import opened

import skipstone
from skipstone.errors import SkipstoneError
from skipstone.estimate.unclustered import files_by_layout, newest_layout, unclustered_files
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
    shipments: Callable[..., skipstone.Table],
) -> None:
    table = shipments()
    first = table.optimize(block_rows=300, layout="hyper")
    before, paths, scanned = hash_of(table.frame()), set(opened(table).files.paths), rows_scanned(table)

    dry = table.adapt(WINDOW, dry_run=True, model=EAGER)
    assert dry.changes
    assert set(opened(table).files.paths) == paths, "a dry run leaves no trace"

    report = table.adapt(WINDOW, model=EAGER)
    now = opened(table)
    left = paths & set(now.files.paths)
    assert 0 < report.files_rewritten < len(paths)
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
    assert (stored.record.strategy, stored.record.adapted_from) == ("hyper", (first.layout_id,))
    assert newest_layout(now.files, now.catalog) == report.layout_id

    # Files that were left alone lie by the adapted layout, so the optimiser has nothing to do with them.
    block_rows = stored.record.block_rows
    assert len(unclustered_files(now.files, now.catalog, block_rows)) < report.files_written / 2
    assert set(files_by_layout(now.files, now.catalog)) == {first.layout_id, report.layout_id}
    lineage = dict.fromkeys(stored.record.adapted_from, report.layout_id)
    assert set(files_by_layout(now.files, now.catalog, lineage)) == {report.layout_id}

    again = table.adapt(WINDOW, model=EAGER)
    assert again.changes == ()
    assert "stays as it is" in str(again)
    assert set(opened(table).files.paths) == set(now.files.paths), "the second time nothing is left to do"


def test_what_cannot_be_adapted_is_told_in_one_sentence(shipments: Callable[..., skipstone.Table]) -> None:
    with pytest.raises(SkipstoneError, match="is a directory of Parquet files, which cannot be replaced"):
        shipments("parquet").adapt(WINDOW)
    table = shipments()
    with pytest.raises(SkipstoneError, match="is not laid out by a tree that could be adapted"):
        table.adapt(WINDOW)
    table.optimize(block_rows=2_000, layout="hyper")
    with pytest.raises(SkipstoneError, match="The log has no query of the last 30 days on"):
        table.adapt()
    with pytest.raises(SkipstoneError, match="No query of the log reads"):
        table.adapt(Workload((Query("SELECT 1"),)))
    with pytest.raises(SkipstoneError, match="most_given_up must be a number from 0 to 1"):
        table.adapt(WINDOW, most_given_up=2.0)

"""A table and its replicas are written with one read; what is broken off counts for nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.opened import opened

import skipstone
from skipstone.actions import lay_out_copies
from skipstone.actions.optimize import OptimizeReport
from skipstone.cancel import Cancel
from skipstone.errors import CancelledError, SkipstoneError
from skipstone.spark.engine.row_hash import hash_of

Make = Callable[..., skipstone.Table]


def lay_out(table: skipstone.Table, **more: object) -> OptimizeReport:
    return table.optimize(layout="hyper", block_rows=100, replicas=3, **more)  # type: ignore[arg-type]


def data_files(table: skipstone.Table) -> set[str]:
    return {path.name for path in Path(table.source).rglob("*.parquet") if "_delta_log" not in path.parts}


def test_all_copies_hold_the_rows_of_the_new_files(shipments: Make) -> None:
    table = shipments(rows=1_500)
    before = hash_of(table.frame())
    report = lay_out(table)
    now = opened(table)
    assert (report.version, len(report.replicas)) == (1, 2)
    assert hash_of(table.frame()) == before
    parts = now.replicas.parts
    assert {part.replica for part in parts} == set(report.replicas)
    for part in parts:
        assert (part.rows, part.row_hash) == (before.rows, before.total)
        assert sorted(part.covered.paths) == sorted(now.files.paths)
    assert all(each.partitions_valid == 1 for each in table.replicas().replicas)
    assert table.repair(check=True).whole, "the hashes are those of the rows in the files"


def test_what_is_cancelled_while_a_replica_is_written_leaves_the_old_table_and_no_replica(
    shipments: Make,
) -> None:
    table = shipments(rows=1_500)
    before, files, cancel, seen = opened(table).files.paths, data_files(table), Cancel(), set()

    def report(what: str, done: int, total: int) -> None:
        if what == "writing blocks" and "verifying blocks" in seen:  # the table's own files are written
            cancel.request()
        seen.add(what)

    with pytest.raises(CancelledError):
        lay_out(table, progress=report, cancel=cancel)
    assert (opened(table).files.paths, table.replicas().replicas) == (before, ())
    assert data_files(table) == files, "nothing is left behind"


def test_a_failure_between_the_commit_and_the_records_leaves_the_new_table_and_no_replica(
    shipments: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments(rows=1_500)
    before = hash_of(table.frame())

    def full(*_: object) -> None:
        raise SkipstoneError("The disk is full.")

    monkeypatch.setattr(lay_out_copies, "save_partition", full)
    with pytest.raises(SkipstoneError, match="The disk is full"):
        lay_out(table)
    monkeypatch.undo()
    assert opened(table).snapshot.version == 1
    assert table.replicas().replicas == ()
    assert hash_of(table.frame()) == before
    assert not list(Path(table.source).glob("_skipstone/replicas/*/*/part-*")), "nothing is left behind"

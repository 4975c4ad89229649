"""A replica whose making breaks off at any step: nothing half-made counts, and it is swept later."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same
from tests.e2e.replicated import assert_copied, make_replicated, replicate, write_rows
from tests.templates import Templates

import skipstone
from skipstone.actions import make_partitions
from skipstone.catalog.replica_store import FolderStore
from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.hadoop import HadoopStore
from skipstone.spark.engine import rewrite, statistics
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.spark.engine.row_hash import RowHash

DAY_SECONDS = 24 * 3600


class PowerCutError(Exception):
    """Stands for the end of the process."""


def fail(*_: object, **__: object) -> None:
    raise PowerCutError


def fails_at(patch: pytest.MonkeyPatch, step: str) -> None:
    """Let the making of a partition end at a step, as if the process were killed: nothing is tidied up."""
    if step == "writing":
        patch.setattr(Rewriting, "_write", fail)
    elif step == "measuring":
        patch.setattr(rewrite, "measure", fail)
    elif step in ("verifying", "rows differ"):
        measure = statistics.measure
        other = None if step == "verifying" else RowHash(100, 1)
        patch.setattr(rewrite, "measure", lambda *args: replace(measure(*args), rows=other))
        patch.setattr(rewrite, "hash_of", fail)
    elif step == "publishing":
        patch.setattr(make_partitions, "save_partition", fail)
    else:
        write = HadoopStore.write

        def break_off(store: HadoopStore, path: str, data: bytes) -> None:
            if step in path and "/replicas/" in path:
                raise PowerCutError
            write(store, path, data)

        patch.setattr(HadoopStore, "write", break_off)


STEPS = ["writing", "measuring", "verifying", "rows differ", "publishing", "blocks-", ".json"]


@pytest.fixture
def table(spark: SparkSession, templates: Templates, tmp_path: Path) -> skipstone.Table:
    """A replica that lacks 100 of 500 rows, and no statistics."""

    def make(path: Path) -> None:
        make_replicated(spark, path)
        write_rows(spark, path, start=1000, rows=100)

    return skipstone.table(spark, str(templates.copy("grown", make, tmp_path / "t")))


def low(table: skipstone.Table) -> str:
    return f"SELECT * FROM delta.`{table.source}` WHERE k < 60"


def folders(table: skipstone.Table) -> set[Path]:
    return {path for path in (Path(table.source) / "_skipstone" / "replicas").glob("*/*") if path.is_dir()}


def records(table: skipstone.Table) -> set[Path]:
    return set((Path(table.source) / "_skipstone" / "replicas").glob("*.json"))


def test_a_refresh_that_is_killed_leaves_no_copy_that_counts(
    spark: SparkSession, table: skipstone.Table
) -> None:
    """At every step in turn, so that what was left before is there, too young to be swept, at the next."""
    counting, left = records(table), set[Path]()
    for step in STEPS:
        before = folders(table)
        with pytest.MonkeyPatch.context() as patch:
            fails_at(patch, step)
            patch.setattr(Rewriting, "_abandon", lambda _: None)
            with pytest.raises((PowerCutError, SkipstoneError)):
                table.refresh()
        assert records(table) == counting, step
        assert before <= folders(table), step
        assert len(folders(table) - before) == (0 if step == "writing" else 1), step
        left |= folders(table) - before
        assert_same(spark, low(table))
    assert_copied(table, low(table))
    report = table.refresh()
    assert (report.partitions_made, report.rows) == (1, 100)
    assert left <= folders(table), "another session may be writing it"
    long_ago = time.time() - 2 * DAY_SECONDS
    for root in left:
        for path in (root, *root.rglob("*")):
            os.utime(path, (long_ago, long_ago))
    table.refresh()
    assert not left & folders(table)
    assert_copied(table, low(table))


def test_a_refresh_that_fails_tidies_up(spark: SparkSession, table: skipstone.Table) -> None:
    before = {path for folder in folders(table) for path in folder.rglob("part-*.parquet")}
    for step in ("measuring", "rows differ", "publishing", ".json"):
        with pytest.MonkeyPatch.context() as patch:
            fails_at(patch, step)
            with pytest.raises((PowerCutError, SkipstoneError)):
                table.refresh()
        found = {path for folder in folders(table) for path in folder.rglob("part-*.parquet")}
        assert found == before, step
    assert_copied(table, low(table))


def test_a_first_replica_that_is_killed_is_none(spark: SparkSession, tmp_path: Path) -> None:
    write_rows(spark, tmp_path / "t", rows=200)
    table = skipstone.table(spark, str(tmp_path / "t"))
    for step in ("measuring", ".json"):
        with pytest.MonkeyPatch.context() as patch:
            fails_at(patch, step)
            patch.setattr(Rewriting, "_abandon", lambda _: None)
            with pytest.raises(PowerCutError):
                replicate(table)
        assert table.replicas().replicas == (), step
        assert_same(spark, low(table))
        with pytest.raises(SkipstoneError, match="has no replicas"):
            table.refresh()


def test_a_table_that_changes_while_it_is_copied_is_not_copied_wrong(
    spark: SparkSession, table: skipstone.Table
) -> None:
    """What was deleted meanwhile is in the files that were chosen: they are refused."""
    begun: list[object] = []

    def delete_first(table: object, in_place: bool = True) -> Rewriting:
        if not begun:
            begun.append(1)
            spark.sql(f"DELETE FROM delta.`{table.root}` WHERE id >= 1050")  # type: ignore[attr-defined]
        return Rewriting(table, in_place)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(make_partitions, "Rewriting", delete_first)
        with pytest.raises(SkipstoneError, match="was changed while it was copied"):
            table.refresh()
    assert_copied(table, low(table))
    assert table.refresh().rows == 50
    assert_copied(table, low(table), partitions=2)


def run_at_once(*works: Callable[[], object]) -> list[BaseException]:
    """Start all at the same moment; what they raised."""
    ready, problems = threading.Barrier(len(works)), []

    def run(work: Callable[[], object]) -> None:
        ready.wait()
        try:
            work()
        except BaseException as problem:  # noqa: BLE001 - it is told below
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    return problems


def test_two_that_refresh_at_once_make_no_row_twice(spark: SparkSession, table: skipstone.Table) -> None:
    other = skipstone.table(spark.newSession(), table.source)
    assert run_at_once(table.refresh, other.refresh) == []
    (status,) = table.replicas().replicas
    assert status.partitions in (3, 4)
    assert status.files_covered == 10
    assert_copied(table, low(table), partitions=3)
    assert_same(spark, f"SELECT count(*), sum(id) FROM delta.`{table.source}` WHERE k < 300")


def test_a_leftover_that_another_session_has_swept_is_no_failure(
    spark: SparkSession, table: skipstone.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    (replica,) = table.replicas().replicas
    root = Path(table.source) / "_skipstone" / "replicas" / replica.id / "0dead0"
    root.mkdir()
    (root / "part-0.parquet").write_bytes(b"rows")
    delete = HadoopStore.delete_folder

    def swept_before(store: FolderStore, folder: str, limit: int | None = None) -> None:
        for path in root.glob("*"):
            path.unlink()
        root.rmdir()
        delete(store, folder, limit)  # type: ignore[arg-type]

    monkeypatch.setattr(HadoopStore, "delete_folder", swept_before)
    assert table.refresh().partitions_made == 1

"""What was recorded and cannot be written yet: it waits within bounds, and nothing else is kept up by it."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.opened import opened
from tests.spark.querylog.recording import logging, make_table, seen, spilled

import skipstone
from skipstone.spark.querylog.log_table import LogTable
from skipstone.spark.querylog.query_log import flush


@pytest.fixture(scope="module")
def locked(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """A table for tests that forbid to write its log for a while."""
    return make_table(spark, tmp_path_factory.mktemp("locked") / "locked", "locked", "parquet")


def log_of(table: skipstone.Table) -> Path:
    return Path(table.source) / "_skipstone" / "query_log"


def forbid(table: skipstone.Table) -> None:
    """Put a file where the log of a table belongs; take it away to allow the log again."""
    shutil.rmtree(log_of(table), ignore_errors=True)
    log_of(table).touch()


def test_a_queue_that_cannot_be_spilled_is_bounded_and_fails_no_query(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    blocked = tmp_path / "a-file"
    blocked.touch()
    with logging(spark, blocked, queueSize="3") as recorder:
        for limit in range(1, 6):
            assert spark.sql(f"SELECT k FROM logged WHERE k < {limit}").count() == limit
        recorder.listener.awaitEnded(10_000)
        counts = recorder.counts()
        assert (counts["recorded"], counts["waiting"]) == (3, 3)
        assert counts["dropped"] == {"the queue was full": 2}
        assert any("cannot be spilled" in problem for problem in counts["problems"])
        status = table.status().log
        assert (status.on, status.dropped) == (True, {"the queue was full": 2})
        assert [scan.rows_needed for scan in table.log(before)] == [1, 2, 3], "memory goes to the table"
    assert not table.status().log.on


def test_what_waits_in_memory_is_bounded_by_its_size_too(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    blocked = tmp_path / "a-file"
    blocked.touch()
    with logging(spark, blocked, spillBytes="2500") as recorder:
        for limit in range(1, 6):
            assert spark.sql(f"SELECT k FROM logged WHERE k < {limit}").count() == limit
        recorder.listener.awaitEnded(10_000)
        counts = recorder.counts()
        assert 0 < counts["recorded"] < 5
        assert counts["dropped"] == {"the queue was full": 5 - counts["recorded"]}
        assert [scan.rows_needed for scan in table.log(before)] == list(range(1, 1 + counts["recorded"]))


def test_a_full_disk_fails_no_query_and_loses_nothing_that_memory_can_hold(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    with logging(spark, tmp_path / "spill") as recorder:
        full = tmp_path / "spill" / f"{recorder.listener.id()}.0.jsonl"
        full.parent.mkdir()
        full.symlink_to("/dev/full")
        assert spark.sql("SELECT k FROM logged WHERE k < 5").count() == 5
        recorder.listener.awaitEnded(10_000)
        recorder.listener.spill()
        assert recorder.counts()["waiting"] == 1
        full.unlink()
        assert spark.sql("SELECT k FROM logged WHERE k < 6").count() == 6
        recorder.listener.awaitEnded(10_000)
        recorder.listener.spill()
        assert full.read_text().count("\n") == 2, "and goes on when there is space again"
        assert [scan.rows_needed for scan in table.log(before)] == [5, 6]


def test_a_log_that_cannot_be_written_stays_on_local_disk_until_it_can(
    spark: SparkSession, locked: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    forbid(locked)
    with logging(spark, tmp_path / "spill") as recorder:
        assert spark.sql("SELECT k FROM locked WHERE k < 5").count() == 5
        flush(spark)
        assert recorder.counts()["problems"]
        assert len(list((tmp_path / "spill").glob("*.jsonl"))) == 1
        log_of(locked).unlink()
        assert seen(locked.log(before)) == [("k < 5L", 1, 100, 5)]
        assert list((tmp_path / "spill").glob("*.jsonl")) == []


def test_a_table_that_cannot_be_written_costs_one_attempt_a_round_and_two_files(
    table: skipstone.Table, locked: skipstone.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark, before = table.spark, datetime.now(UTC)
    forbid(locked)
    tried: list[str] = []
    append = LogTable.append

    def counted(self: LogTable, *arguments: object) -> None:
        tried.append(self.path)
        append(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(LogTable, "append", counted)
    for turns in ((1, 2, 3), (4,)):
        with logging(spark, tmp_path / "spill") as recorder:
            for turn in turns:
                spark.sql(f"SELECT k FROM locked WHERE k < {turn}").collect()
                spark.sql(f"SELECT k FROM logged WHERE k < {turn}").collect()
                tried.clear()
                flush(spark)
                assert sum(path.startswith(opened(locked).root) for path in tried) == 1
                assert len(tried) == 2, "what a table has taken is not offered again"
                assert len(spilled(recorder)) <= 2
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "spill").glob("*"))
    log_of(locked).unlink()
    with logging(spark, tmp_path / "spill") as recorder:
        assert [scan.rows_needed for scan in locked.log(before)] == [1, 2, 3, 4]
        assert [scan.rows_needed for scan in table.log(before)] == [1, 2, 3, 4]
        assert spilled(recorder) == []
        assert recorder.counts()["dropped"] == {}


def test_what_waits_for_a_log_is_bounded_and_the_oldest_goes_first(
    spark: SparkSession, locked: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    forbid(locked)
    with logging(spark, tmp_path / "spill", spillBytes="8000") as recorder:
        for turn in range(1, 13):
            spark.sql(f"SELECT k FROM locked WHERE k < {turn}").collect()
            flush(spark)
            assert sum(path.stat().st_size for path in spilled(recorder)) <= 8_000
            assert len(spilled(recorder)) <= 10
        log_of(locked).unlink()
        kept = [scan.rows_needed for scan in locked.log(before)]
        assert kept == list(range(13 - len(kept), 13))
        assert 0 < len(kept) < 12
        assert recorder.counts()["dropped"] == {"the log could not be written for too long": 12 - len(kept)}


def test_a_damaged_file_keeps_no_other_from_being_taken(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    with logging(spark, tmp_path / "spill") as recorder:
        assert spark.sql("SELECT k FROM logged WHERE city = 'Tromsø' OR k < 3").count() == 3
        recorder.listener.awaitEnded(10_000)
        recorder.listener.spill()
        (own,) = spilled(recorder)
        line = own.read_bytes()
        cut = line.index("ø".encode()) + 1
        host, process, started, _ = recorder.listener.id().split("_")
        ended = f"{host}_{process}_{started}_0"
        (own.parent / f"{ended}.0.jsonl").write_bytes(line + line[:cut])
        (own.parent / f"{ended}.1.jsonl").write_bytes(line[:cut] + b"\n" + line + b"{}\n")
        (own.parent / f"{ended}.2.jsonl").mkdir()
        (own.parent / f"{ended}.3.jsonl").touch()
        (own.parent / f"{host}_no_such_process.0.jsonl").write_bytes(line)
        assert [scan.rows_needed for scan in table.log(before)] == [3, 3, 3]
        counts = recorder.counts()
        assert counts["dropped"] == {"a scan could not be read": 2, "the last line of a file was cut off": 1}
        assert any("UnicodeDecodeError" in problem for problem in counts["problems"])
        assert len(spilled(recorder)) == 2, "the directory, and the file whose writer nobody knows"

"""The query log: what is recorded of queries that ran, and what is kept of it whatever happens."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.opened import opened

import skipstone
from skipstone.predicate.expr import Column, Comparison, Literal
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import BOOLEAN, LONG
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.spark.querylog.log_settings import LogSettings
from skipstone.spark.querylog.log_table import LogTable
from skipstone.spark.querylog.query_log import flush, recorder_of, unlogged
from skipstone.spark.querylog.recorder import Recorder
from skipstone.workload.logged_scans import LoggedScan
from skipstone.workload.queries import Query, Workload

ROWS = (
    "id AS k",
    "if(id % 100 = 50, 'Oslo', 'Porto') AS city",
    "date_add(DATE'2024-01-01', cast(id AS int)) AS day",
)
NEVER = {"spillSeconds": "3600", "intervalSeconds": "3600"}


def make_table(spark: SparkSession, path: Path, name: str, format_: str = "delta") -> skipstone.Table:
    """400 rows in four files, k from 0 to 399 in order."""
    spark.range(0, 400, 1, 4).selectExpr(*ROWS).write.format(format_).save(str(path))
    table = skipstone.table(spark, f"{name}={path}")
    table.index()
    return table


@contextmanager
def logging(spark: SparkSession, spill: Path, **settings: str) -> Iterator[Recorder]:
    """Record queries meanwhile; nothing is appended in the background unless asked for."""
    given = {"spillDirectory": str(spill), **NEVER, **settings}
    for key, value in given.items():
        spark.conf.set(f"spark.skipstone.log.{key}", value)
    skipstone.enable(spark, log=True)
    recorder = recorder_of(spark)
    assert recorder is not None
    try:
        yield recorder
    finally:
        skipstone.enable(spark, log=False)
        for key in given:
            spark.conf.unset(f"spark.skipstone.log.{key}")


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """For tests that only read it."""
    return make_table(spark, tmp_path_factory.mktemp("logged") / "delta", "logged")


@pytest.fixture(scope="module")
def plain(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """The same as a directory of Parquet files."""
    return make_table(spark, tmp_path_factory.mktemp("logged") / "plain", "plain", "parquet")


def seen(scans: tuple[LoggedScan, ...]) -> list[tuple[str, int, int, int | None]]:
    """Filters without null tests, files read, rows read and needed."""
    return [
        (_without_null_tests(scan), scan.files_read, scan.rows_read, scan.rows_needed)
        for scan in scans
    ]  # fmt: skip


def _without_null_tests(scan: LoggedScan) -> str:
    parts = to_sql(scan.filter).split(" AND ")
    return " AND ".join(part for part in parts if not part.endswith("IS NOT NULL")) or "TRUE"


def test_every_way_of_asking_is_recorded_and_nothing_else(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    spark.range(5).write.parquet(str(tmp_path / "other"))
    started = datetime.now(UTC)
    with logging(spark, tmp_path / "spill"):
        spark.sql("SELECT city FROM logged WHERE k < 50").collect()
        table.frame().where("k BETWEEN 150 AND 159").select("day").collect()
        spark.sql("SELECT max(city) FROM logged").collect()
        # No row satisfies it: Spark puts an empty relation in the place of what has run.
        spark.sql("SELECT city, count(*) FROM logged WHERE k < 0 GROUP BY city").collect()
        spark.sql("SELECT * FROM logged WHERE k >= 300 LIMIT 3").collect()
        again = spark.sql("SELECT k FROM logged WHERE k < 30")
        assert again.collect() == again.collect()
        with pytest.raises(PySparkException):
            spark.sql("SELECT assert_true(k < 0) FROM logged WHERE k < 31").collect()
        cached = spark.sql("SELECT k FROM logged WHERE k < 32").cache()
        assert cached.count() == cached.count() == 32
        cached.unpersist()
        spark.read.parquet(str(tmp_path / "other")).where("id < 3").collect()
        table.explain("SELECT k FROM logged WHERE k < 33")
        table.replay(Workload((Query("SELECT k FROM logged WHERE k < 34"),)))
        with unlogged(spark):
            spark.sql("SELECT k FROM logged WHERE k < 35").collect()
        scans = table.log()
    assert seen(scans) == [
        ("k < 50L", 1, 100, 50),
        ("k <= 159L AND k >= 150L", 1, 100, 10),
        ("TRUE", 4, 400, 400),
        ("k < 0L", 0, 0, 0),
        ("k >= 300L", 1, scans[4].rows_read, None),
        ("k < 30L", 1, 100, 30),
        ("k < 30L", 1, 100, 30),
    ]
    assert [scan.columns for scan in scans[:3]] == [("k", "city"), ("k", "day"), ("city",)]
    assert scans[2].filter == Literal(True, BOOLEAN)
    assert {scan.files_total for scan in scans} == {4}
    files = opened(table).files
    sizes = {path[:10]: size for path, size in zip(files.paths, files.sizes.tolist(), strict=True)}
    assert scans[0].bytes_read == sizes["part-00000"]
    assert scans[2].bytes_read == sum(sizes.values())
    assert all(started <= scan.time <= datetime.now(UTC) and 0 < scan.seconds < 60 for scan in scans)
    assert {(scan.user, scan.application) for scan in scans} == {
        (spark.sparkContext.sparkUser(), spark.sparkContext.appName)
    }
    assert table.log(since=scans[3].time) == scans[3:]


def test_each_scan_of_a_join_and_of_a_subquery_is_recorded(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    with logging(spark, tmp_path / "spill"):
        spark.sql(
            "SELECT count(*) FROM logged a JOIN logged b ON a.k = b.k + 1 WHERE a.k < 20 AND b.city = 'Oslo'"
        ).collect()
        joined = table.log(before)
        spark.sql(
            "SELECT k FROM logged WHERE k < 300 AND k > (SELECT max(k) - 5 FROM logged WHERE k < 60)"
        ).collect()
        spark.newSession().sql(
            f"SELECT k FROM delta.`{table.source}` WHERE k = 1 UNION ALL "
            f"SELECT k FROM delta.`{table.source}` WHERE k = 399"
        ).collect()
        others = table.log(before)[len(joined) :]
    assert sorted(seen(joined)) == [("city = 'Oslo'", 4, 400, 4), ("k < 20L", 1, 100, 20)]
    outer, inner = sorted(others[:2], key=lambda scan: scan.files_read, reverse=True)
    assert "k < 300L" in to_sql(outer.filter)
    assert "#" not in to_sql(outer.filter), "the same query is the same filter next time"
    assert seen((inner,)) == [("k < 60L", 1, 100, 60)]
    assert sorted(seen(others[2:])) == [("k = 1L", 1, 100, 1), ("k = 399L", 1, 100, 1)]


def test_scans_inside_commands_count_and_copies_of_untouched_rows_do_not(
    spark: SparkSession, table: skipstone.Table, plain: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    changed = make_table(spark, tmp_path / "changed", "changed")
    with logging(spark, tmp_path / "spill"):
        spark.sql("INSERT INTO changed SELECT * FROM logged WHERE k BETWEEN 10 AND 19")
        spark.sql("DELETE FROM changed WHERE k = 250")
        spark.sql("UPDATE changed SET city = 'Rome' WHERE k = 251")
        spark.sql(
            "MERGE INTO changed c USING plain p ON c.k = p.k AND c.k > 390 AND p.city = 'Porto' "
            "WHEN MATCHED THEN UPDATE SET city = 'Bari'"
        )
        read = table.log(before)
        dml = changed.log()
        source = plain.log(before)
    assert seen(read) == [("k <= 19L AND k >= 10L", 1, 100, 10)]
    assert [_without_null_tests(scan) for scan in dml] == ["k = 250L", "k = 251L", "k > 390L"]
    assert [scan.rows_needed for scan in dml] == [1, 1, 9]
    assert source
    assert all(scan.files_total == 4 for scan in source)


def test_literals_can_be_redacted(spark: SparkSession, table: skipstone.Table, tmp_path: Path) -> None:
    before = datetime.now(UTC)
    with logging(spark, tmp_path / "spill", redact="true"):
        spark.sql("SELECT k FROM logged WHERE k IN (7, 8, 9) AND city = 'Porto'").collect()
        (scan,) = table.log(before)
    assert scan.is_redacted
    assert "Porto" not in to_sql(scan.filter)
    assert "city = '?'" in to_sql(scan.filter)
    assert scan.rows_needed == 3


def test_a_queue_that_cannot_be_spilled_is_bounded_and_fails_no_query(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    blocked = tmp_path / "a-file"
    blocked.touch()
    with logging(spark, blocked, queueSize="3") as recorder:
        for limit in range(1, 6):
            assert spark.sql(f"SELECT k FROM logged WHERE k < {limit}").count() == limit
        recorder.listener.settle(10_000)
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
    with logging(spark, blocked, spillBytes="5000") as recorder:
        for limit in range(1, 9):
            assert spark.sql(f"SELECT k FROM logged WHERE k < {limit}").count() == limit
        recorder.listener.settle(10_000)
        counts = recorder.counts()
        assert 0 < counts["recorded"] < 8
        assert counts["dropped"] == {"the queue was full": 8 - counts["recorded"]}
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
        recorder.listener.settle(10_000)
        recorder.listener.spill()
        assert recorder.counts()["waiting"] == 1
        full.unlink()
        assert spark.sql("SELECT k FROM logged WHERE k < 6").count() == 6
        recorder.listener.settle(10_000)
        recorder.listener.spill()
        assert full.read_text().count("\n") == 2, "and goes on when there is space again"
        assert [scan.rows_needed for scan in table.log(before)] == [5, 6]


def test_a_log_that_cannot_be_written_stays_on_local_disk_until_it_can(
    spark: SparkSession, plain: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    log = Path(plain.source) / "_skipstone" / "query_log"
    aside = log.with_name("aside")
    with logging(spark, tmp_path / "spill") as recorder:
        if log.exists():
            log.rename(aside)
        log.touch()
        assert spark.sql("SELECT k FROM plain WHERE k < 5").count() == 5
        flush(spark)
        assert recorder.counts()["problems"]
        assert len(list((tmp_path / "spill").glob("*.jsonl"))) == 1
        log.unlink()
        if aside.exists():
            aside.rename(log)
        assert seen(plain.log(before)) == [("k < 5L", 1, 100, 5)]
        assert list((tmp_path / "spill").glob("*.jsonl")) == []


def spilled(recorder: Recorder) -> list[Path]:
    return sorted(recorder.folder.path.glob("*.jsonl"))


def test_a_table_that_cannot_be_written_costs_one_attempt_a_round_and_two_files(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = datetime.now(UTC)
    locked = make_table(spark, tmp_path / "locked", "locked", "parquet")
    log = Path(locked.source) / "_skipstone" / "query_log"
    log.touch()
    tried: list[str] = []
    append = LogTable.append

    def counted(self: LogTable, *arguments: object) -> None:
        tried.append(self.path)
        append(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(LogTable, "append", counted)
    turns = iter(range(1, 100))
    for _ in range(2):
        with logging(spark, tmp_path / "spill") as recorder:
            for turn in (next(turns), next(turns), next(turns)):
                spark.sql(f"SELECT k FROM locked WHERE k < {turn}").collect()
                spark.sql(f"SELECT k FROM logged WHERE k < {turn}").collect()
                tried.clear()
                flush(spark)
                assert sum(path.startswith(opened(locked).root) for path in tried) == 1
                assert len(tried) == 2, "what a table has taken is not offered again"
                assert len(spilled(recorder)) <= 2
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "spill").glob("*"))
    log.unlink()
    with logging(spark, tmp_path / "spill") as recorder:
        assert [scan.rows_needed for scan in locked.log()] == [1, 2, 3, 4, 5, 6]
        assert [scan.rows_needed for scan in table.log(before)] == [1, 2, 3, 4, 5, 6]
        assert spilled(recorder) == []
        assert recorder.counts()["dropped"] == {}


def test_what_waits_for_a_log_is_bounded_and_the_oldest_goes_first(
    spark: SparkSession, tmp_path: Path
) -> None:
    locked = make_table(spark, tmp_path / "locked", "locked", "parquet")
    log = Path(locked.source) / "_skipstone" / "query_log"
    log.touch()
    with logging(spark, tmp_path / "spill", spillBytes="8000") as recorder:
        for turn in range(1, 13):
            spark.sql(f"SELECT k FROM locked WHERE k < {turn}").collect()
            flush(spark)
            assert sum(path.stat().st_size for path in spilled(recorder)) <= 8_000
            assert len(spilled(recorder)) <= 10
        log.unlink()
        kept = [scan.rows_needed for scan in locked.log()]
        assert kept == list(range(13 - len(kept), 13))
        assert 0 < len(kept) < 12
        assert recorder.counts()["dropped"] == {"the log could not be written for too long": 12 - len(kept)}


def test_a_damaged_file_keeps_no_other_from_being_taken(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    with logging(spark, tmp_path / "spill") as recorder:
        assert spark.sql("SELECT k FROM logged WHERE city = 'Tromsø' OR k < 3").count() == 3
        recorder.listener.settle(10_000)
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


CHILD = """
import os, signal, sys, time
from pathlib import Path
import skipstone
table, spill = sys.argv[1:]
spark = skipstone.session(master="local[1]", log=True, config={
    "spark.skipstone.log.spillDirectory": spill, "spark.skipstone.log.spillSeconds": "0.2",
    "spark.skipstone.log.intervalSeconds": "3600", "spark.sql.shuffle.partitions": "1"})
for limit in (1, 2, 3):
    spark.sql(f"SELECT k FROM delta.`{table}` WHERE k < {limit}").collect()
while sum(file.read_bytes().count(b"\\n") for file in Path(spill).glob("*.jsonl")) < 3:
    time.sleep(0.05)
spark.sql(f"SELECT k FROM delta.`{table}` WHERE k < 4").collect()
java = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getPid()
os.kill(java, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_driver_loses_at_most_what_was_in_memory(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILD), table.source, str(tmp_path / "spill")],
        capture_output=True,
        timeout=600,
    )
    assert child.returncode == -9, child.stderr.decode()
    (file,) = (tmp_path / "spill").glob("*.jsonl")
    content = file.read_bytes()
    with logging(spark, tmp_path / "spill"):
        deadline = time.monotonic() + 60  # a killed process takes a moment to end
        while not (found := [scan.rows_needed for scan in table.log(before)]):
            assert time.monotonic() < deadline
        assert found in ([1, 2, 3], [1, 2, 3, 4])
        assert list((tmp_path / "spill").glob("*.jsonl")) == []
        # As if the session that took the file over had died before it could delete it.
        file.write_bytes(content)
        assert [scan.rows_needed for scan in table.log(before)] == found, "a batch is never appended twice"


def scan_at(time: datetime, k: int = 5) -> LoggedScan:
    low = Comparison("<", Column(("k",), LONG), Literal(k, LONG))
    return LoggedScan(time, low, ("k",), 4, 1, 900, 100, k, 0.1, "ada", "test")


def test_several_writers_at_once_lose_nothing(spark: SparkSession, tmp_path: Path) -> None:
    root = f"file:{tmp_path / 'shared'}"
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    together = threading.Barrier(3)

    def write(writer: int) -> None:
        log = LogTable(spark, runtime_of(spark), root)
        together.wait()
        for turn in range(2):
            log.append([scan_at(moment, 10 * writer + turn)], f"batch-{writer}-{turn}")
        log.append([scan_at(moment, 99)], f"batch-{writer}-1")

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, range(3)))
    found = LogTable(spark, runtime_of(spark), root).read()
    assert sorted(scan.rows_needed or 0 for scan in found) == [0, 1, 10, 11, 20, 21]


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
import skipstone
from skipstone.predicate.normalize import TRUE
from skipstone.spark.querylog.log_table import LogTable
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.workload.logged_scans import LoggedScan
spark = skipstone.session(master="local[1]", config={"spark.sql.shuffle.partitions": "1"})
log = LogTable(spark, runtime_of(spark), sys.argv[1])
now = datetime(2026, 1, 1, tzinfo=UTC)
Path(sys.argv[2]).touch()
for turn in range(5):
    log.append([LoggedScan(now, TRUE, ("k",), 4, 1, 900, 100, turn, 0.1, "bob", "other")], f"child-{turn}")
"""


def test_processes_that_write_at_once_lose_nothing(spark: SparkSession, tmp_path: Path) -> None:
    root = f"file:{tmp_path / 'shared'}"
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    log = LogTable(spark, runtime_of(spark), root)
    ready = tmp_path / "ready"
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(WRITER), root, str(ready)]) as child:
        while not ready.exists() and child.poll() is None:
            time.sleep(0.05)
        for turn in range(5):
            log.append([scan_at(moment, 100 + turn)], f"parent-{turn}")
    assert child.returncode == 0
    found = sorted(scan.rows_needed or 0 for scan in log.read())
    assert found == [*range(5), *range(100, 105)]


def test_retention_keeps_what_is_new_and_not_too_much(spark: SparkSession, tmp_path: Path) -> None:
    log = LogTable(spark, runtime_of(spark), f"file:{tmp_path / 'kept'}")
    now = datetime(2026, 6, 1, tzinfo=UTC)
    log.append([scan_at(now - timedelta(days=days), days) for days in (1, 2, 3, 50, 100)])
    log.clean(days=90, rows=1_000, now=now)
    assert [scan.rows_needed for scan in log.read()] == [50, 3, 2, 1]
    log.clean(days=90, rows=2, now=now)
    assert [scan.rows_needed for scan in log.read()] == [2, 1]
    extent = log.extent()
    assert (extent.entries, extent.oldest) == (2, now - timedelta(days=2))


def test_a_log_from_elsewhere_is_imported_and_used(spark: SparkSession, plain: skipstone.Table) -> None:
    plain.clear_log()
    with pytest.raises(skipstone.SkipstoneError, match="has no query log yet"):
        plain.analyze()
    asked = datetime(2026, 5, 1, 12)
    queries = Workload((
        Query("SELECT city FROM plain WHERE k < 40", asked, 7, "ada", 1),
        Query("SELECT 1 FROM nowhere", position=2),
    ))  # fmt: skip
    added, unusable = plain.import_log(queries)
    assert (added, len(unusable)) == (1, 1)
    (scan,) = plain.log()
    assert (scan.time, scan.count, scan.user) == (asked.replace(tzinfo=UTC), 7, "ada")
    assert (scan.columns, _without_null_tests(scan)) == (("k", "city"), "k < 40L")
    assert "k < 40" in str(plain.analyze(num_features=1, threshold=1).report)
    status = plain.status().log
    assert (status.on, status.entries, status.newest[:10]) == (False, 1, "2026-05-01")
    assert plain.clear_log() == 1
    assert plain.log() == ()


def test_the_setting_turns_the_log_on_and_the_background_appends(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    for key, value in {
        "spark.skipstone.log": "true",
        "spark.skipstone.log.spillDirectory": str(tmp_path / "spill"),
        "spark.skipstone.log.spillSeconds": "0.1",
        "spark.skipstone.log.intervalSeconds": "0.2",
    }.items():
        spark.conf.set(key, value)
    skipstone.enable(spark)
    try:
        spark.sql("SELECT k FROM logged WHERE k < 9").collect()
        log = LogTable(spark, runtime_of(spark), opened(table).root)
        deadline = time.monotonic() + 30
        while not (found := log.read(before)) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [scan.rows_needed for scan in found] == [9]
    finally:
        spark.conf.set("spark.skipstone.log", "false")
        skipstone.enable(spark, log=False)
    assert recorder_of(spark) is None


@pytest.mark.parametrize(
    ("key", "value"), [("queueSize", "0"), ("intervalSeconds", "soon"), ("redact", "maybe")]
)
def test_a_wrong_setting_is_one_clear_sentence(spark: SparkSession, key: str, value: str) -> None:
    spark.conf.set(f"spark.skipstone.log.{key}", value)
    with pytest.raises(skipstone.SkipstoneError, match=rf"spark\.skipstone\.log\.{key} must be .*{value}"):
        LogSettings.of(spark)

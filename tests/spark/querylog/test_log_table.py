"""The table of a log: several writers, writers that die, and how long entries are kept."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.querylog.recording import logging, scan_at

import skipstone
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.spark.querylog.log_table import LogTable, ReplicaUse, as_arrow

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
# One process for both: it writes to a log that this process writes to, then records queries and is killed.
CHILD = """
import os, signal, sys, time
from datetime import UTC, datetime
from pathlib import Path
import skipstone
from skipstone.predicate.normalize import TRUE
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.spark.querylog.log_table import LogTable, ReplicaUse, as_arrow
from skipstone.workload.logged_scans import LoggedScan
table, spill, shared = sys.argv[1:]
spark = skipstone.session(master="local[1]", log=True, config={
    "spark.skipstone.log.spillDirectory": spill, "spark.skipstone.log.spillSeconds": "0.2",
    "spark.skipstone.log.intervalSeconds": "3600", "spark.sql.shuffle.partitions": "1"})
log = LogTable(spark, runtime_of(spark), shared)
now = datetime(2026, 1, 1, tzinfo=UTC)
print("ready", flush=True)
for turn in range(3):
    log.append([LoggedScan(now, TRUE, ("k",), 4, 1, 900, 100, turn, 0.1, "bob", "other")], f"child-{turn}")
for limit in (1, 2, 3):
    spark.sql(f"SELECT k FROM delta.`{table}` WHERE k < {limit}").collect()
while sum(file.read_bytes().count(b"\\n") for file in Path(spill).glob("*.jsonl")) < 3:
    time.sleep(0.05)
spark.sql(f"SELECT k FROM delta.`{table}` WHERE k < 4").collect()
java = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getPid()
os.kill(java, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
"""


@dataclass(frozen=True)
class Killed:
    """When another process began, where it spilled and the log that it wrote to together with this one."""

    began: datetime
    spill: Path
    shared: LogTable


@pytest.fixture(scope="module")
def killed(spark: SparkSession, table: skipstone.Table, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """A driver that was killed after all that it had to do."""
    began, home = datetime.now(UTC), tmp_path_factory.mktemp("killed")
    shared = LogTable(spark, runtime_of(spark), f"file:{home / 'shared'}")
    command = [sys.executable, "-c", CHILD, table.source, str(home / "spill"), f"file:{home / 'shared'}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        for turn in range(3):
            shared.append([scan_at(MOMENT, 100 + turn)], f"parent-{turn}")
        child.wait(600)
    assert child.returncode == -9
    return Killed(began, home / "spill", shared)


def test_processes_that_write_at_once_lose_nothing(killed: Killed) -> None:
    found = sorted(scan.rows_needed or 0 for scan in killed.shared.read())
    assert found == [*range(3), *range(100, 103)]


def test_a_killed_driver_loses_at_most_what_was_in_memory(
    spark: SparkSession, table: skipstone.Table, killed: Killed
) -> None:
    (file,) = killed.spill.glob("*.jsonl")
    content = file.read_bytes()
    with logging(spark, killed.spill):
        deadline = time.monotonic() + 60  # a killed process takes a moment to end
        while not (found := [scan.rows_needed for scan in table.log(killed.began)]):
            assert time.monotonic() < deadline
        assert found in ([1, 2, 3], [1, 2, 3, 4])
        assert list(killed.spill.glob("*.jsonl")) == []
        # As if the session that took the file over had died before it could delete it.
        file.write_bytes(content)
        again = [scan.rows_needed for scan in table.log(killed.began)]
        assert again == found, "a batch is never appended twice"


def test_several_writers_at_once_lose_nothing(spark: SparkSession, tmp_path: Path) -> None:
    root = f"file:{tmp_path / 'shared'}"
    together = threading.Barrier(3)

    def write(writer: int) -> None:
        log = LogTable(spark, runtime_of(spark), root)
        together.wait()
        for turn in range(2):
            log.append([scan_at(MOMENT, 10 * writer + turn)], f"batch-{writer}-{turn}")
        log.append([scan_at(MOMENT, 99)], f"batch-{writer}-1")

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, range(3)))
    found = LogTable(spark, runtime_of(spark), root).read()
    assert sorted(scan.rows_needed or 0 for scan in found) == [0, 1, 10, 11, 20, 21]


def test_retention_keeps_what_is_new_and_not_too_much(spark: SparkSession, tmp_path: Path) -> None:
    log = LogTable(spark, runtime_of(spark), f"file:{tmp_path / 'kept'}")
    now = datetime(2026, 6, 1, tzinfo=UTC)
    log.append([scan_at(now - timedelta(days=days), days) for days in (1, 2, 3, 50, 100)])
    log.clean(days=90, rows=1_000, now=now)
    assert [scan.rows_needed for scan in log.read()] == [50, 3, 2, 1]
    assert [scan.rows_needed for scan in log.read(newest=2)] == [2, 1]
    log.clean(days=90, rows=2, now=now)
    assert [scan.rows_needed for scan in log.read()] == [2, 1]
    extent = log.extent()
    assert (extent.entries, extent.oldest) == (2, now - timedelta(days=2))


def test_a_log_that_an_earlier_version_began_takes_the_replicas_of_new_scans(
    spark: SparkSession, tmp_path: Path
) -> None:
    log = LogTable(spark, runtime_of(spark), f"file:{tmp_path / 'old'}")
    old = as_arrow([scan_at(MOMENT, 1)]).drop_columns(["replicas"])
    spark.createDataFrame(old).write.format("delta").save(log.path)
    assert log.replica_uses() == {}
    later = MOMENT + timedelta(days=1)
    log.append([replace(scan_at(later, 2), replicas=("a", "b"), count=3), scan_at(later, 3)])
    log.append([replace(scan_at(MOMENT, 4), replicas=("a",))])
    assert [scan.replicas for scan in log.read()] == [(), ("a",), ("a", "b"), ()]
    assert log.replica_uses() == {"a": ReplicaUse(4, later), "b": ReplicaUse(3, later)}

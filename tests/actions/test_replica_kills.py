"""A process that is killed while it makes a replica and refreshes another one."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same
from tests.e2e.replicated import assert_copied, make_replicated, replicate, write_rows
from tests.processes import start
from tests.templates import Templates

import skipstone

SECONDS = 300
# One process for both: a first replica whose files are written and not measured, and a refresh of another
# table that has written everything but the record. There it waits to be killed.
CHILD = """
import sys, threading, time
from pathlib import Path
import skipstone
from skipstone.spark.bridge.hadoop import HadoopStore
from skipstone.spark.engine import rewrite
first, other, ready = sys.argv[1:]
measured, write = rewrite.measure, HadoopStore.write

def wait(stage):
    Path(ready, stage).touch()
    time.sleep(3600)

def measure(table, *more):
    if first in table.root:
        wait("making")
    return measured(table, *more)

def publish(store, path, data):
    if path.endswith(".json") and "/replicas/" in path:
        wait("refreshing")
    write(store, path, data)

spark = skipstone.session(master="local[2]", config={
    "spark.sql.shuffle.partitions": "1", "spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC"})
rewrite.measure, HadoopStore.write = measure, publish

def make():
    skipstone.table(spark, first).replicate(layout="hyper", block_rows=50)

threading.Thread(target=make).start()
skipstone.table(spark, other).refresh()
"""


def replicas_of(path: Path) -> Path:
    return path / "_skipstone" / "replicas"


def leftovers(path: Path) -> set[Path]:
    """Folders of partitions that no record speaks of."""
    counting = {each.name.partition("-")[0] for each in replicas_of(path).glob("*.json")}
    found = (each for each in replicas_of(path).glob("*/*") if each.is_dir())
    return {each for each in found if f"{each.parent.name}.{each.name}" not in counting}


def age(folders: set[Path]) -> None:
    """As if it had been two days ago."""
    long_ago = time.time() - 2 * 24 * 3600
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            os.utime(path, (long_ago, long_ago))


@pytest.fixture
def killed(spark: SparkSession, templates: Templates, tmp_path: Path) -> tuple[Path, Path]:
    """A table whose first replica, and one whose refresh, was being made when the process was killed."""

    def make(path: Path) -> None:
        make_replicated(spark, path)
        write_rows(spark, path, start=1000, rows=100)

    first, other, ready = tmp_path / "first", tmp_path / "other", tmp_path / "ready"
    write_rows(spark, first, rows=200)
    templates.copy("grown", make, other)
    ready.mkdir()
    command = [sys.executable, "-c", CHILD, str(first), str(other), str(ready)]
    log = tmp_path / "child.log"
    child = start(command, log)
    deadline = time.monotonic() + SECONDS
    while {each.name for each in ready.iterdir()} != {"making", "refreshing"}:
        assert time.monotonic() < deadline, log.read_text()
        assert child.poll() is None, log.read_text()
        time.sleep(0.1)
    os.killpg(child.pid, signal.SIGKILL)
    assert child.wait(60) == -signal.SIGKILL
    return first, other


def test_nothing_that_a_killed_process_left_counts_and_the_next_one_goes_on(
    spark: SparkSession, killed: tuple[Path, Path]
) -> None:
    first, other = (skipstone.table(spark, str(path)) for path in killed)
    left = [leftovers(path) for path in killed]
    assert [len(each) for each in left] == [1, 1]
    assert all(list(folder.rglob("part-*.parquet")) for each in left for folder in each)
    assert (first.replicas().replicas, other.replicas().replicas[0].rows) == ((), 400)
    for table in (first, other):
        assert_same(spark, f"SELECT * FROM delta.`{table.source}` WHERE k < 60")
    assert_copied(other, f"SELECT * FROM delta.`{other.source}` WHERE k < 60", partitions=2)
    assert replicate(first).rows == 200
    assert other.refresh().rows == 100
    for table in (first, other):
        assert_copied(table, f"SELECT * FROM delta.`{table.source}` WHERE k < 60")
    assert [leftovers(path) for path in killed] == left, "another process may be writing them"
    age(left[0] | left[1])
    first.refresh()
    other.refresh()
    assert [leftovers(path) for path in killed] == [set(), set()]
    for table in (first, other):
        assert_copied(table, f"SELECT * FROM delta.`{table.source}` WHERE k < 60")

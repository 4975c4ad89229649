"""A process that is killed while it makes a replica and refreshes another one."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same
from tests.e2e.replicated import assert_copied, make_replicated, replicate, write_rows
from tests.processes import start
from tests.templates import Templates

import skipstone

SECONDS = 300
# One process with a thread for each stage of making, refreshing, dividing and repairing, on a table of that
# name. There it waits to be killed.
CHILD = """
import sys, threading, time
from pathlib import Path
import skipstone
from skipstone.spark.bridge.hadoop import HadoopStore
from skipstone.spark.engine import rewrite
home, ready = map(Path, sys.argv[1:])
measured, write, delete = rewrite.measure, HadoopStore.write, HadoopStore.delete

def wait(root, *stages):
    stage = root.rpartition("/")[2]
    if stage in stages:
        (ready / stage).touch()
        time.sleep(3600)

def measure(table, *more):
    wait(table.root, "making", "measuring")
    return measured(table, *more)

def publish(store, path, data):
    name = path.rpartition("/")[2]
    if "/replicas/" in path and name.startswith("blocks-"):
        wait(store._root, "describing")
    elif "/replicas/" in path and name.endswith(".json") and not name.startswith("damaged-"):
        wait(store._root, "recording", "dividing", "repairing")
    elif "/replicas/" in path and name == "retired":
        wait(store._root, "retiring")
    write(store, path, data)

def forget(store, path):
    if "/replicas/" in path and path.endswith(".json"):
        wait(store._root, "forgetting")
    delete(store, path)

works = {
    "making": lambda table: table.replicate(layout="hyper", block_rows=50),
    "dividing": lambda table: table.optimize(layout="hyper", block_rows=50, replicas=2),
    "repairing": lambda table: table.repair(),
}
spark = skipstone.session(master="local[2]", config={
    "spark.sql.shuffle.partitions": "1", "spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC"})
rewrite.measure, HadoopStore.write, HadoopStore.delete = measure, publish, forget

def work(path):
    works.get(path.name, lambda table: table.refresh())(skipstone.table(spark, str(path)))

for path in home.iterdir():
    threading.Thread(target=work, args=(path,)).start()
"""
NEW = ("making", "dividing")
REFRESHED = ("measuring", "describing", "recording", "retiring", "forgetting")
STAGES = (*NEW, *REFRESHED, "repairing")


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
def killed(spark: SparkSession, templates: Templates, tmp_path: Path) -> Mapping[str, Path]:
    """Tables that a process was at work on when it was killed, by what it was doing."""

    def make(path: Path) -> None:
        make_replicated(spark, path)
        write_rows(spark, path, start=1000, rows=100)
        # One of two partitions is stale, so a refresh has one to make and one to let go of.
        spark.sql(f"UPDATE delta.`{path}` SET name = 'changed' WHERE id = 7")

    home, ready = tmp_path / "tables", tmp_path / "ready"
    home.mkdir()
    ready.mkdir()
    for stage in NEW:
        templates.copy("plain", lambda path: write_rows(spark, path, rows=200), home / stage)
    for stage in REFRESHED:
        templates.copy("changed", make, home / stage)
    broken = templates.copy("kept", lambda path: make_replicated(spark, path), home / "repairing")
    min(broken.glob("part-*.parquet")).unlink()
    log = tmp_path / "child.log"
    child = start([sys.executable, "-c", CHILD, str(home), str(ready)], log)
    deadline = time.monotonic() + SECONDS
    while {each.name for each in ready.iterdir()} != set(STAGES):
        assert time.monotonic() < deadline, log.read_text()
        assert child.poll() is None, log.read_text()
        time.sleep(0.1)
    os.killpg(child.pid, signal.SIGKILL)
    assert child.wait(60) == -signal.SIGKILL
    return {stage: home / stage for stage in STAGES}


def low(path: Path) -> str:
    return f"SELECT * FROM delta.`{path}` WHERE k < 60"


def test_nothing_that_a_killed_process_left_counts_and_the_next_one_goes_on(
    spark: SparkSession, killed: Mapping[str, Path]
) -> None:
    tables = {stage: skipstone.table(spark, str(path)) for stage, path in killed.items()}
    found = {stage: len(leftovers(path)) for stage, path in killed.items()}
    assert found == dict.fromkeys(STAGES, 0) | dict.fromkeys(("making", "dividing", *REFRESHED[:3]), 1)
    for path in killed.values():
        assert_same(spark, low(path))
    assert all(not tables[stage].replicas().replicas for stage in NEW)
    for stage in REFRESHED:
        # The partition that is still valid, and the two new ones once their records are written.
        assert_copied(tables[stage], low(killed[stage]), partitions=3 if stage in REFRESHED[3:] else 1)
    left = {stage: leftovers(path) for stage, path in killed.items()}

    for stage in NEW:
        assert replicate(tables[stage]).rows == 200
    for stage in REFRESHED:
        report = tables[stage].refresh()
        assert (report.rows, report.partitions_retired) == (0 if stage in REFRESHED[3:] else 300, 1), stage
    assert tables["repairing"].repair().whole
    assert tables["repairing"].refresh().rows == 200, "what it held for files that were rebuilt"
    for stage, path in killed.items():
        if stage == "repairing":  # the base is in the order of its replica now, and costs no more
            (status,) = tables[stage].replicas().replicas
            assert (status.partitions_valid, status.rows) == (2, 400)
        else:
            assert_copied(tables[stage], low(path))
        assert left[stage] <= leftovers(path), "another process may be writing them"

    for stage, path in killed.items():
        age(leftovers(path))
        tables[stage].refresh()
        assert leftovers(path) == set(), stage
        assert_same(spark, low(path))

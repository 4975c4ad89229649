"""A watch decides after commits, whoever makes them, and outlives failures."""

from __future__ import annotations

import threading
from queue import Queue

from pyspark.sql import SparkSession
from tests.actions.conftest import PATIENT

import skipstone
from skipstone.actions.watch import Watch, watch_table
from skipstone.catalog.decisions import Decision


def test_a_watch_sees_the_commits_of_others(spark: SparkSession, asked: skipstone.Table) -> None:
    decided: Queue[Decision] = Queue()
    watch = watch_table(asked._source, 0.05, PATIENT, decided.put).start()
    try:
        assert decided.get(timeout=120).numbers["table_version"] == 0
        rows = spark.read.format("delta").load(asked.source).where("id < 10")
        rows.write.format("delta").mode("append").save(asked.source)
        assert decided.get(timeout=120).numbers["table_version"] == 1
    finally:
        watch.stop()


def test_a_watch_decides_after_commits_only() -> None:
    versions, decided = [0], []

    def decide() -> Decision:
        decided.append(versions[0])
        acted = len(decided) == 2
        versions[0] += acted
        return Decision("2024-01-01T00:00:00+00:00", acted, "PAYS" if acted else "WAITING", "")

    watch = Watch(lambda: versions[0], decide, idle_checks=4)
    assert watch.look() is not None
    assert watch.look() is None
    versions[0] = 1
    assert watch.look() is not None
    assert watch.look() is not None, "after a step of its own there may be another one"
    assert (watch.look(), watch.look(), watch.look()) == (None, None, None)
    assert watch.look() is not None, "the log may have grown meanwhile"
    assert decided == [0, 1, 2, 2]


def test_a_watch_in_the_background_survives_errors_and_stops() -> None:
    looked = threading.Semaphore(0)

    def version() -> int:
        looked.release()
        raise skipstone.SkipstoneError("no such table")

    watch = Watch(version, lambda: Decision("", False, "", ""), seconds=0.01).start()
    assert all(looked.acquire(timeout=5) for _ in range(3))
    watch.stop()


def test_a_watch_outlives_a_round_that_fails() -> None:
    rounds: list[str] = []

    def decide() -> Decision:
        rounds.append("begun")
        if len(rounds) == 1:
            raise RuntimeError("the file system is away")
        return Decision("2024-01-01T00:00:00+00:00", False, "WAITING", "")

    watch = Watch(lambda: 0, decide)
    assert watch.look() is None
    assert watch.look() is not None, "what failed is tried again"

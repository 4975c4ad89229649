"""What recording adds to small queries, where it would show most.

Batches of like queries run with logging on and off in turn, and which goes first alternates. No query is
asked twice, for the second time it would be cheaper. The listener works beside the queries; so that none of
its work is charged to the other side, a batch ends when the events of its queries have been handled. The
overhead is the median over the pairs of batches; that of the totals, which a few slow batches can move, is
given beside it. Spilling and appending go on by the default settings, so an append may fall into a batch of
either side. The last one is timed on its own.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import skipstone
from benchmarks.jvm import listen, wait_for_listener
from skipstone.errors import SkipstoneError
from skipstone.spark import SparkSession
from skipstone.spark.querylog.query_log import recorder_of
from skipstone.spark.querylog.recorder import Recorder

__all__ = ["LogOverhead", "make_table", "measure", "settings"]

_ROWS = 20_000


def settings(folder: Path) -> dict[str, str]:
    """Few tasks for few rows, and a spill directory of its own; the log has its default settings."""
    return {
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.skipstone.log.spillDirectory": str(folder / "spill"),
    }


def make_table(spark: SparkSession, path: Path) -> skipstone.Table:
    """A small Delta table in eight files, indexed, as the view ``bench_log``."""
    columns = ("id AS k", "id % 97 AS kind", "concat('name-', id) AS name", "id / 7D AS amount")
    spark.range(0, _ROWS, 1, 8).selectExpr(*columns).write.format("delta").save(str(path))
    table = skipstone.table(spark, f"bench_log={path}")
    table.index()
    return table


@dataclass(frozen=True, slots=True)
class LogOverhead:
    """What recording added, in percent, and how long appending what was recorded took."""

    queries: int
    batch: int
    overhead_percent: float
    overhead_of_totals_percent: float
    median_on_milliseconds: float
    median_off_milliseconds: float
    recorded: int
    logged: int
    append_seconds: float
    append_share_percent: float
    on_milliseconds: list[float]
    off_milliseconds: list[float]


def measure(
    spark: SparkSession, table: skipstone.Table, queries: int = 1_000, batch: int = 20, warm: int = 10
) -> LogOverhead:
    """Median overhead in percent over ``queries`` queries on each side, ``batch`` at a time."""
    skipstone.enable(spark, log=True)
    recorder = recorder_of(spark)
    if recorder is None:
        raise SkipstoneError("The session records no queries, although its query log is on.")
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(warm + queries // batch):
        for turn, on in enumerate((number % 2 == 0, number % 2 == 1)):
            listen(recorder, on)
            seconds = _run(spark, recorder, (2 * number + turn) * batch, batch)
            if number >= warm:
                times[on].append(1_000 * seconds / batch)
    listen(recorder, True)
    recorded = recorder.counts()["recorded"]
    started = time.perf_counter()
    recorder.flush()
    append_seconds = time.perf_counter() - started
    pairs = list(zip(times[True], times[False], strict=True))
    return LogOverhead(
        queries=queries,
        batch=batch,
        overhead_percent=median(100 * (on / off - 1) for on, off in pairs),
        overhead_of_totals_percent=100 * (sum(times[True]) / sum(times[False]) - 1),
        median_on_milliseconds=median(times[True]),
        median_off_milliseconds=median(times[False]),
        recorded=recorded,
        logged=len(table.log()),
        append_seconds=append_seconds,
        append_share_percent=100 * append_seconds / recorder.settings.interval_seconds,
        on_milliseconds=[round(value, 3) for value in times[True]],
        off_milliseconds=[round(value, 3) for value in times[False]],
    )


def _run(spark: SparkSession, recorder: Recorder, first: int, count: int) -> float:
    started = time.perf_counter()
    for number in range(first, first + count):
        low = number * 37 % _ROWS
        spark.sql(f"SELECT sum(amount) FROM bench_log WHERE k BETWEEN {low} AND {low + 500}").collect()
    wait_for_listener(recorder)
    return time.perf_counter() - started

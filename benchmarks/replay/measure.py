"""Replaying a timeline: contestants take turns event by event, so that noise hits all of them alike.

Of every scan the seconds are taken, the files, their bytes, rows and columns from the plan that ran, and the
bytes that tasks read from them, which are those of the columns, from Spark's status store. Results are
compared. What is measured about a scan is asked for after its time was taken, and the listeners, the query
log's among them, have then caught up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Row

from benchmarks.jvm import file_scans, with_task_bytes
from benchmarks.replay.contestants import Contestant
from benchmarks.replay.timeline import TABLE, Event, Insert, Scan
from skipstone.progress import Progress
from skipstone.spark import DataFrame, SparkSession
from skipstone.spark.bridge.query_text import query_frame

__all__ = ["Measured", "Tally", "replay", "run_scan"]


@dataclass(frozen=True, slots=True)
class Measured:
    """One scan by one contestant; ``column_bytes`` is what tasks read of the files."""

    seconds: float
    files: int
    file_bytes: int
    column_bytes: int
    rows: int
    columns: tuple[str, ...]
    answer: tuple[tuple[object, ...], ...]


@dataclass(slots=True)
class Tally:
    """The scans of each contestant, in the order of the timeline, and those with different answers."""

    scans: dict[str, list[Measured]] = field(default_factory=dict)
    templates: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)


def replay(
    events: Sequence[Event],
    contestants: Sequence[Contestant],
    rows_of: Callable[[Insert], DataFrame],
    progress: Progress | None = None,
    table: str = TABLE,
) -> Tally:
    """Replay the events; contestants keep for themselves what inserts cost them."""
    tally = Tally({contestant.name: [] for contestant in contestants})
    for index, event in enumerate(events):
        if progress is not None:
            progress("replaying", index, len(events))
        # Each goes first as often as the others.
        turn = index % len(contestants)
        order = (*contestants[turn:], *contestants[:turn])
        if isinstance(event, Insert):
            for contestant in order:
                contestant.insert(rows_of(event), event.batch)
        else:
            _scan(event, order, tally, table)
    return tally


def _scan(scan: Scan, order: Sequence[Contestant], tally: Tally, table: str) -> None:
    answers = []
    for contestant in order:
        contestant.show(table)
        measured = run_scan(contestant.spark, scan.sql)
        tally.scans[contestant.name].append(measured)
        answers.append(measured.answer)
    tally.templates.append(scan.template)
    if any(answer != answers[0] for answer in answers):
        tally.different.append(scan.sql)


def run_scan(spark: SparkSession, sql: str, clock: Callable[[], float] = time.perf_counter) -> Measured:
    """Run a query and measure it."""

    def collect() -> tuple[DataFrame, list[Row], float]:
        started = clock()
        frame = query_frame(spark, sql)
        answer = frame.collect()
        return frame, answer, clock() - started

    (frame, answer, seconds), column_bytes = with_task_bytes(spark, collect)
    scans = file_scans(frame)
    return Measured(
        seconds,
        files=sum(scan.files for scan in scans),
        file_bytes=sum(scan.file_bytes for scan in scans),
        column_bytes=column_bytes,
        rows=sum(scan.rows for scan in scans),
        columns=tuple(name for scan in scans for name in scan.columns),
        answer=tuple(tuple(row) for row in answer),
    )

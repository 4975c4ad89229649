"""Replaying a timeline: contestants take turns event by event, so that noise hits all of them alike.

Of every scan the seconds are taken, the files, their bytes, rows and columns from the plan that ran, and the
bytes that tasks read from them, which are those of the columns, from Spark's status store. Results are
compared. What is measured about a scan is asked for after its time was taken, and the listeners, the query
log's among them, have then caught up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.replay_contest import Contestant
from benchmarks.replay_timeline import TABLE, Event, Insert, Scan

from skipstone.spark import DataFrame, SparkSession
from skipstone.spark.bridge.query_text import query_frame
from skipstone.spark.engine.job_progress import Progress

__all__ = ["Measured", "Tally", "replay", "run_scan"]

_GROUP = "skipstone-bench-replay"


@dataclass(frozen=True, slots=True)
class Measured:
    """One scan by one contestant; ``column_bytes`` is what tasks read of the files."""

    seconds: float
    files: int
    file_bytes: int
    column_bytes: int
    rows: int
    columns: tuple[str, ...]
    answer: tuple[Any, ...]


@dataclass(slots=True)
class Tally:
    """The scans of each contestant, in the order of the timeline, and those with different answers."""

    scans: dict[str, list[Measured]] = field(default_factory=dict)
    templates: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)


def replay(
    spark: SparkSession,
    events: Sequence[Event],
    contestants: Sequence[Contestant],
    rows_of: Callable[[Insert], DataFrame],
    progress: Progress | None = None,
    table: str = TABLE,
) -> Tally:
    """Replay the events; contestants keep for themselves what inserts cost them."""
    tally = Tally({contestant.name: [] for contestant in contestants})
    for place, event in enumerate(events):
        if progress is not None:
            progress("replaying", place, len(events))
        # Each goes first as often as the others.
        turn = place % len(contestants)
        order = (*contestants[turn:], *contestants[:turn])
        if isinstance(event, Insert):
            for contestant in order:
                contestant.insert(rows_of(event), event.batch)
        else:
            _scan(spark, event, order, tally, table)
    return tally


def _scan(spark: SparkSession, scan: Scan, order: Sequence[Contestant], tally: Tally, table: str) -> None:
    answers = []
    for contestant in order:
        contestant.show(table)
        measured = run_scan(spark, scan.sql)
        tally.scans[contestant.name].append(measured)
        answers.append(measured.answer)
    tally.templates.append(scan.template)
    if any(answer != answers[0] for answer in answers):
        tally.different.append(scan.sql)


def run_scan(spark: SparkSession, sql: str, clock: Callable[[], float] = time.perf_counter) -> Measured:
    """Run a query and measure it."""
    context = spark.sparkContext
    group = f"{_GROUP}-{time.time_ns()}"
    context.setJobGroup(group, "")
    started = clock()
    frame = query_frame(spark, sql)
    answer = frame.collect()
    seconds = clock() - started
    context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    scans = list(_file_scans(frame._jdf.queryExecution().executedPlan()))
    return Measured(
        seconds,
        sum(_metric(scan, "numFiles") for scan in scans),
        sum(_metric(scan, "filesSize") for scan in scans),
        _bytes_of_tasks(context, group),
        sum(_metric(scan, "numOutputRows") for scan in scans),
        tuple(name for scan in scans for name in scan.requiredSchema().fieldNames()),
        tuple(tuple(row) for row in answer),
    )


def _file_scans(plan: Any) -> Iterator[Any]:
    """The scans of files in a plan that has run, adaptive or not."""
    kind = plan.getClass().getSimpleName()
    if kind == "FileSourceScanExec":
        yield plan
    elif kind == "AdaptiveSparkPlanExec":
        yield from _file_scans(plan.executedPlan())
    elif kind.endswith("QueryStageExec"):
        yield from _file_scans(plan.plan())
    else:
        children = plan.children()
        for place in range(children.size()):
            yield from _file_scans(children.apply(place))


def _metric(scan: Any, name: str) -> int:
    return int(scan.metrics().apply(name).value())


def _bytes_of_tasks(context: Any, group: str) -> int:
    scala = context._jsc.sc()
    scala.listenerBus().waitUntilEmpty()
    tracker, store = context.statusTracker(), scala.statusStore()
    stages = {
        stage
        for job in tracker.getJobIdsForGroup(group)
        if (info := tracker.getJobInfo(job)) is not None
        for stage in info.stageIds
    }
    # Stages that were skipped are the first that a full store forgets.
    known = (stage for stage in stages if tracker.getStageInfo(stage) is not None)
    return sum(int(store.lastStageAttempt(stage).inputBytes()) for stage in known)

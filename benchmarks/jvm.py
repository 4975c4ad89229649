"""What Spark does not tell in Python: the only module of the benchmarks that touches the JVM.

Everything that leaves it is plain data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from py4j.java_gateway import JavaObject

from skipstone.spark import DataFrame, SparkSession
from skipstone.spark.querylog.recorder import Recorder

__all__ = [
    "FileScan",
    "file_scans",
    "listen",
    "plan_physically",
    "wait_for_listener",
    "with_shuffled_bytes",
    "with_task_bytes",
]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class FileScan:
    """A scan of files that has run: what it read of them, and which columns."""

    files: int
    file_bytes: int
    rows: int
    columns: tuple[str, ...]


def plan_physically(frame: DataFrame) -> None:
    """Make a query's physical plan, without running it."""
    frame._jdf.queryExecution().executedPlan()


def file_scans(frame: DataFrame) -> tuple[FileScan, ...]:
    """The scans of a query that has run."""
    plan = frame._jdf.queryExecution().executedPlan()
    return tuple(
        FileScan(
            _metric(scan, "numFiles"),
            _metric(scan, "filesSize"),
            _metric(scan, "numOutputRows"),
            tuple(scan.requiredSchema().fieldNames()),
        )
        for scan in _scan_nodes(plan)
    )


def _scan_nodes(plan: JavaObject) -> Iterator[JavaObject]:
    """The scans of files in a plan that has run, adaptive or not."""
    kind = plan.getClass().getSimpleName()
    if kind == "FileSourceScanExec":
        yield plan
    elif kind == "AdaptiveSparkPlanExec":
        yield from _scan_nodes(plan.executedPlan())
    elif kind.endswith("QueryStageExec"):
        yield from _scan_nodes(plan.plan())
    else:
        children = plan.children()
        for index in range(children.size()):
            yield from _scan_nodes(children.apply(index))


def _metric(scan: JavaObject, name: str) -> int:
    return int(scan.metrics().apply(name).value())


def with_task_bytes(spark: SparkSession, work: Callable[[], _T]) -> tuple[_T, int]:
    """Do some work; what it returns, and the bytes that the tasks of its jobs read from files.

    They are those of the columns that are read. When this returns, all listeners have caught up.
    """
    result, stages = _with_stages(spark, work)
    return result, sum(int(stage.inputBytes()) for stage in stages)


def with_shuffled_bytes(spark: SparkSession, work: Callable[[], _T]) -> tuple[_T, int]:
    """Do some work; what it returns, and the bytes that the tasks of its jobs wrote for shuffles."""
    result, stages = _with_stages(spark, work)
    return result, sum(int(stage.shuffleWriteBytes()) for stage in stages)


def _with_stages(spark: SparkSession, work: Callable[[], _T]) -> tuple[_T, list[JavaObject]]:
    """Do some work; what it returns, and the stages of its jobs."""
    context = spark.sparkContext
    group = f"skipstone-benchmark-{time.time_ns()}"
    context.setJobGroup(group, "")
    try:
        result = work()
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    scala: JavaObject = context._jsc.sc()
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
    return result, [store.lastStageAttempt(stage) for stage in known]


def listen(recorder: Recorder, on: bool) -> None:
    """Let the query log's listener hear of queries, or not.

    Listening begins with the recorder; queries without it are made by leaving the queue.
    """
    recorder.listener.detach()
    if on:
        recorder.listener.attach()


def wait_for_listener(recorder: Recorder, milliseconds: int = 60_000) -> None:
    """Until the listener has handled the events of all queries."""
    recorder.listener.awaitEnded(milliseconds)

"""What Spark does not tell in Python: the only module of the benchmarks that touches the JVM.

Everything that leaves it is plain data.
"""

from __future__ import annotations

import re
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
    "peak_task_bytes",
    "plan_physically",
    "wait_for_listener",
    "with_shuffled_bytes",
    "with_task_bytes",
]

_T = TypeVar("_T")
_SCANS = frozenset({"FileSourceScanExec", "PartitionedScan", "DynamicScan"})
_HOLDERS = ("ShuffledHashJoin", "Sort")
_BUFFERS = frozenset({"data size of build side", "peak memory"})
_SIZE = re.compile(r"([\d.,]+) (B|KiB|MiB|GiB)")
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


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
    if kind in _SCANS:
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


def peak_task_bytes(spark: SparkSession, work: Callable[[], object]) -> int:
    """The most memory that sorts and the built sides of joins took a task in the last query of some work."""
    work()
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    last = max(each.executionId() for each in _each(store.executionsList()))
    values = store.executionMetrics(last)
    of_nodes: dict[str, int] = {}
    nodes = (node for node in _each(store.planGraph(last).allNodes()) if node.name().startswith(_HOLDERS))
    for node in nodes:
        for metric in _each(node.metrics()):
            found = values.get(metric.accumulatorId())
            if metric.name() in _BUFFERS and found.isDefined():
                of_nodes[f"{node.id()}"] = _largest(found.get())
    return sum(of_nodes.values())


def _largest(text: str) -> int:
    """The largest task's part of a metric as Spark shows it: the last size, of the total and three others.

    >>> _largest("total (min, med, max)... 3.0 MiB (1.0 MiB, 1.0 MiB, 1.5 MiB (stage 2.0: task 3))")
    1572864
    """
    sizes = _SIZE.findall(text)
    number, unit = sizes[-1] if sizes else ("0", "B")
    return round(float(number.replace(",", "")) * _UNITS[unit])


def _each(items: JavaObject) -> Iterator[JavaObject]:
    return (items.apply(index) for index in range(items.size()))


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

"""Progress of Spark jobs, for whoever wants to show it.

Spark knows a stage only once its turn has come. So a piece of work says how many stages it is going to run,
and of how many tasks at least; smaller stages do not count. Each has its share of the work from the start,
and further ones that turn up share what is left: the reported share only grows. Only the jobs of the piece
of work itself count, which a tag marks.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

from skipstone.progress import Progress
from skipstone.spark.bridge.jvm import JavaObject

__all__ = ["Progress", "share_of_stages", "watch"]

_SECONDS = 0.2
_PARTS = 10_000
_SURPRISE = 0.1
"""The share of the last stage that is kept for stages that nobody expected."""


@contextmanager
def watch(
    spark: SparkSession, progress: Progress | None, what: str, stages: int = 1, tasks: int = 2
) -> Iterator[None]:
    """Report how far the jobs started in this block are, as a share of all the work."""
    if progress is None:
        yield
        return
    progress(what, 0, _PARTS)
    tag = f"skipstone-{uuid.uuid4().hex[:12]}"
    stop = threading.Event()

    def report(seen: Mapping[int, float]) -> None:
        progress(what, int(_PARTS * share_of_stages(seen, stages)), _PARTS)

    watcher = threading.Thread(target=_report, args=(spark, report, tag, tasks, stop), daemon=True)
    spark.sparkContext.addJobTag(tag)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        spark.sparkContext.removeJobTag(tag)
    progress(what, _PARTS, _PARTS)


def share_of_stages(stages: Mapping[int, float], expected: int) -> float:
    """The share of the work that is done, given that of each stage by its number.

    >>> share_of_stages({7: 0.5}, 1), share_of_stages({7: 1.0}, 2), share_of_stages({7: 1.0, 8: 0.5}, 2)
    (0.45, 0.5, 0.725)
    """
    done, left = 0.0, 1.0
    for index, number in enumerate(sorted(stages)):
        awaited = expected - index
        share = left / awaited if awaited > 1 else left * (1.0 - _SURPRISE)
        done += share * stages[number]
        left -= share
    return done


def _report(
    spark: SparkSession,
    report: Callable[[Mapping[int, float]], None],
    tag: str,
    least: int,
    stop: threading.Event,
) -> None:
    tracker = spark.sparkContext._jsc.sc().statusTracker()
    seen: dict[int, float] = {}
    while not stop.wait(_SECONDS):
        for job in tracker.getJobIdsForTag(tag):
            info = tracker.getJobInfo(job)
            for number in info.get().stageIds() if info.isDefined() else ():
                found = tracker.getStageInfo(number)
                if seen.get(number, 0.0) < 1.0 and found.isDefined() and _counts(found.get(), least):
                    seen[number] = found.get().numCompletedTasks() / found.get().numTasks()
        if seen:
            report(seen)


def _counts(stage: JavaObject, least: int) -> bool:
    """Whether a stage runs or ran, and is large enough to be work rather than the small print of a job."""
    return bool(stage.numTasks() >= least and stage.numActiveTasks() + stage.numCompletedTasks() > 0)

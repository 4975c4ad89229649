"""Progress of Spark jobs, for whoever wants to show it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from pyspark.sql import SparkSession

__all__ = ["Progress", "watch"]

_SECONDS = 0.2


class Progress(Protocol):
    """A function that is called now and then with how far some work is: ``progress(what, done, total)``."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """``done`` of ``total`` tasks of the work called ``what`` are finished."""


@contextmanager
def watch(spark: SparkSession, progress: Progress | None, what: str) -> Iterator[None]:
    """Report the tasks of all jobs that run meanwhile."""
    if progress is None:
        yield
        return
    stop = threading.Event()
    watcher = threading.Thread(target=_report, args=(spark, progress, what, stop), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _report(spark: SparkSession, progress: Progress, what: str, stop: threading.Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not stop.wait(_SECONDS):
        stages = [info for stage in tracker.getActiveStageIds() if (info := tracker.getStageInfo(stage))]
        if stages:
            largest = max(stages, key=lambda info: info.numTasks)
            progress(what, largest.numCompletedTasks, largest.numTasks)

"""No waiting for ever: jobs of an action end when the cluster has had no executor for too long.

Spark runs the tasks of a lost executor again elsewhere. When there is no executor at all it waits, without a
limit, for somebody to start one. A person at a command line, or a loop that runs at night, wants a sentence.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.running import runs

__all__ = ["Waiting", "bounded", "bounded_wait"]

LOG = logging.getLogger("skipstone")
_SETTING = "spark.skipstone.executorTimeout"
_DEFAULT_SECONDS = 600.0
_SECONDS_BETWEEN_LOOKS = 1.0


class _HasSession(Protocol):
    @property
    def spark(self) -> SparkSession:
        """The session that its jobs run in."""


_Self = TypeVar("_Self", bound=_HasSession)
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def bounded(
    method: Callable[Concatenate[_Self, _Given], _Result],
) -> Callable[Concatenate[_Self, _Given], _Result]:
    """A method of which no job waits for ever for an executor."""

    @wraps(method)
    def run(self: _Self, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        with bounded_wait(self.spark):
            return method(self, *args, **kwargs)

    return run


class Waiting:
    """How long there has been no executor.

    >>> waiting = Waiting(limit=10.0, now=0.0)
    >>> [waiting.too_long(executors, now) for executors, now in ((0, 9.0), (1, 9.5), (0, 19.0), (0, 20.0))]
    [False, False, False, True]
    """

    def __init__(self, limit: float, now: float) -> None:
        """Start with the benefit of the doubt: as if one had just been there."""
        self._limit = limit
        self._seen = now

    def too_long(self, executors: int, now: float) -> bool:
        """Whether the last executor was seen longer ago than the limit."""
        if executors:
            self._seen = now
        return now - self._seen > self._limit


@contextmanager
def bounded_wait(spark: SparkSession) -> Iterator[None]:
    """Cancel the jobs of this block, and say why, when no executor has run for too long.

    Only jobs that this block has started are cancelled, those of others go on waiting.
    """
    context = spark.sparkContext
    # What is asked of a session that has stopped says so by itself.
    limit = _limit(spark) if runs(spark) else 0.0
    if not limit or str(context.master).startswith("local"):
        yield
        return
    tag = f"skipstone-{uuid.uuid4().hex}"
    stop, given_up = threading.Event(), threading.Event()

    def cancel() -> None:
        given_up.set()
        context.cancelJobsWithTag(tag)

    watcher = threading.Thread(target=_watch, args=(spark, limit, stop, cancel), daemon=True)
    context.addJobTag(tag)
    watcher.start()
    try:
        yield
    except Exception as problem:
        if given_up.is_set():
            raise SkipstoneError(
                f"Spark has had no executor for {limit:g} seconds ({_SETTING}), so the work was cancelled; "
                "see whether the cluster's workers run, then try again."
            ) from problem
        raise
    finally:
        stop.set()
        watcher.join()
        with suppress(Py4JError):  # Spark itself may have stopped
            context.removeJobTag(tag)


def _watch(spark: SparkSession, limit: float, stop: threading.Event, cancel: Callable[[], None]) -> None:
    waiting = Waiting(limit, time.monotonic())
    while not stop.wait(_SECONDS_BETWEEN_LOOKS):
        try:
            # What is tried again after a failure is cancelled again.
            if waiting.too_long(_executors(spark), time.monotonic()):
                cancel()
        # Spark may have ended meanwhile, in any of its ways.
        except Exception as problem:  # noqa: BLE001
            LOG.debug("The executors cannot be counted: %s", problem)
            return


def _executors(spark: SparkSession) -> int:
    """How many executors run; the driver counts itself among them."""
    return len(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) - 1


def _limit(spark: SparkSession) -> float:
    text = spark.conf.get(_SETTING, None)
    try:
        limit = _DEFAULT_SECONDS if text is None else float(text)
    except ValueError:
        limit = -1.0
    if not 0 <= limit < float("inf"):
        raise SkipstoneError(f"The setting {_SETTING} must be a number of seconds or 0, and it is {text}.")
    return limit

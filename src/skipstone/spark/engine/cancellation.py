"""Cancelling Spark jobs by their tag.

All jobs that a block of code starts carry a tag of its own. When an end is asked for, jobs with the tag are
cancelled, again and again until the block is left: what is tried once more after a failure is cancelled too.
What must not be broken off, such as a commit, runs shielded: its jobs do not carry the tag.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from skipstone.cancel import Cancel
from skipstone.errors import CancelledError, UnknownOutcomeError

__all__ = ["cancellable", "check_cancelled", "shielded"]

_PREFIX = "skipstone-cancel-"
_SECONDS = 0.2
_tokens: dict[str, Cancel] = {}


@contextmanager
def cancellable(spark: SparkSession, cancel: Cancel) -> Iterator[None]:
    """Cancel the jobs of this block when an end is asked for; the block then raises CancelledError.

    A block that comes to its end all the same, because there was nothing left to cancel, does not raise.
    """
    cancel.check()
    context = spark.sparkContext
    tag = f"{_PREFIX}{uuid.uuid4().hex}"
    left = threading.Event()

    def keep_cancelling() -> None:
        while True:
            with suppress(Py4JError):  # Spark itself may have stopped
                context.cancelJobsWithTag(tag)
            if left.wait(_SECONDS):
                return

    def begin() -> None:
        threading.Thread(target=keep_cancelling, name="skipstone-cancel", daemon=True).start()

    _tokens[tag] = cancel
    context.addJobTag(tag)
    remove = cancel.when_requested(begin)
    try:
        yield
    except Exception as problem:
        if cancel.requested and not isinstance(problem, CancelledError | UnknownOutcomeError):
            raise CancelledError("The work was cancelled.") from problem
        raise
    finally:
        left.set()
        remove()
        del _tokens[tag]
        with suppress(Py4JError):
            context.removeJobTag(tag)


def check_cancelled(spark: SparkSession) -> None:
    """Raise if an end was asked for when no job ran that could be cancelled."""
    for tag in spark.sparkContext.getJobTags():
        if tag in _tokens:
            _tokens[tag].check()


@contextmanager
def shielded(spark: SparkSession) -> Iterator[None]:
    """Jobs of this block are not cancelled."""
    context = spark.sparkContext
    tags = [tag for tag in context.getJobTags() if tag.startswith(_PREFIX)]
    for tag in tags:
        context.removeJobTag(tag)
    try:
        yield
    finally:
        for tag in tags:
            context.addJobTag(tag)

"""What went wrong in Spark or in the JVM, as one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger

from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.jvm import JavaObject

__all__ = [
    "QUERY_FAILURES",
    "SPARK_FAILURES",
    "deepest_reason",
    "file_read",
    "is_storage",
    "keep_errors_for_the_caller",
    "reason_of",
    "sentence_of",
    "some_sentence_of",
    "storage_reason",
    "unlogged_errors",
]

SPARK_FAILURES = (Py4JJavaError, PySparkException)
"""What a call to Spark raises when it fails; which of both depends on where it was noticed."""

QUERY_FAILURES = (SkipstoneError, PySparkException)
"""What is wrong with a single query: it cannot be used here, or Spark cannot run it."""

_STORAGE = (
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
    "Read-only file system",
    "Permission denied",
    "Operation not permitted",
    "Not a directory",
)
"""What operating systems say when something cannot be written; it is all that a user needs to know."""


_MKDIRS = ("Mkdirs failed to create", "DELTA_CANNOT_CREATE_LOG_PATH")
_NO_FOLDER = "no folder can be made there, as on a read-only disk or where a file is in the way"
"""Hadoop does not say why."""
_READING = re.compile(r"reading file (\S+)")


def keep_errors_for_the_caller() -> None:
    """PySpark also logs what it raises, with all its stack; whoever shows the error needs it only once."""
    # Asked for by its own class: whoever asks for a logger first decides what it can do.
    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True


@contextmanager
def unlogged_errors() -> Iterator[None]:
    """PySpark logs nothing of what it raises meanwhile: for attempts that are expected to fail."""
    log = PySparkLogger.getLogger("SQLQueryContextLogger")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def sentence_of(problem: BaseException) -> str | None:
    """The sentence for a failure that a user may meet; None for one that nobody expected."""
    match problem:
        case SkipstoneError():
            return str(problem)
        case PySparkException():
            return _first_line(_message(problem))
        case Py4JJavaError():
            return _first_line(_deepest(problem.java_exception))
        case Py4JNetworkError():
            return "Spark has stopped; see its log for the reason."
        case Py4JError():
            return _first_line(str(problem))
        case OSError():
            return f"{problem.filename or 'A file'}: {problem.strerror or problem}."
    return None


def some_sentence_of(problem: BaseException) -> str:
    """The sentence for any failure, for logs of what goes on after it.

    >>> some_sentence_of(ValueError("7 is odd"))
    'ValueError: 7 is odd'
    """
    return sentence_of(problem) or f"{type(problem).__name__}: {problem}"


def reason_of(problem: Py4JJavaError | PySparkException) -> str:
    """What failed and, in brackets, what the cause of all says, such as that a disk is full."""
    if isinstance(problem, Py4JJavaError):
        origin: JavaObject = problem.java_exception
        message = origin.getMessage() or origin.toString()
    else:
        origin = getattr(problem, "_origin", None)
        message = _message(problem)
    first = _first_line(message).rstrip(".")
    deepest = first if origin is None else _first_line(_deepest(origin)).rstrip(".")
    return first if deepest in first else f"{first} ({deepest})"


def is_storage(reason: str) -> bool:
    """Whether a reason is what the disk says, so that nothing is wrong with what lies on it."""
    return reason in _STORAGE or reason == _NO_FOLDER


def storage_reason(problem: BaseException) -> str:
    """Why something could not be written or read: what the disk says, if any cause of it does."""
    said = "\n".join(_messages(problem))
    if (text := next((text for text in _STORAGE if text in said), None)) is not None:
        return text
    if any(text in said for text in _MKDIRS):
        return _NO_FOLDER
    return (
        reason_of(problem).rstrip(".")
        if isinstance(problem, Py4JJavaError | PySparkException)
        else some_sentence_of(problem).rstrip(".")
    )


def file_read(problem: BaseException) -> str | None:
    """The file that Spark was reading when it failed, if it says so."""
    found = _READING.search("\n".join(_messages(problem)))
    return None if found is None else found[1].rstrip(".")


def _messages(problem: BaseException) -> Iterator[str]:
    """What a failure and all its causes say."""
    yield str(problem.getMessage() or "") if isinstance(problem, PySparkException) else ""
    yield str(problem) if not isinstance(problem, Py4JJavaError) else ""
    origin: JavaObject = getattr(problem, "java_exception", None) or getattr(problem, "_origin", None)
    while origin is not None:
        yield str(origin.toString())
        origin = origin.getCause()


def _message(problem: PySparkException) -> str:
    try:
        return problem.getMessage() or str(problem)
    except Py4JError:  # Spark cannot look up the error classes of Delta
        return str(problem)


def _deepest(exception: JavaObject) -> str:
    """What the cause of all says, which is more than what wraps it says."""
    while (cause := exception.getCause()) is not None:
        exception = cause
    return str(exception.getMessage() or exception.toString())


def deepest_reason(problem: BaseException) -> str:
    """What the cause of all says, in one line."""
    origin: JavaObject = getattr(problem, "java_exception", None) or getattr(problem, "_origin", None)
    return some_sentence_of(problem) if origin is None else _first_line(_deepest(origin)).rstrip(".")


def _first_line(text: str) -> str:
    return next(
        (line.strip() for line in text.splitlines() if line.strip()), "Spark failed without a reason."
    )

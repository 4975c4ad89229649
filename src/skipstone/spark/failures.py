"""What went wrong in Spark or in the JVM, as one sentence."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger

from skipstone.errors import SkipstoneError

__all__ = ["keep_errors_for_the_caller", "reason_of", "sentence_of", "some_sentence_of"]


def keep_errors_for_the_caller() -> None:
    """PySpark also logs what it raises, with all its stack; whoever shows the error needs it only once."""
    # Asked for by its own class: whoever asks for a logger first decides what it can do.
    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True


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
        origin: Any = problem.java_exception
        message = origin.getMessage() or origin.toString()
    else:
        origin = getattr(problem, "_origin", None)
        message = _message(problem)
    first = _first_line(message).rstrip(".")
    deepest = first if origin is None else _first_line(_deepest(origin)).rstrip(".")
    return first if deepest in first else f"{first} ({deepest})"


def _message(problem: PySparkException) -> str:
    try:
        return problem.getMessage() or str(problem)
    except Py4JError:  # Spark cannot look up the error classes of Delta
        return str(problem)


def _deepest(exception: Any) -> str:
    """What the cause of all says, which is more than what wraps it says."""
    while (cause := exception.getCause()) is not None:
        exception = cause
    return str(exception.getMessage() or exception.toString())


def _first_line(text: str) -> str:
    return next(
        (line.strip() for line in text.splitlines() if line.strip()), "Spark failed without a reason."
    )

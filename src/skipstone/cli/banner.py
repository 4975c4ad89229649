"""Starting Java without its banner, and Spark without a log: failures are raised as errors anyway.

Spark asks Java for an incubator module, and Java says so on standard error each time, before any setting
could keep it from that. While Java starts, its standard error is therefore a pipe, from which everything
else is passed on. If Spark does not start at all, only what it writes there says why; that is kept back then,
and reported in one sentence.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import skipstone
from skipstone.cli.progress_bar import announced
from skipstone.cli.spark_options import chosen_options
from skipstone.cli.stopping import cancel_by
from skipstone.errors import NotStartedError, SkipstoneError

if TYPE_CHECKING:
    from skipstone.spark import SparkSession

__all__ = ["quiet_session", "reason_in", "without_java_banner"]

_BANNER = b"WARNING: Using incubator modules"
_SECONDS_TO_END = 1.0
_LOGGED = re.compile(r"\S+ \S+ ERROR [\w.$]+: (.+)")
_THROWN = re.compile(r"(?:Exception in thread \"[^\"]*\" |Caused by: )?[\w.$]+(?:Exception|Error): (.+)")


def quiet_session() -> SparkSession:
    """The Spark session of a command, which writes nothing to standard error by itself."""
    options = chosen_options()
    java: JavaErrors | None = None
    hold = not os.environ.get("SKIPSTONE_DEBUG")
    try:
        with announced("Starting Spark"), without_java_banner(hold) as java:
            # Imported late: PySpark takes long, and by now there is a display.
            from skipstone.spark.aside import started_aside
            from skipstone.spark.failures import keep_errors_for_the_caller

            keep_errors_for_the_caller()
            spark = started_aside(lambda: skipstone.session(master=options.master, config=options.config))
            cancel_by(spark.sparkContext.cancelAllJobs)
            spark.sparkContext.setLogLevel("FATAL")
    except NotStartedError as problem:
        reason = "" if java is None else reason_in(java.said()).rstrip(".")
        if not reason:
            raise
        raise SkipstoneError(f"Spark did not start: {reason}.") from problem
    if java is not None:
        java.pass_on()
    return spark


def reason_in(lines: Sequence[str]) -> str:
    """Why Spark did not start, of all that it wrote: what it logged last, or threw first, or said first."""
    logged = [match[1] for line in lines if (match := _LOGGED.match(line))]
    given = [text.partition("Reason: ")[2] for text in logged if "Reason: " in text]
    thrown = [match[1] for line in lines if (match := _THROWN.match(line))]
    said = [line.strip() for line in lines if line.strip() and not line.startswith((":: ", "\t"))]
    return next(iter([*given, *reversed(logged), *thrown, *said]), "")


class JavaErrors:
    """What Java writes to standard error; it may be held back until one knows what to make of it."""

    def __init__(self, readable: int, target: int, hold: bool) -> None:
        """Read in a thread of its own, until every process that has the other end is gone."""
        self._lines, self._out = os.fdopen(readable, "rb"), os.fdopen(target, "wb", buffering=0)
        self._held: list[bytes] | None = [] if hold else None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._lines:
            for line in self._lines:
                with self._lock:
                    if line.startswith(_BANNER):
                        continue
                    if self._held is not None:
                        self._held.append(line)
                    else:
                        self._out.write(line)
        with self._lock:  # nobody writes to a descriptor that is just being closed
            self._out.close()

    def pass_on(self) -> None:
        """Write what was held back, and from now on at once."""
        with self._lock:
            held, self._held = self._held or [], None
            with suppress(ValueError):  # Java has ended already
                self._out.write(b"".join(held))

    def said(self) -> list[str]:
        """What is held back, once Java has had the time to end."""
        self._thread.join(_SECONDS_TO_END)
        with self._lock:
            return b"".join(self._held or []).decode(errors="replace").splitlines()


@contextmanager
def without_java_banner(hold: bool = False) -> Iterator[JavaErrors | None]:
    """Processes that are started meanwhile have a standard error without the banner."""
    try:
        real = os.dup(2)
    except OSError:  # there is no standard error
        yield None
        return
    readable, writable = os.pipe()
    os.dup2(writable, 2)
    os.close(writable)
    java = JavaErrors(readable, os.dup(real), hold)
    try:
        yield java
    finally:
        os.dup2(real, 2)
        os.close(real)

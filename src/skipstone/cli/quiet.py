"""Starting Java without its banner, and Spark without a log: what fails arrives here as an error anyway.

Spark asks Java for an incubator module, and Java says so on standard error each time, before any setting
could keep it from that. While Java starts, its standard error is therefore a pipe, from which everything
else is passed on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import skipstone
from skipstone.cli.progress import announced
from skipstone.cli.spark_options import chosen_options
from skipstone.cli.stopping import cancel_by

__all__ = ["quiet_session", "without_java_banner"]

_BANNER = b"WARNING: Using incubator modules"


def quiet_session() -> Any:
    """The Spark session of a command, which writes nothing to standard error by itself."""
    options = chosen_options()
    with announced("Starting Spark"), without_java_banner():
        # Imported late: PySpark takes long, and by now there is a display.
        from skipstone.spark.aside import started_aside
        from skipstone.spark.failures import keep_errors_for_the_caller

        keep_errors_for_the_caller()
        spark = started_aside(lambda: skipstone.session(master=options.master, config=options.config))
        cancel_by(spark.sparkContext.cancelAllJobs)
        spark.sparkContext.setLogLevel("FATAL")
    return spark


@contextmanager
def without_java_banner() -> Iterator[None]:
    """Processes that are started meanwhile have a standard error without the banner."""
    try:
        real = os.dup(2)
    except OSError:  # there is no standard error
        yield
        return
    readable, writable = os.pipe()
    os.dup2(writable, 2)
    os.close(writable)
    threading.Thread(target=_pass_on, args=(readable, os.dup(real)), daemon=True).start()
    try:
        yield
    finally:
        os.dup2(real, 2)
        os.close(real)


def _pass_on(readable: int, target: int) -> None:
    """Runs until every process that has the other end is gone."""
    with os.fdopen(readable, "rb") as lines, os.fdopen(target, "wb", buffering=0) as out:
        for line in lines:
            if not line.startswith(_BANNER):
                out.write(line)

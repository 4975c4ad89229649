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
from skipstone.spark.stopping import started_aside

__all__ = ["quiet_session", "without_java_banner"]

_BANNER = b"WARNING: Using incubator modules"


def quiet_session() -> Any:
    """The Spark session of a command, which writes nothing to standard error by itself."""
    with without_java_banner():
        spark = started_aside(skipstone.session)
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

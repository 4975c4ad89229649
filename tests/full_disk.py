"""A disk on which the JVM can write nothing more, for a while.

It may write files of a few kilobytes only, which needs no rights and stops writes in the same way as a full
disk does: in their midst.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

MOST_BYTES = 60_000


@contextmanager
def full_disk(spark: SparkSession, most: int = MOST_BYTES) -> Iterator[None]:
    """No file of the JVM can grow beyond so many bytes."""
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))

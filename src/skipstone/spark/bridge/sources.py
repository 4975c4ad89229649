"""Which Java sources belong together, in the order in which they are compiled."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

__all__ = ["BASE", "DELTA_FILES", "DELTA_OPENER", "OPENER", "has_delta"]

BASE = ("CatalystJson", "Skipstone")
OPENER = (*BASE, "SkipstoneAggregate", "SkipstoneFiles", "SkipstoneOpener")
DELTA_FILES = (*OPENER, "SkipstoneDeltaFiles")
DELTA_OPENER = (*DELTA_FILES, "SkipstoneDeltaOpener")


def has_delta(spark: SparkSession) -> bool:
    """Whether Delta is on the driver's class path."""
    jvm: Any = spark._jvm
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(
            "org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex"
        )
    except Exception:
        return False
    return True

"""Whether Delta is there."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

__all__ = ["has_delta"]


def has_delta(spark: SparkSession) -> bool:
    """Whether Delta is on the driver's class path."""
    jvm: Any = spark._jvm
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(
            "org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex"
        )
    except Exception:  # noqa: BLE001 - whatever keeps the class from being loaded, Delta is not there
        return False
    return True

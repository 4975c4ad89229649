"""Whether a session can still be used: Spark may have been stopped, by its user or by itself."""

from __future__ import annotations

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.jvm import JavaObject

__all__ = ["require_running", "runs"]


def runs(spark: SparkSession) -> bool:
    """Whether the application of a session goes on."""
    context: JavaObject = spark.sparkContext._jsc
    if context is None:  # what stop() leaves behind
        return False
    try:
        return not context.sc().isStopped()
    except (Py4JError, OSError):  # the JVM itself has ended
        return False


def require_running(spark: SparkSession, user: str = "") -> None:
    """Raise one sentence when a session has stopped; ``user`` is the table that was opened in it."""
    if runs(spark):
        return
    opened = f" in which {user} was opened" if user else ""
    again = "open the table in it again with skipstone.table()" if user else "use that one"
    raise SkipstoneError(
        f"The Spark session{opened} has stopped; start a new one with skipstone.session() and {again}."
    )

"""Starting Spark in another thread than the main one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from pyspark import SparkContext
from pyspark.sql import SparkSession

from skipstone.spark.bridge.jvm import java_class

__all__ = ["started_aside"]

_Session = TypeVar("_Session", bound=SparkSession)


def started_aside(start: Callable[[], _Session]) -> _Session:
    """Start Spark in another thread: in the main thread, PySpark would put its own handler of SIGINT there.

    The main thread can be interrupted meanwhile; Java ends with Python.
    """
    if SparkContext._active_spark_context is not None:
        return start()
    found: list[_Session] = []
    problems: list[BaseException] = []

    def run() -> None:
        try:
            found.append(start())
        # Raised again in the thread that waits.
        except BaseException as problem:  # noqa: BLE001
            problems.append(problem)

    thread = threading.Thread(target=run, name="skipstone-start", daemon=True)
    thread.start()
    thread.join()
    if problems:
        raise problems[0]
    (spark,) = found
    # The session is that of the thread that made it.
    sessions = java_class(spark._jvm, "org.apache.spark.sql.SparkSession")
    sessions.setActiveSession(spark._jsparkSession)
    return spark

"""A copy of a session with settings of its own, for jobs that need them whatever the user has set."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from skipstone.spark.bridge.jvm import java_class
from skipstone.spark.engine.job_settings import LENIENT, Settings

__all__ = ["copied_session", "in_session", "lenient", "with_settings"]

_TIMESTAMPS = "spark.sql.parquet.outputTimestampType"


def copied_session(spark: SparkSession, settings: Settings) -> SparkSession:
    """A session that shares everything with another one but the given settings."""
    session = with_settings(SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession()), settings)
    # Milliseconds would cut times off, and what is written must be what was read.
    if session.conf.get(_TIMESTAMPS) == "TIMESTAMP_MILLIS":
        session.conf.set(_TIMESTAMPS, "TIMESTAMP_MICROS")
    return session


def with_settings(session: SparkSession, settings: Settings) -> SparkSession:
    """The session, with these settings; None removes one."""
    for key, value in settings.items():
        if value is None:
            session.conf.unset(key)
        else:
            session.conf.set(key, value)
    return session


def in_session(session: SparkSession, frame: DataFrame) -> DataFrame:
    """The same rows under the settings of another session; what was resolved before keeps its meaning."""
    dataset = java_class(session._jvm, "org.apache.spark.sql.classic.Dataset")
    plan = frame._jdf.queryExecution().analyzed()
    return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)


def lenient(frame: DataFrame, settings: Settings | None = None) -> DataFrame:
    """The same rows; what is added to them is NULL where its evaluation fails.

    Only for what nothing is concluded from, such as the blocks that rows go to.
    """
    return in_session(copied_session(frame.sparkSession, {**LENIENT, **(settings or {})}), frame)

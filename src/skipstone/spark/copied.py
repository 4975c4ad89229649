"""A copy of a session with settings of its own, for jobs that need them whatever the user has set."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

__all__ = ["WHOLE", "WIDE", "copied_session", "in_session", "lenient"]

WIDE = {"spark.sql.codegen.wholeStage": "false"}
"""For hundreds of expressions at once: outside of whole-stage code they are compiled piece by piece."""

WHOLE = {
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""For jobs that must see every row: where a file cannot be read, they fail."""

_LENIENT = {"spark.sql.ansi.enabled": "false"}


def copied_session(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """A session that shares everything with another one but the given settings."""
    session = SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())
    for key, value in settings.items():
        session.conf.set(key, value)
    return session


def in_session(session: SparkSession, frame: DataFrame) -> DataFrame:
    """The same rows under the settings of another session; what was resolved before keeps its meaning."""
    dataset = session._jvm.org.apache.spark.sql.classic.Dataset  # type: ignore[union-attr]
    plan = frame._jdf.queryExecution().analyzed()
    return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)


def lenient(frame: DataFrame, settings: Mapping[str, str] | None = None) -> DataFrame:
    """The same rows; what is added to them is NULL where its evaluation fails.

    Only for what nothing is concluded from, such as the places of rows.
    """
    return in_session(copied_session(frame.sparkSession, {**_LENIENT, **(settings or {})}), frame)

"""A copy of a session with settings of its own, for jobs that need them whatever the user has set."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

__all__ = ["WIDE", "copied_session"]

WIDE = {"spark.sql.codegen.wholeStage": "false"}
"""For hundreds of expressions at once: outside of whole-stage code they are compiled piece by piece."""


def copied_session(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """A session that shares everything with another one but the given settings."""
    session = SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())
    for key, value in settings.items():
        session.conf.set(key, value)
    return session

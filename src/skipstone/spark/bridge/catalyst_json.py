"""Catalyst expressions of the JVM as JSON, by ``CatalystJson.java``."""

from __future__ import annotations

from pyspark.sql import SparkSession

from skipstone.spark.bridge.janino import load_class
from skipstone.spark.bridge.jvm import JavaObject, java_array

__all__ = ["expression_json", "expressions_json"]


def expression_json(spark: SparkSession, expression: JavaObject) -> str:
    """The text that :func:`~skipstone.spark.bridge.catalyst.expr_from_catalyst` reads."""
    return _written(spark, "writeFor", expression)


def expressions_json(spark: SparkSession, expressions: JavaObject) -> str:
    """The same for a Scala sequence of expressions, as a list."""
    return _written(spark, "writeAllFor", expressions)


def _written(spark: SparkSession, method: str, what: JavaObject) -> str:
    (write,) = (m for m in load_class(spark, "CatalystJson").getMethods() if m.getName() == method)
    return str(write.invoke(None, java_array(spark._sc._gateway, spark._jsparkSession, what)))

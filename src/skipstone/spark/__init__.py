"""The adapter: everything that touches Spark and its JVM is in here."""

from pyspark.sql import DataFrame, SparkSession

__all__ = ["DataFrame", "SparkSession"]

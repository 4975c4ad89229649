"""The adapter: everything that touches Spark and its JVM is in here."""

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

__all__ = ["DataFrame", "DataFrameWriter", "SparkSession"]

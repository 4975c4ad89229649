"""Tables whose queries are recorded."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from tests.spark.querylog.recording import make_table

import skipstone


@pytest.fixture(scope="session")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """For tests that only read it."""
    return make_table(spark, tmp_path_factory.mktemp("logged") / "delta", "logged")


@pytest.fixture(scope="session")
def plain(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """The same as a directory of Parquet files."""
    return make_table(spark, tmp_path_factory.mktemp("logged") / "plain", "plain", "parquet")

"""Tables that several end-to-end tests query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.replicated import make_replicated
from tests.light_plans import NO_STATISTICS, settings_of
from tests.templates import Templates

import skipstone

ORDERS = (
    "id",
    "id % 7 AS k",
    "concat('n', lpad(id, 4, '0')) AS name",
    "array('AIR', 'RAIL', 'SHIP')[id % 3] AS mode",
    "date_add(DATE'2020-01-01', CAST(id / 10 AS INT)) AS day",
    "id / 4D AS price",
    "map('c', CAST(id % 10 AS STRING)) AS attrs",
    "named_struct('a', id * 2, 'b', CAST(NULL AS STRING)) AS st",
    "CAST(NULL AS INT) AS nothing",
    "array(id, id + 1) AS ids",
)
ROWS, FILES = 800, 8


SETTINGS = {
    **NO_STATISTICS,
    # What claims that rows which it did not shuffle lie together is wrong only where there are several parts.
    "spark.sql.shuffle.partitions": "2",
    # VACUUM and CONVERT list files with so many tasks.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
}


@pytest.fixture(scope="module", autouse=True)
def _only_our_skipping(spark: SparkSession) -> Iterator[None]:
    # Not "package", which in a folder that is no package means the rest of the session.
    with settings_of(spark, SETTINGS):
        yield


@dataclass(frozen=True, slots=True)
class Orders:
    """800 orders in 8 files, 100 consecutive ids each, as a view ``orders_FORMAT``."""

    table: skipstone.Table
    name: str
    path: Path


def write_orders(spark: SparkSession, path: Path, format_: str, start: int = 0, rows: int = ROWS) -> None:
    """Orders with consecutive ids, 100 to a file."""
    frame = spark.range(start, start + rows, 1, max(1, rows // 100)).selectExpr(*ORDERS)
    frame.write.format(format_).mode("append").save(str(path))


@pytest.fixture(scope="session", params=["parquet", "delta"])
def orders(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Orders:
    """For tests that do not change it."""
    path = tmp_path_factory.mktemp("orders") / request.param
    with settings_of(spark, SETTINGS):
        write_orders(spark, path, request.param)
    name = f"orders_{request.param}"
    table = skipstone.table(spark, f"{name}={path}")
    table.index(expressions=["month(day)", "attrs['c']"], features=["mode = 'AIR' AND id < 300"])
    return Orders(table, name, path)


@pytest.fixture
def replicated(spark: SparkSession, templates: Templates, tmp_path: Path) -> skipstone.Table:
    """A table with a replica that a test may change; deletion vectors are allowed."""

    def make(path: Path) -> None:
        vectors = {"spark.databricks.delta.properties.defaults.enableDeletionVectors": "true"}
        with settings_of(spark, vectors):
            make_replicated(spark, path)

    path = templates.copy("replicated", make, tmp_path / "t")
    return skipstone.table(spark, str(path))

"""A session on a real cluster: executors are JVMs of their own, that may die.

These tests run in a process of their own (``make test-cluster``), for a process has one Spark only.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cluster.standalone import Cluster
from tests.documented import settings
from tests.light_java import LIGHT_JAVA, NOT_VERIFIED
from tests.light_plans import GENERATED, LIGHT_DELTA
from tests.parcels import logged

import skipstone
from skipstone.workload.queries import Workload


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers of one core each."""
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        running.start()
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="session")
def spark(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on the cluster, with the documented settings."""
    home = tmp_path_factory.mktemp("driver")
    running = skipstone.session(
        app_name="skipstone-cluster-tests",
        master=cluster.url,
        config={
            "spark.buffer.pageSize": "256k",
            **LIGHT_DELTA,
            **GENERATED["false"],
            **settings("cluster.md"),
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.warehouse.dir": str(home / "warehouse"),
            "spark.local.dir": str(home / "local"),
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={home / 'derby'} -Duser.timezone=UTC "
            f"{LIGHT_JAVA} {NOT_VERIFIED}",
            "spark.executor.extraJavaOptions": f"-Duser.timezone=UTC {LIGHT_JAVA} {NOT_VERIFIED}",
            # No task may need Python where it runs.
            "spark.executorEnv.PYSPARK_PYTHON": "/no/python/on/executors",
            "spark.pyspark.python": "/no/python/on/executors",
            "spark.skipstone.executorTimeout": "8",
        },
    )
    yield running
    running.stop()


@pytest.fixture(scope="session")
def shared_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tables lie that driver and executors see under one path."""
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="session")
def log() -> Workload:
    """Two kinds of queries that recur."""
    return logged()

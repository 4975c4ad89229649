"""Tables of parcels, and what the executors of the session have done so far."""

from __future__ import annotations

import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import skipstone
from skipstone.estimate.cost import Coefficients, CostModel
from skipstone.workload.queries import Query, Workload

ROWS = 20_000
# Rewriting costs a tenth of a second and reading a megabyte ten seconds: whatever skips, pays.
EAGER = CostModel(Coefficients(0.1, 0, 0, 0, 0, 0, 0, 0.0, 10.0, 0.0, 0.0), "calibrated")


def rows_of(spark: SparkSession, first: int = 0, rows: int = ROWS) -> DataFrame:
    """Shuffled parcels."""
    return spark.range(first, first + rows, 1, 4).selectExpr(
        "id",
        "pmod(xxhash64(id), 1000) AS k",
        "array('AIR', 'RAIL', 'SHIP', 'MAIL', NULL)[pmod(xxhash64(id, 1), 5)] AS mode",
        "date_add(DATE'2020-01-01', CAST(pmod(xxhash64(id, 2), 700) AS INT)) AS d",
        "CAST(id / 7 AS DECIMAL(20, 5)) AS price",
        "map('courier', CAST(id % 10 AS STRING)) AS attrs",
    )


def new_table(spark: SparkSession, path: Path | str) -> skipstone.Table:
    """A Delta table of parcels that queries call ``parcels``."""
    # Without statistics of Delta's own, so that skipstone skips whatever is skipped.
    writer = rows_of(spark).write.format("delta").option("delta.dataSkippingNumIndexedCols", "0")
    writer.save(str(path))
    return skipstone.table(spark, f"parcels={path}")


def logged() -> Workload:
    """Two kinds of queries on parcels that recur."""
    texts = [
        f"SELECT count(*) FROM parcels WHERE mode = '{mode}' AND k < {most}"
        for mode in ("AIR", "RAIL")
        for most in (50, 100)
    ]
    texts += [f"SELECT sum(id) FROM parcels WHERE month(d) = {month} AND k >= 900" for month in (2, 3)]
    return Workload(tuple(Query(text) for text in texts * 5))


def tasks_done(spark: SparkSession) -> dict[str, tuple[int, int]]:
    """Tasks that each executor, dead ones included, has finished, and how many of them failed."""
    time.sleep(0.5)  # Spark's own account of it lags a little behind
    store = spark.sparkContext._jsc.sc().statusStore()
    executors = store.executorList(False)
    return {
        executor.id(): (executor.totalTasks(), executor.failedTasks())
        for executor in (executors.apply(index) for index in range(executors.size()))
    }

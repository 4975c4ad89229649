"""The benchmark of the query log, on few queries. No time is asserted here."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

import skipstone
from benchmarks.log import overhead


def test_half_of_the_queries_that_are_timed_are_recorded(spark: SparkSession, tmp_path: Path) -> None:
    for key, value in overhead.settings(tmp_path).items():
        spark.conf.set(key, value)
    table = overhead.make_table(spark, tmp_path / "orders")
    try:
        found = overhead.measure(spark, table, queries=4, batch=2, warm=1)
    finally:
        skipstone.enable(spark, log=False)
    assert found.recorded == found.logged == 6
    assert len(found.on_milliseconds) == len(found.off_milliseconds) == 2

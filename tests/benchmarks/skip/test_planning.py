"""The planning that is timed, on few files. No time is asserted here."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from benchmarks.skip import planning


@pytest.mark.parametrize("format_", ["parquet", "delta"])
def test_the_planning_that_is_timed_skips_files(spark: SparkSession, tmp_path: Path, format_: str) -> None:
    folder = planning.make_files(tmp_path / "t", files=30)
    if format_ == "delta":
        planning.make_delta(folder)
    planning.register(spark, folder)
    view = f"planned_{format_}"
    spark.read.format(format_).load(str(folder)).createOrReplaceTempView(view)
    assert 0 < planning.measure(spark, view, pairs=2, warm=0).files_skipped <= 30
    assert spark.table(view).count() == 60


def test_a_table_that_is_not_registered_skips_nothing(spark: SparkSession, tmp_path: Path) -> None:
    folder = planning.make_files(tmp_path / "t", files=3)
    spark.read.parquet(str(folder)).createOrReplaceTempView("not_registered")
    assert planning.measure(spark, "not_registered", pairs=2, warm=0).files_skipped == 0

"""Failures inside Spark's jobs are told by what caused them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from skipstone.spark.failures import reason_of, sentence_of


def test_the_cause_of_a_failed_write_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    broken = spark.range(1).selectExpr("raise_error(concat('the disk is ', id)) AS x")
    with pytest.raises(PySparkException) as caught:
        broken.selectExpr("CAST(x AS STRING) AS x").write.parquet(str(tmp_path / "out"))
    reason = reason_of(caught.value)
    assert "the disk is 0" in reason
    assert "\n" not in reason


def test_a_failure_without_a_deeper_cause_is_told_once(spark: SparkSession) -> None:
    with pytest.raises(PySparkException) as caught:
        spark.sql("SELECT * FROM absent")
    assert reason_of(caught.value).count("TABLE_OR_VIEW_NOT_FOUND") == 1


def test_a_failure_of_deltas_own_is_told_though_spark_cannot_look_it_up(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "table")
    spark.range(1).write.format("delta").save(path)
    with pytest.raises(PySparkException) as caught:
        spark.sql(f"SELECT * FROM delta.`{path}` VERSION AS OF 99").collect()
    for sentence in (sentence_of(caught.value), reason_of(caught.value)):
        assert sentence is not None
        assert "99" in sentence
        assert "\n" not in sentence

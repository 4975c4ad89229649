from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import skipstone
from skipstone.spark.querylog.log_settings import LogSettings


@pytest.mark.parametrize(
    ("key", "value"), [("queueSize", "0"), ("intervalSeconds", "soon"), ("redact", "maybe")]
)
def test_a_wrong_setting_is_one_clear_sentence(spark: SparkSession, key: str, value: str) -> None:
    spark.conf.set(f"spark.skipstone.log.{key}", value)
    with pytest.raises(skipstone.SkipstoneError, match=rf"spark\.skipstone\.log\.{key} must be .*{value}"):
        LogSettings.of(spark)

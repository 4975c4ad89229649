"""How long an action waits for executors; that it ends is shown on a cluster (tests/cluster)."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.engine.executors import Waiting, bounded_wait

SETTING = "spark.skipstone.executorTimeout"


@pytest.mark.parametrize("value", ["soon", "-1", "inf", "nan", ""])
def test_a_limit_that_is_no_number_of_seconds_is_one_sentence(spark: SparkSession, value: str) -> None:
    spark.conf.set(SETTING, value)
    sentence = rf"^The setting {SETTING} must be a number of seconds or 0, and it is {value}\.$"
    with pytest.raises(SkipstoneError, match=sentence), bounded_wait(spark):
        pass


@pytest.mark.parametrize("value", ["0", "1"])
def test_a_local_session_has_no_executors_to_wait_for(spark: SparkSession, value: str) -> None:
    spark.conf.set(SETTING, value)
    with bounded_wait(spark):
        assert spark.range(10).count() == 10


def test_the_time_counts_from_the_last_executor_that_was_seen() -> None:
    waiting = Waiting(limit=5.0, now=100.0)
    assert not waiting.too_long(0, 105.0)
    assert waiting.too_long(0, 105.1)
    assert not waiting.too_long(2, 200.0)
    assert not waiting.too_long(0, 205.0)

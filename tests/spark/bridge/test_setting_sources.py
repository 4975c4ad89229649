"""Where Hadoop's settings were made is left out while files are written, and is there again afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.spark.bridge.java_calls import call_static

import skipstone
from skipstone.errors import SkipstoneError
from skipstone.spark.engine.rewrite import Plan, Rewriting


def sources(settings: Any, name: str = "io.file.buffer.size") -> list[str]:
    return list(settings.getPropertySources(name) or [])


def with_a_source(settings: Any) -> Any:
    """The settings, in which one has a source; the tests' session has none (``tests/light_jobs.py``)."""
    settings.set("io.file.buffer.size", settings.get("io.file.buffer.size"), "site.xml")
    return settings


@pytest.fixture
def settings(spark: SparkSession) -> Any:
    """A copy of the session's settings."""
    jvm: Any = spark.sparkContext._jvm
    copy = jvm.org.apache.hadoop.conf.Configuration(spark.sparkContext._jsc.hadoopConfiguration())
    return with_a_source(copy)


def test_they_come_back_when_the_last_writer_has_ended(spark: SparkSession, settings: Any) -> None:
    before, value = sources(settings), settings.get("io.file.buffer.size")
    assert before
    for _ in range(2):
        call_static(spark, "SettingSources", "leaveOut", settings)
        assert sources(settings) == []
    settings.set("skipstone.set.meanwhile", "1", "somebody")
    call_static(spark, "SettingSources", "putBack", settings)
    assert (sources(settings), settings.get("io.file.buffer.size")) == ([], value)
    call_static(spark, "SettingSources", "putBack", settings)
    assert sources(settings) == before
    assert sources(settings, "skipstone.set.meanwhile") == ["somebody"]
    call_static(spark, "SettingSources", "putBack", settings)
    assert sources(settings) == before, "there was nothing to put back"


def test_they_are_there_after_a_rewrite_that_failed_while_it_wrote(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = with_a_source(spark.sparkContext._jsc.hadoopConfiguration())
    before = sources(settings)
    assert before
    spark.range(100).write.format("delta").save(str(tmp_path / "t"))
    table, rows = skipstone.table(spark, str(tmp_path / "t")), Rewriting._rows

    def broken(self: Rewriting, plan: Plan) -> DataFrame:
        return rows(self, plan).where("raise_error('broken row') IS NULL")

    monkeypatch.setattr(Rewriting, "_rows", broken)
    with pytest.raises(SkipstoneError, match="broken row"):
        table.optimize(layout="hyper", block_rows=40)
    assert sources(settings) == before

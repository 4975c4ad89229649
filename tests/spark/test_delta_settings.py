"""A session that a user has built may have Delta's jars without Delta's settings."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import skipstone
from skipstone.spark import delta_settings
from skipstone.spark.delta_settings import CATALOG, DELTA_CATALOG, DELTA_EXTENSION, EXTENSIONS, missing

BOTH = (f"{EXTENSIONS}={DELTA_EXTENSION}", f"{CATALOG}={DELTA_CATALOG}")


@pytest.mark.parametrize(
    ("extensions", "catalog", "lacking"),
    [
        ("", "", BOTH),
        ("org.example.Other", "builtin", BOTH),
        (DELTA_EXTENSION, "builtin", BOTH[1:]),
        ("", DELTA_CATALOG, BOTH[:1]),
        (f"org.example.Other, {DELTA_EXTENSION}", "org.example.WrapsDelta", ()),
    ],
)
def test_what_delta_needs_and_a_session_lacks_is_named(
    extensions: str, catalog: str, lacking: tuple[str, ...]
) -> None:
    assert missing(extensions, catalog) == lacking


def test_enabling_a_session_without_deltas_catalog_warns_once(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(delta_settings, "_warned", set())
    own = spark.newSession()
    own.conf.set(CATALOG, "builtin")
    with caplog.at_level(logging.WARNING, "skipstone"):
        skipstone.enable(own)
        skipstone.enable(own)
    assert [BOTH[1] in record.getMessage() for record in caplog.records] == [True]


def test_enabling_a_session_that_has_them_warns_of_nothing(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(delta_settings, "_warned", set())
    with caplog.at_level(logging.WARNING, "skipstone"):
        skipstone.enable(spark)
    assert caplog.records == []


def test_a_delta_table_without_deltas_jars_is_named_as_such(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "table")
    spark.range(3).write.format("delta").save(path)
    monkeypatch.setattr("skipstone.spark.engine.source.has_delta", lambda spark: False)
    with pytest.raises(skipstone.SkipstoneError, match="is a Delta table, and this Spark session"):
        skipstone.table(spark, path)

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.bridge.test_java_sources import SOURCES

from skipstone.spark.bridge.compiled_sources import jar_of
from skipstone.spark.bridge.janino import load_class
from skipstone.spark.bridge.jvm import JavaObject, java_class

ONE = {"skipstone/One.java": b"package skipstone; public class One { public int number() { return 1; } }"}


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where jars of this test are kept."""
    monkeypatch.setenv("SKIPSTONE_HOME", str(tmp_path))
    return tmp_path / "classes"


def parent(spark: SparkSession) -> JavaObject:
    return java_class(spark._jvm, "java.lang.Thread").currentThread().getContextClassLoader()


def test_this_jvm_has_its_classes_from_a_jar_with_every_source(spark: SparkSession) -> None:
    loader = load_class(spark, "Skipstone").getClassLoader()
    (url,) = loader.getURLs()
    with zipfile.ZipFile(url.getPath()) as jar:
        assert {f"skipstone/{source.stem}.class" for source in SOURCES} <= set(jar.namelist())


def test_sources_are_compiled_once_and_again_when_they_or_the_jar_change(
    spark: SparkSession, kept: Path
) -> None:
    gateway = spark.sparkContext._gateway
    first = jar_of(gateway, parent(spark), ONE)
    assert first is not None
    written = first.stat().st_mtime_ns
    assert jar_of(gateway, parent(spark), ONE) == first
    assert first.stat().st_mtime_ns == written
    other = jar_of(gateway, parent(spark), {"skipstone/One.java": ONE["skipstone/One.java"] + b" "})
    assert other not in (None, first)
    first.write_bytes(first.read_bytes()[:-40])
    assert jar_of(gateway, parent(spark), ONE) == first
    with zipfile.ZipFile(first) as jar:
        assert jar.namelist() == ["skipstone/One.class"]
    assert sorted(path.suffix for path in kept.iterdir()) == [".jar", ".jar"], "and nothing half-written"


def test_no_jar_where_none_can_be_written(spark: SparkSession, kept: Path) -> None:
    kept.parent.joinpath("classes").write_text("a file in the place of the folder")
    assert jar_of(spark.sparkContext._gateway, parent(spark), ONE) is None

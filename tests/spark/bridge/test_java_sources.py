from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import skipstone.spark.bridge
from skipstone.spark.bridge.janino import load_class

SOURCES = sorted(Path(skipstone.spark.bridge.__file__).with_name("java").glob("*.java"))
FOR_DELTA = {
    "DeltaState",
    "SkipstoneDelta",
    "SkipstoneDeltaChosen",
    "SkipstoneDeltaCopies",
    "SkipstoneDeltaFiles",
    "SkipstoneDeltaGroups",
    "SkipstoneDeltaJoined",
    "SkipstoneDeltaOpener",
    "SkipstoneDeltaWhole",
    "SkipstoneEarly",
    "SkipstoneRewrite",
}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_janino_compiles_every_source_once(spark: SparkSession, source: Path) -> None:
    found = load_class(spark, source.stem)
    assert found.getName() == f"skipstone.{source.stem}"
    assert found.equals(load_class(spark, source.stem))
    assert len(found.getDeclaredMethods()) >= 0, "all types in its signatures are there"


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_only_the_classes_for_delta_need_delta(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    needs = {"spark.sql.delta"} | {f"{name}." for name in FOR_DELTA} | {f"new {name}(" for name in FOR_DELTA}
    assert source.stem in FOR_DELTA or not any(word in text for word in needs)


def test_no_source_is_long() -> None:
    assert SOURCES
    assert [path.name for path in SOURCES if len(path.read_text(encoding="utf-8").splitlines()) > 400] == []

"""The denormalised table, made at a tiny scale, and every template's filters on it."""

from __future__ import annotations

import shutil
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from benchmarks.tpch import data
from benchmarks.tpch.data import FILTERED, denormalised_table, generate
from benchmarks.tpch.queries import TABLE, TEMPLATES, tpch_queries
from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import columns_of, is_opaque
from skipstone.spark.bridge.parse_sql import parse_queries

SCALE = 0.01  # smaller scales have duplicate keys in partsupp


@pytest.fixture(scope="module")
def home(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tpch")
    denormalised_table(spark, SCALE, directory, lambda: 0.0, files=4)
    return directory / f"sf{SCALE:g}"


def test_every_line_item_is_joined_once_and_lies_in_its_order(spark: SparkSession, home: Path) -> None:
    wide = spark.read.format("delta").load(str(home / "as_lies"))
    lines = spark.read.parquet(str(home / "raw" / "lineitem.parquet"))
    assert wide.count() == lines.count() > 50_000
    assert wide.select("l_orderkey", "l_linenumber").distinct().count() == lines.count()
    assert {*FILTERED, *lines.columns} <= set(wide.columns)
    assert len(wide.columns) == len(set(wide.columns))
    assert len(wide.inputFiles()) == 4
    spans = (
        wide.selectExpr("_metadata.file_path AS file", "l_orderkey")
        .groupBy("file")
        .agg(F.min("l_orderkey"), F.max("l_orderkey"))
        .orderBy(F.min("l_orderkey"))
        .collect()
    )
    assert all(before[2] < after[1] for before, after in pairwise(spans))


def test_a_second_run_makes_nothing(spark: SparkSession, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(data, "generate", refuse)
    monkeypatch.setattr(data, "denormalise", refuse)
    path, seconds = denormalised_table(spark, SCALE, home.parent, lambda: 0.0)
    assert path == home / "as_lies"
    assert seconds == {"generate_seconds": 0.0, "denormalise_seconds": 0.0}


def test_every_template_filters_on_known_columns_and_is_understood(spark: SparkSession, home: Path) -> None:
    wide = spark.read.format("delta").load(str(home / "as_lies"))
    parsed = parse_queries(spark, tpch_queries(1), {TABLE: wide})
    assert not parsed.unusable
    scans = parsed.scans_of(TABLE)
    assert len(scans) == len(TEMPLATES)
    for _, scan in scans:
        assert not is_opaque(scan.filter)
        names = {column.path[0] for column in columns_of(scan.filter)}
        assert names
        assert names <= set(FILTERED)
    used = {column.path[0] for _, scan in scans for column in columns_of(scan.filter)}
    assert used == set(FILTERED)


def test_without_the_generator_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SkipstoneError, match="make setup"):
        generate(SCALE, tmp_path / "raw")
    assert not (tmp_path / "raw").exists()

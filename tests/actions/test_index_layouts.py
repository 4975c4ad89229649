"""The catalog knows which layout wrote a file, whoever indexes, compacts or rewrites meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.opened import opened
from tests.two_blocks import plan_of, rewrite

import skipstone
from skipstone.actions import index
from skipstone.estimate.unclustered import newest_layout, unclustered_files
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.spark.engine.statistics import compute

Copied = Callable[[str, Callable[[Path], object]], Path]
ROWS = 1_000


def rows(spark: SparkSession, count: int, files: int = 1) -> DataFrame:
    """Shuffled rows with a timestamp."""
    return spark.range(0, count, 1, files).selectExpr(
        "id", "pmod(xxhash64(id), 1000) AS k", "timestamp_seconds(id) AS at"
    )


def append(table: skipstone.Table, count: int) -> None:
    rows(table.spark, count).write.format("delta").mode("append").save(table.source)


@pytest.fixture
def table(spark: SparkSession, copied: Copied) -> skipstone.Table:
    """A Delta table of two files."""
    path = copied("entries", lambda path: rows(spark, ROWS, 2).write.format("delta").save(str(path)))
    return skipstone.table(spark, f"t={path}")


@pytest.fixture
def several(spark: SparkSession, copied: Copied, monkeypatch: pytest.MonkeyPatch) -> skipstone.Table:
    """A table with so many segments that the next index run replaces them by fewer."""

    def make(path: Path) -> None:
        rows(spark, ROWS, 2).write.format("delta").save(str(path))
        made = skipstone.table(spark, str(path))
        for _ in range(4):
            append(made, 20)
            made.index()

    table = skipstone.table(spark, f"t={copied('several-segments', make)}")
    assert segments(table) == 4
    assert table.status().files_indexed == 6
    monkeypatch.setattr(index, "_MOST_SEGMENTS", 3)
    return table


def known(table: skipstone.Table) -> tuple[str, int, int]:
    """The newest layout, the files outside of all layouts, and those whose statistics count."""
    status, files = table.status(), opened(table)
    catalog = files.catalog
    unclustered = unclustered_files(files.files, catalog, block_rows=1)
    return newest_layout(files.files, catalog), len(unclustered), status.files_indexed


def segments(table: skipstone.Table) -> int:
    return len(list(Path(table.source, "_skipstone", "blocks").glob("*.parquet")))


def test_files_that_are_indexed_anew_stay_with_their_layouts(table: skipstone.Table) -> None:
    rewrite(table, "first")
    append(table, 300)
    rewriting = Rewriting(opened(table))
    outside = unclustered_files(rewriting.before.files, rewriting.before.catalog, block_rows=1)
    rewriting.run(replace(plan_of(rewriting.before, "second"), chosen=outside))
    append(table, 50)
    files = len(opened(table).files)
    assert files == 2 + 2 + 1
    report = table.index(features=["k < 77", "id % 2 = 0"])
    assert report.files_indexed == files
    assert known(table) == ("second", 1, files)
    assert table.index().files_indexed == 0
    table.index(rebuild=True)
    assert known(table) == ("second", 1, files)
    assert {segment.layout for segment in opened(table).catalog.segments} == {"first", "second", ""}


def test_what_only_a_replaced_layout_kept_is_not_asked_for_again(table: skipstone.Table) -> None:
    for layout, feature in (("first", "k < 50"), ("second", "id % 7 = 1")):
        rewriting = Rewriting(opened(table))
        rewriting.run(plan_of(rewriting.before, layout, features=[feature]))
        assert table.status().features[-1:] == (feature,)
    assert table.index().files_indexed == 0


def test_statistics_of_a_rewrite_count_in_other_time_zones(
    spark: SparkSession, table: skipstone.Table
) -> None:
    rewrite(table)
    zones = spark._jvm.java.util.TimeZone  # type: ignore[union-attr]
    before = zones.getDefault()
    try:
        zones.setDefault(zones.getTimeZone("Asia/Kolkata"))
        assert table.status().files_indexed == 2
        (scan,) = table.explain("SELECT * FROM t WHERE k < 50").scans
        assert (scan.files_read, scan.files_total) == (1, 2)
    finally:
        zones.setDefault(before)


def test_segments_are_compacted_after_a_rewrite_too(
    table: skipstone.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_MOST_SEGMENTS", 3)
    rewrite(table, "first")
    for _ in range(4):
        append(table, 20)
        table.index()
        assert segments(table) <= 4
    assert segments(table) == 2
    assert known(table) == ("first", 4, 6)


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_rewrite_during_an_index_run_keeps_its_entries(
    several: skipstone.Table, monkeypatch: pytest.MonkeyPatch, rebuild: bool
) -> None:
    append(several, 20)

    def slow(*args: object) -> object:
        found = compute(*args)  # type: ignore[arg-type]
        rewrite(several, "meanwhile")
        return found

    monkeypatch.setattr(index, "compute", slow)
    several.index(rebuild=rebuild)
    assert segments(several) == 2
    assert known(several) == ("meanwhile", 0, 2)


@pytest.mark.parametrize("rebuild", [False, True])
def test_an_index_run_just_before_a_commit_keeps_the_entries_of_the_rewrite(
    several: skipstone.Table, monkeypatch: pytest.MonkeyPatch, rebuild: bool
) -> None:
    commit: Callable[[Rewriting], int] = Rewriting._commit

    def late(self: Rewriting) -> int:
        append(several, 20)
        assert several.index(rebuild=rebuild).files_indexed > 0
        return commit(self)

    monkeypatch.setattr(Rewriting, "_commit", late)
    rewrite(several, "late")
    assert segments(several) == 2
    assert known(several) == ("late", 1, 3)

"""The catalog knows which layout wrote a file, whoever indexes, compacts or rewrites meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.opened import opened

import skipstone
from skipstone.actions import index
from skipstone.estimate.unclustered import newest_layout, unclustered_files
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.workload.queries import Query, Workload

LOG = Workload(tuple(Query(f"SELECT count(*) FROM t WHERE k < {most}") for most in (50, 100, 150)))


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> skipstone.Table:
    """Shuffled rows with a timestamp, in a Delta table."""
    rows(spark, 4_000).write.format("delta").save(str(tmp_path / "t"))
    return skipstone.table(spark, f"t={tmp_path / 't'}")


def rows(spark: SparkSession, count: int) -> DataFrame:
    return spark.range(0, count, 1, 2).selectExpr(
        "id", "pmod(xxhash64(id), 1000) AS k", "timestamp_seconds(id) AS at"
    )


def append(table: skipstone.Table, count: int) -> None:
    rows(table.spark, count).write.format("delta").mode("append").save(table.source)


def known(table: skipstone.Table) -> tuple[str, int, int]:
    """The newest layout, the files outside of all layouts, and those whose statistics count."""
    status, files = table.status(), opened(table)
    catalog = files.catalog
    unclustered = unclustered_files(files.files, catalog, block_rows=1)
    return newest_layout(files.files, catalog), len(unclustered), status.files_indexed


def segments(table: skipstone.Table) -> int:
    return len(list(Path(table.source, "_skipstone", "blocks").glob("*.parquet")))


def test_files_that_are_indexed_anew_stay_with_their_layouts(table: skipstone.Table) -> None:
    first = table.optimize(LOG, "qdtree", block_rows=300).layout_id
    append(table, 900)
    second = table.optimize_new().layout_id
    assert first != second
    append(table, 50)
    files = len(opened(table).files)
    report = table.index(features=["k < 77", "id % 2 = 0"])
    assert report.files_indexed == files
    assert known(table) == (second, 2, files)
    assert table.index().files_indexed == 0
    table.index(rebuild=True)
    assert known(table) == (second, 2, files)
    layouts = {segment.layout for segment in opened(table).catalog.segments}
    assert layouts == {first, second, ""}


def test_what_only_a_replaced_layout_kept_is_not_asked_for_again(table: skipstone.Table) -> None:
    table.optimize(LOG, "qdtree", block_rows=300)
    other = Workload(tuple(Query(f"SELECT sum(k) FROM t WHERE id % 7 = {rest}") for rest in (1, 2, 3)))
    table.optimize(other, "qdtree", block_rows=300)
    assert table.index().files_indexed == 0


def test_statistics_of_a_rewrite_count_in_other_time_zones(
    spark: SparkSession, table: skipstone.Table
) -> None:
    table.optimize(LOG, "qdtree", block_rows=300)
    files = len(opened(table).files)
    zones = spark._jvm.java.util.TimeZone  # type: ignore[union-attr]
    before = zones.getDefault()
    try:
        zones.setDefault(zones.getTimeZone("Asia/Kolkata"))
        assert table.status().files_indexed == files
        (scan,) = table.explain("SELECT * FROM t WHERE k < 50").scans
        assert 0 < scan.files_read < scan.files_total
    finally:
        zones.setDefault(before)


def test_segments_are_compacted_after_a_rewrite_too(
    table: skipstone.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_MOST_SEGMENTS", 3)
    layout = table.optimize(LOG, "qdtree", block_rows=300).layout_id
    for _ in range(5):
        append(table, 20)
        table.index()
        assert segments(table) <= 4
    assert known(table) == (layout, 10, len(opened(table).files))


def several_segments(table: skipstone.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many that the next index run puts fewer in their place."""
    for _ in range(4):
        append(table, 20)
        table.index()
    assert segments(table) == 4
    monkeypatch.setattr(index, "_MOST_SEGMENTS", 3)


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_rewrite_during_an_index_run_keeps_its_entries(
    table: skipstone.Table, monkeypatch: pytest.MonkeyPatch, rebuild: bool
) -> None:
    several_segments(table, monkeypatch)
    append(table, 20)
    compute, layouts = index.compute, []

    def slow(*args: object) -> object:
        found = compute(*args)  # type: ignore[arg-type]
        layouts.append(table.optimize(LOG, "qdtree", block_rows=300).layout_id)
        return found

    monkeypatch.setattr(index, "compute", slow)
    table.index(rebuild=rebuild)
    assert segments(table) == 2
    assert known(table) == (layouts[0], 0, len(opened(table).files))


@pytest.mark.parametrize("rebuild", [False, True])
def test_an_index_run_just_before_a_commit_keeps_the_entries_of_the_rewrite(
    table: skipstone.Table, monkeypatch: pytest.MonkeyPatch, rebuild: bool
) -> None:
    several_segments(table, monkeypatch)
    commit: Callable[[Rewriting], int] = Rewriting._commit

    def late(self: Rewriting) -> int:
        append(table, 20)
        assert table.index(rebuild=rebuild).files_indexed > 0
        return commit(self)

    monkeypatch.setattr(Rewriting, "_commit", late)
    layout = table.optimize(LOG, "qdtree", block_rows=300).layout_id
    assert segments(table) == 2
    assert known(table) == (layout, 2, len(opened(table).files))

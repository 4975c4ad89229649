"""Indexing does only what is not done yet, lists the table once, and publishes at its end."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.counting_source import CountingSource
from tests.opened import opened

import skipstone
from skipstone.actions.action import perform
from skipstone.actions.index import Index
from skipstone.actions.status import Status
from skipstone.spark.engine.engine import Engine

MOMENT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


@pytest.fixture
def source(spark: SparkSession, tmp_path: Path) -> CountingSource:
    """Four files with k from 0 to 399 in order."""
    path = tmp_path / "orders"
    spark.range(0, 400, 1, 4).selectExpr("id AS k", "id % 5 AS d").write.parquet(str(path))
    return CountingSource(Engine.of(spark), str(path))


def test_an_action_lists_the_table_once(source: CountingSource) -> None:
    perform(Index(), source)
    assert len(source.listings) == 1
    perform(Status(), source)
    assert len(source.listings) == 2


def test_what_is_indexed_is_not_indexed_again(source: CountingSource) -> None:
    first = perform(Index(("k + d",), ("k < 50",)), source, clock=lambda: MOMENT)
    assert (first.files, first.files_indexed, first.rows_indexed, first.seconds) == (4, 4, 400, 0.0)
    again = perform(Index(), source)
    assert (again.files_indexed, again.rows_indexed, again.bytes_indexed) == (0, 0, 0)
    assert (again.expressions, again.features) == (("k + d",), ("k < 50",)), "both are remembered"
    assert perform(Status(), source).indexed_at == MOMENT.isoformat()


def test_a_feature_in_other_words_is_the_same_feature(source: CountingSource) -> None:
    perform(Index(features=("k < 50 AND d = 1",)), source)
    again = perform(Index(features=("d  =  1 and 50 > k",)), source)
    assert again.files_indexed == 0
    assert again.features == ("k < 50 AND d = 1",)


def test_only_files_that_are_new_or_changed_are_indexed(
    source: CountingSource, spark: SparkSession, tmp_path: Path
) -> None:
    perform(Index(), source)
    spark.range(400, 500, 1, 1).selectExpr("id AS k", "id % 5 AS d").write.mode("append").parquet(
        source.location
    )
    assert perform(Index(), source).files_indexed == 1
    touched = next(Path(source.location).glob("*.parquet"))
    os.utime(touched, (1_700_000_000, 1_700_000_000))
    assert perform(Status(), source).files_indexed == 4, "a file with another time is another file"
    assert perform(Index(), source).files_indexed == 1
    assert perform(Status(), source).rows_indexed == 500


def test_the_steps_of_an_index_run_are_reported_in_their_order(source: CountingSource) -> None:
    events: list[tuple[str, int, int]] = []
    perform(Index(), source, lambda *event: events.append(event))
    assert list(dict.fromkeys(what for what, _, _ in events)) == [
        "finding what to track",
        "indexing blocks",
        "publishing statistics",
    ]
    assert events[-1] == ("publishing statistics", 4, 4)
    events.clear()
    perform(Index(), source, lambda *event: events.append(event))
    assert events == [("finding what to track", 0, 4), ("finding what to track", 4, 4)]


def test_what_is_refused_is_refused_before_anything_is_written(source: CountingSource) -> None:
    with pytest.raises(skipstone.SkipstoneError, match="does not fit this table"):
        perform(Index(expressions=("missing + 1",)), source)
    assert not (Path(source.location) / "_skipstone").exists()


def test_rebuilding_forgets_what_is_not_asked_for_again(
    shipments: Callable[..., skipstone.Table],
) -> None:
    table = shipments(rows=2_000)
    table.index(["month(d)"], ["k < 50"])
    report = table.index(features=["k > 900"], rebuild=True)
    assert (report.files_indexed, report.expressions, report.features) == (4, (), ("k > 900",))
    assert opened(table).catalog.expression_texts == ()

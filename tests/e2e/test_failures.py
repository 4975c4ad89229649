"""Whatever fails in skipping, the query runs, reads everything, and explain says why."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_skips, scan_of
from tests.e2e.conftest import Orders, write_orders
from tests.opened import opened

import skipstone
from skipstone.catalog.segment import decode, encode
from skipstone.catalog.store import _name
from skipstone.spark.bridge import loaded_table, runtime
from skipstone.spark.bridge.question import Question


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is damaged here is not about to be mended."""
    monkeypatch.setattr(runtime, "_PATIENCE_SECONDS", 0.0)


def _reads_all(table: skipstone.Table, query: str, rows: int, why: str) -> None:
    assert len(table.spark.sql(query).collect()) == rows
    scan = scan_of(table, query)
    assert scan.files_read == scan.files_total
    assert why in scan.failure
    assert f"everything is read: {scan.failure}" in str(table.explain(query))


def test_a_decision_that_fails_reads_everything(
    orders: Orders, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no decision today")

    query = f"SELECT id FROM {orders.name} WHERE id < 10"
    with caplog.at_level(logging.WARNING, "skipstone"):
        monkeypatch.setattr(loaded_table, "decide", broken)
        _reads_all(orders.table, query, 10, "RuntimeError: no decision today")
    assert "no decision today" in caplog.text
    monkeypatch.undo()
    assert_skips(orders.table, query, rows=10, read=1)


def test_an_answer_that_makes_no_sense_reads_everything(
    orders: Orders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Question, "read", classmethod(lambda cls, text: None))
    query = f"SELECT id FROM {orders.name} WHERE id < 10"
    assert len(orders.table.spark.sql(query).collect()) == 10
    assert len(orders.table.spark.sql(query).inputFiles()) == 8


@pytest.fixture
def small(spark: SparkSession, tmp_path: Path) -> skipstone.Table:
    """Three indexed files."""
    write_orders(spark, tmp_path / "t", "parquet", rows=300)
    table = skipstone.table(spark, str(tmp_path / "t"))
    table.index()
    return table


def _segment(table: skipstone.Table) -> Path:
    (found,) = (Path(table.source) / "_skipstone" / "blocks").glob("*.parquet")
    (found.parent / f".{found.name}.crc").unlink(missing_ok=True)
    return found


def _reload(table: skipstone.Table) -> str:
    with pytest.raises(skipstone.SkipstoneError) as caught:
        opened(table).refresh()
    return str(caught.value)


@pytest.mark.parametrize("damage", [b"", b"PAR1 nonsense PAR1", b"half"])
def test_a_damaged_catalog_reads_everything_and_can_be_rebuilt(small: skipstone.Table, damage: bytes) -> None:
    segment = _segment(small)
    segment.write_bytes(segment.read_bytes()[:500] if damage == b"half" else damage)
    assert "is damaged" in _reload(small)
    query = f"SELECT id FROM parquet.`{small.source}` WHERE id < 10"
    _reads_all(small, query, 10, "is damaged")
    assert "is damaged" in small.status().problem
    with pytest.raises(skipstone.SkipstoneError, match="is damaged"):
        small.index()
    small.index(rebuild=True)
    assert_skips(small, query, rows=10, read=1)


def test_a_catalog_of_a_newer_format_reads_everything(
    small: skipstone.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment = _segment(small)
    stored = decode(segment.read_bytes())
    monkeypatch.setattr("skipstone.catalog.segment._WITHOUT_RANGES", 99)
    newer = encode(stored)
    monkeypatch.undo()
    segment.unlink()
    segment.with_name(_name("00000001", newer)).write_bytes(newer)
    assert "newer skipstone" in _reload(small)
    query = f"SELECT id FROM parquet.`{small.source}` WHERE id < 10"
    _reads_all(small, query, 10, "newer skipstone")


def test_a_catalog_read_anew_while_a_query_is_planned_is_not_mixed_up(small: skipstone.Table) -> None:
    query = f"SELECT id FROM parquet.`{small.source}` WHERE id < 10"
    frame = small.spark.sql(query)
    assert len(frame.inputFiles()) == 1
    small.index(rebuild=True, expressions=["id % 5"])
    assert len(frame.collect()) == 10
    assert_skips(small, query, rows=10, read=1)


def test_a_failure_that_passes_is_noticed(small: skipstone.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at every query, though: reading a catalog takes time."""
    segment = _segment(small)
    whole = segment.read_bytes()
    segment.write_bytes(b"half written")
    assert "is damaged" in _reload(small)
    segment.write_bytes(whole)
    query = f"SELECT id FROM parquet.`{small.source}` WHERE id < 10"
    _reads_all(small, query, 10, "is damaged")
    monkeypatch.setattr("skipstone.spark.bridge.runtime._LOOK_AGAIN_SECONDS", 0.0)
    assert len(small.spark.sql(query).collect()) == 10
    assert_skips(small, query, rows=10, read=1)


def test_a_new_segment_that_is_only_half_there_does_not_disable_the_catalog_at_once(
    spark: SparkSession, small: skipstone.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a file system whose rename is a copy that others can see half done."""
    query = f"SELECT id FROM parquet.`{small.source}` WHERE id < 10"
    assert_skips(small, query, rows=10, read=1)
    whole = encode(decode(_segment(small).read_bytes()))
    half = _segment(small).with_name(_name("00000002", whole))
    half.write_bytes(whole[:-1])
    monkeypatch.setattr("skipstone.spark.bridge.runtime._LOOK_AGAIN_SECONDS", 0.0)
    looked = spark.sql(query)
    assert len(looked.inputFiles()) == 1, "what was read before is still true"
    half.write_bytes(whole)
    assert_skips(small, query, rows=10, read=1)
    half.write_bytes(whole[:-1])
    half.rename(half.with_name(_name("00000003", whole)))
    for _ in range(3):
        spark.sql(query).inputFiles()
    _reads_all(small, query, 10, "is damaged or not written to its end")

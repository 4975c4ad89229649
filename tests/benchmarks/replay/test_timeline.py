"""Timelines of inserts and scans: generated ones are deterministic, recorded ones are put in order."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.replay.timeline import TABLE, TEMPLATES, Insert, Scan, generated, recorded, scans_of
from skipstone.errors import SkipstoneError

COUNTS = st.integers(1, 9)


@given(batches=COUNTS, scans=st.integers(1, 60), seed=st.integers(0, 5), drift=st.booleans())
def test_a_generated_timeline_has_its_batches_in_order_and_its_scans_spread_evenly(
    batches: int, scans: int, seed: int, drift: bool
) -> None:
    events = generated(batches, scans, seed, drift)
    assert events == generated(batches, scans, seed, drift)
    inserts = [index for index, event in enumerate(events) if isinstance(event, Insert)]
    assert [event.batch for event in events if isinstance(event, Insert)] == list(range(batches))
    assert inserts[0] == 0
    between = [after - before - 1 for before, after in pairwise([*inserts, len(events)])]
    assert sum(between) == scans == len(scans_of(events))
    assert max(between) - min(between) <= 1


def test_another_seed_asks_for_other_things() -> None:
    assert generated(2, 20, seed=1) != generated(2, 20, seed=2)


def test_every_template_is_asked_and_is_a_query_on_the_table() -> None:
    scans = scans_of(generated(4, 400))
    assert {scan.template for scan in scans} == set(TEMPLATES)
    for sql in {scan.template: scan.sql for scan in scans}.values():
        (found,) = sqlglot.parse_one(sql, dialect="spark").find_all(sqlglot.exp.Table)
        assert found.name == TABLE


def test_constants_are_skewed_and_drift_makes_others_hot() -> None:
    def hot(drift: bool) -> list[str]:
        scans = scans_of(generated(2, 4_000, drift=drift))
        weights = Counter(scan.sql for scan in scans[2_000:] if scan.template == "weight")
        (sql, most), *_ = weights.most_common(1)
        assert most > 0.3 * sum(weights.values())
        return [sql, scans[0].sql]

    (before, first), (after, same) = hot(drift=False), hot(drift=True)
    assert before != after
    assert first == same, "the first half is the same"


@pytest.mark.parametrize(("batches", "scans"), [(0, 5), (3, 0)])
def test_a_timeline_without_batches_or_scans_is_refused(batches: int, scans: int) -> None:
    with pytest.raises(SkipstoneError, match="at least one batch and one scan"):
        generated(batches, scans)


def write(path: Path, *lines: dict[str, str]) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return path


def test_a_recorded_timeline_is_put_in_the_order_of_time(tmp_path: Path) -> None:
    file = write(
        tmp_path / "log.jsonl",
        {"timestamp": "2026-05-01T10:00:00", "sql": "SELECT 1"},
        {"timestamp": "2026-05-01T11:00:00+03:00", "batch": "first.parquet"},
        {"timestamp": "2026-05-01T11:00:00Z", "batch": "second.parquet"},
    )
    assert recorded(file) == (
        Insert(0, str(tmp_path / "first.parquet")),
        Scan("SELECT 1"),
        Insert(1, str(tmp_path / "second.parquet")),
    )


@pytest.mark.parametrize(
    "line",
    [{"sql": "SELECT 1"}, {"timestamp": "yesterday", "sql": "SELECT 1"}, {"timestamp": "2026-05-01"}],
)
def test_a_line_that_is_no_event_is_named(tmp_path: Path, line: dict[str, str]) -> None:
    first = {"timestamp": "2026-05-01", "batch": "a"}
    with pytest.raises(SkipstoneError, match=r"Line 2 of .* is no event"):
        recorded(write(tmp_path / "log.jsonl", first, line))


def test_a_recorded_timeline_begins_with_a_batch(tmp_path: Path) -> None:
    with pytest.raises(SkipstoneError, match="must begin with a batch"):
        recorded(write(tmp_path / "log.jsonl", {"timestamp": "2026-05-01", "sql": "SELECT 1"}))
    with pytest.raises(SkipstoneError, match="cannot be read"):
        recorded(tmp_path / "missing.jsonl")

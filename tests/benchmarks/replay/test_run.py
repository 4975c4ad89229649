"""The replay, on data small enough for a test. No time is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.replay.run import Options, run
from skipstone.errors import SkipstoneError


@pytest.mark.usefixtures("spark")
def test_all_contestants_answer_alike_and_automatic_reads_less(tmp_path: Path) -> None:
    figures = run(Options(quick=True), tmp_path)
    assert next(f for f in figures if f.name == "scans with different results").holds
    written = json.loads((tmp_path / "replay-quick.json").read_text())
    found = written["details"]["contestants"]
    auto, none = found["automatic"], found["no optimisation"]
    assert auto["optimised_after_batches"], [each["sentence"] for each in auto["decisions"]]
    assert found["one Z-order"]["optimised_after_batches"] == [1]
    assert 0 < auto["file_bytes"] < none["file_bytes"]
    assert {"replay-quick-6.1-contestants.png", "replay-quick-6.2-inserts.png"} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_an_unknown_contestant_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkipstoneError, match="There is no contestant nobody"):
        run(Options(quick=True, only=("nobody",)), tmp_path)


@pytest.mark.parametrize(
    ("options", "command"),
    [
        (Options(only=("none",)), "--rows 1200000 --batches 6 --scans 1200 --seed 0 --only none"),
        (Options(rows=500, drift=True), "--rows 500 --batches 6 --scans 1200 --seed 0 --drift"),
        (Options(timeline="orders=a/log.jsonl"), "--timeline log.jsonl"),
    ],
)
def test_results_tell_the_command_that_reproduces_them(options: Options, command: str) -> None:
    assert options.command() == f"python -m benchmarks replay {command}"

"""The replay and the grid of the benefit estimate, on data small enough for a test. No time is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.replay_measure import Tally
from benchmarks.replay_report import figures
from pyspark.sql import SparkSession

from benchmarks import benefit, replay
from skipstone.errors import SkipstoneError


@pytest.mark.usefixtures("spark")
def test_all_contestants_answer_alike_and_automatic_reads_less(tmp_path: Path) -> None:
    figures = replay.run(quick=True, output=tmp_path)
    assert next(f for f in figures if f["name"] == "scans with different results")["holds"]
    written = json.loads((tmp_path / "replay-quick.json").read_text())
    found = written["details"]["contestants"]
    auto, none = found["automatic"], found["no optimisation"]
    assert auto["optimised_after_batches"], [each["sentence"] for each in auto["decisions"]]
    assert found["one Z-order"]["optimised_after_batches"] == [1]
    assert 0 < auto["file_bytes"] < none["file_bytes"]
    assert {"replay-quick-6.1-contestants.png", "replay-quick-6.2-inserts.png"} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_the_benefit_is_estimated_and_measured(spark: SparkSession, tmp_path: Path) -> None:
    (figure,) = benefit.run(quick=True, output=tmp_path)
    cells = json.loads((tmp_path / "benefit-quick.json").read_text())["details"]["cells"]
    assert [(cell["z"], cell["sop"]) for cell in cells] == [(0, 0), (1, 4)]
    assert [(cell["chosen_z"], cell["chosen_sop"]) for cell in cells] == [(0, 0), (1, 4)]
    for cell in cells:
        assert 0 < cell["real_bytes"] < cell["workload_bytes"]
        assert 0 < cell["estimated_bytes"] < cell["workload_bytes"]
    assert cells[1]["real_bytes"] > cells[0]["real_bytes"]
    assert figure["value"] >= 1.0


def test_only_those_who_competed_are_compared(tmp_path: Path) -> None:
    none = {"total_seconds": 90.0, "scan_seconds": 80.0, "column_bytes": 4e9, "file_bytes": 5e9}
    parts = {"insert_seconds_by_part": {"rewriting": 10.0}, "analysis_of_rewrites": 0.2}
    automatic = {"total_seconds": 40.0, "scan_seconds": 20.0, "column_bytes": 1e9, "file_bytes": 1e9, **parts}
    found = figures({"no optimisation": none, "automatic": automatic}, Tally(), "a command")
    assert {figure.name: (figure.value, figure.holds) for figure in found} == {
        "scans with different results": (0.0, True),
        "total time, no optimisation / automatic": (2.25, False),
        "volume read, no optimisation / automatic": (4.0, True),
        "scan time, no optimisation / automatic": (4.0, None),
        "bytes of files, no optimisation / automatic": (5.0, None),
        "analysis and estimation, of the rewrites": (2.0, None),
    }
    with pytest.raises(SkipstoneError, match="There is no contestant nobody"):
        replay.run(quick=True, only=["nobody"], output=tmp_path)

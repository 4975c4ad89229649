from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.pieces import Pieces

from benchmarks import tpch


def fail() -> dict[str, object]:
    raise RuntimeError("measured again")


def test_a_piece_is_measured_once_and_found_again(tmp_path: Path) -> None:
    assert Pieces(tmp_path / "new").measure("a", lambda: {"value": 1}) == {"value": 1}
    assert Pieces(tmp_path / "new").measure("a", fail) == {"value": 1}
    assert Pieces(tmp_path / "new").all() == {"a": {"value": 1}}


def test_chosen_steps_leave_the_results_of_a_whole_run_alone(tmp_path: Path) -> None:
    whole = tmp_path / "results" / "tpch.json"
    whole.parent.mkdir()
    whole.write_text("hours of work")
    kept = Pieces(tmp_path / "sf1" / "pieces-1000")
    for name in ("clustering", "breakdown", "scan-sop"):
        kept.measure(name, dict)
    found = tpch.run(only=["costs"], data=str(tmp_path), output=whole.parent)
    assert found == []
    assert whole.read_text() == "hours of work"
    details = json.loads(whole.with_name("tpch-costs.json").read_text())["details"]
    assert details == {"clustering": {}, "breakdown": {}}


def test_a_piece_is_measured_again_when_asked(tmp_path: Path) -> None:
    Pieces(tmp_path).measure("a", lambda: {"value": 1})
    assert Pieces(tmp_path, again=True).measure("a", lambda: {"value": 2}) == {"value": 2}
    assert Pieces(tmp_path).find("a") == {"value": 2}


def test_a_failed_measurement_leaves_no_piece(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="measured again"):
        Pieces(tmp_path).measure("a", fail)
    assert Pieces(tmp_path).find("a") is None
    assert Pieces(tmp_path).all() == {}

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.pieces import Pieces
from benchmarks.tpch.run import Options, run
from skipstone.errors import SkipstoneError


def test_chosen_steps_leave_the_results_of_a_whole_run_alone(tmp_path: Path) -> None:
    whole = tmp_path / "results" / "tpch.json"
    whole.parent.mkdir()
    whole.write_text("hours of work")
    kept = Pieces(tmp_path / "sf1" / "pieces-1000")
    for name in ("clustering", "breakdown", "scan-sop"):
        kept.measure(name, dict)
    found = run(Options(only=("costs",), data=str(tmp_path)), whole.parent)
    assert found == []
    assert whole.read_text() == "hours of work"
    details = json.loads(whole.with_name("tpch-costs.json").read_text())["details"]
    assert details == {"clustering": {}, "breakdown": {}}


def test_an_unknown_step_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkipstoneError, match="has no step nothing"):
        run(Options(only=("nothing",), data=str(tmp_path)), tmp_path)


@pytest.mark.parametrize(
    ("options", "name", "command"),
    [
        (Options(), "tpch", "--sf 1"),
        (Options(0.1, ("qdtree",)), "tpch-sf0.1-1000-qdtree", "--sf 0.1 --only qdtree"),
        (Options(blocks=50), "tpch-sf1-50", "--sf 1 --blocks 50"),
    ],
)
def test_results_are_named_by_what_was_measured(options: Options, name: str, command: str) -> None:
    assert options.name() == name
    assert options.command() == f"python -m benchmarks tpch {command}"

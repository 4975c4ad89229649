"""The grid of the benefit estimate, on data small enough for a test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.benefit.run import Options, run


@pytest.mark.usefixtures("spark")
def test_the_benefit_is_estimated_and_measured(tmp_path: Path) -> None:
    (figure,) = run(Options(quick=True), tmp_path)
    cells = json.loads((tmp_path / "benefit-quick.json").read_text())["details"]["cells"]
    assert [(cell["z"], cell["sop"]) for cell in cells] == [(0, 0), (1, 4)]
    assert [(cell["chosen_z"], cell["chosen_sop"]) for cell in cells] == [(0, 0), (1, 4)]
    for cell in cells:
        assert 0 < cell["real_bytes"] < cell["workload_bytes"]
        assert 0 < cell["estimated_bytes"] < cell["workload_bytes"]
    assert cells[1]["real_bytes"] > cells[0]["real_bytes"]
    assert figure.value >= 1.0

"""The benchmark of adaptation: its workloads, its bound, and a simulation that is small enough for a test."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.adapt.least_left import least_left
from benchmarks.adapt.run import Options, run
from benchmarks.adapt.workloads import KINDS, workload
from skipstone.errors import SkipstoneError


@pytest.mark.parametrize("kind", KINDS)
def test_queries_to_judge_by_are_others_of_the_same_kind(kind: str) -> None:
    asked, judges = (workload(kind, seed).queries for seed in (0, 1))
    assert len(asked) == len(judges) == 60
    assert asked != judges
    assert workload(kind, 0, 20).queries[0].count == 20
    assert all(
        "l_shipdate >= DATE'199" in each.sql and "l_quantity" in each.sql for each in (*asked, *judges)
    )


def test_no_choice_of_files_that_stay_is_read_less_than_the_bound() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        read, sizes = rng.random(8), rng.integers(1, 9, 8)
        bound = least_left(read, sizes)
        for kept in range(256):
            stays = np.array([kept >> bit & 1 for bit in range(8)], np.bool_)
            if sizes[~stays].sum() < sizes.sum() / 2:
                assert bound <= (read * sizes)[stays].sum() / sizes.sum() + 1e-9


def test_trees_are_adapted_and_figures_written(tmp_path: Path) -> None:
    options = Options(only=("simulate",), blocks=120, data=str(tmp_path / "data"))
    figures = {figure.name: figure for figure in run(options, tmp_path / "results")}
    assert figures["simulated, corner: rewritten"].holds
    assert figures["simulated, corner: rows scanned, of a qd-tree"].value > 0
    written = json.loads((tmp_path / "results" / "adapt-sf1-120-simulate.json").read_text())
    corner = written["details"]["simulated-corner"]
    assert corner["percent_least_left"] <= corner["percent_scanned_after"] < corner["percent_scanned_before"]


def test_a_step_that_there_is_not_is_refused() -> None:
    with pytest.raises(SkipstoneError, match="has no step spin; its steps are simulate, files"):
        run(Options(only=("spin",)))

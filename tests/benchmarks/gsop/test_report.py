from __future__ import annotations

from pathlib import Path

from benchmarks.gsop.plots import draw_all
from benchmarks.gsop.report import figures
from benchmarks.gsop.sensitivity import Setting, settings
from benchmarks.gsop.tpch import PLAIN
from benchmarks.pieces import Piece

COSTS = {"sop": 10.0, "gsop-single": 20.0, "gsop": 9.0, "groups": 2}
PIECES: dict[str, Piece] = {
    "grouping-70": {
        "70 columns, 1,000 queries": {"seconds": 25.0, "cost": 9.0, "one": 9.0, "single": 50.0, "groups": 1}
    },
    "estimates": {
        "measured": {
            "worst": {"blocks": 1.2, "selectivity": 2.0},
            "seconds": {"blocks": 1.0, "selectivity": 1.0, "full": 5.0},
        }
    },
    "sensitivity-k": {Setting(k=k).named(): dict.fromkeys(("tuple ids", "measured"), COSTS) for k in (1, 2)},
    **{
        f"cells-{name}": {"cells": cells, "tuple_ids": ids, "with_measured_joins": cells + 85 * ids}
        for name, cells, ids in ((PLAIN, 4.0, 0.0), ("SOP", 0.5, 0.0), ("GSOP", 0.1, 0.05))
    },
}


def test_each_bar_is_held_against_what_was_measured() -> None:
    found = {figure.name: figure for figure in figures(PIECES, "make bench-gsop")}
    assert found["grouping 70 columns, 1,000 queries, processor time"].holds
    assert found["objective by full computation, measured, blocks"].holds is False, "a fifth more"
    assert found["estimates by blocks, measured, faster than full"].value == 5.0
    worst = found["sensitivity, measured, gsop by the better of sop and gsop-single, at worst"]
    assert (worst.value, worst.holds) == (0.9, True)
    assert found["fewer cells and ids than plain Parquet"].value == 26.667
    assert found["fewer cells and ids than SOP"].holds


def test_the_plots_are_those_of_the_paper(tmp_path: Path) -> None:
    draw_all(PIECES, "gsop", tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"gsop-6-k.png", "gsop-7a-8a-cells.png"}


def test_one_of_the_papers_parameters_is_varied_at_a_time() -> None:
    usual = Setting()
    for sweep, found in settings().items():
        others = [name for name in ("k", "t", "z", "s") if name != sweep]
        assert all(getattr(each, name) == getattr(usual, name) for each in found for name in others)
        assert usual in found

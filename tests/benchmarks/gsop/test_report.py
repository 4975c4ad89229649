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


def _way(cpu: float, **more: object) -> Piece:
    return {"cpu": cpu, "seconds": cpu, "cells": 10, "tuple_ids": 0, **more}


GROUPS = _way(1.0, groups_read=1, columns=["a"], task_bytes=0)
READS: dict[str, Piece] = {
    "reads-load": {"plain": {"cpu": 10.0}, "bytes": 100},
    "reads-built-SOP": {"copy": {"cpu": 15.0}, "fit": {"cpu": 5.0}, "bytes": 90, "rows": 10},
    "reads-built-GSOP": {
        "copy": {"cpu": 27.0},
        "fit": {"cpu": 5.0},
        "bytes": 120,
        "tuple_id_bits": 7.9,
        "rows": 10,
    },
    "reads-built-same": {"columns": ["a", "b"]},
    "reads-choice": {"layout": "qdtree"},
    "reads-timed": {
        "q1-0": {
            "answers": 1,
            "ways": {
                "plain Parquet": _way(6.0),
                "SOP": _way(2.0),
                "qd-tree": _way(1.0),
                "GSOP": GROUPS,
                "GSOP, always": GROUPS,
                "same blocks": _way(2.0),
            },
        },
        "q2-0": {
            "answers": 2,
            "ways": {
                "plain Parquet": _way(6.0),
                "SOP": _way(1.0),
                "qd-tree": _way(1.0),
                "GSOP": {**GROUPS, "groups_read": 2},
                "GSOP, always": {**GROUPS, "groups_read": 2, "task_bytes": 5_000_000},
                "same blocks": _way(9.0),
            },
        },
    },
    "columns-planned": {"planning_milliseconds": {"groups": 130.0, "base": 100.0}, "different": 0},
}


def test_what_was_read_of_real_files_is_held_against_plain_parquet_and_one_group() -> None:
    found = {figure.name: figure for figure in figures(READS, "make bench-gsop")}
    assert found["GSOP, copying by a plain load"].holds is False, "2.7 is more than 2.6"
    assert found["GSOP, fitting by a plain load"].value == 0.5
    assert found["GSOP, bits of a tuple id"].holds
    faster = found["what replicate chooses (qd-tree), processor time of plain Parquet"]
    assert (faster.value, faster.holds) == (6.0, True)
    assert found["what replicate chooses (qd-tree), processor time by the best single group"].value == 1.0
    assert found["queries with different answers"].holds is False
    same = found["1 queries of one group, processor time by whole rows in the same blocks"]
    assert (same.value, same.holds) == (0.5, True)
    assert found["memory of a task that puts tuples together, at most"].value == 5.0
    assert found["450 columns, planning with groups"].holds


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
    draw_all(READS, "reads", tmp_path)
    assert {path.name for path in tmp_path.glob("reads-*")} == {
        "reads-7b-8b-seconds.png",
        "reads-10-loading.png",
    }


def test_one_of_the_papers_parameters_is_varied_at_a_time() -> None:
    usual = Setting()
    for sweep, found in settings().items():
        others = [name for name in ("k", "t", "z", "s") if name != sweep]
        assert all(getattr(each, name) == getattr(usual, name) for each in found for name in others)
        assert usual in found

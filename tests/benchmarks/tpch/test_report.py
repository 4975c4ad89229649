from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.tpch.measure import by_template
from benchmarks.tpch.plots import draw_all
from benchmarks.tpch.queries import TEMPLATES
from benchmarks.tpch.report import best_layout, figures

COMMAND = "python -m benchmarks tpch --sf 1"


def scan(percent: float, same: bool | None = True, files: int = 1000) -> dict[str, Any]:
    return {
        "percent_scanned": percent,
        "percent_scanned_delta_alone": 2 * percent,
        "percent_needed": 0.79,
        "files": files,
        "rows_total": 8000,
        "seconds_on": 1.0,
        "seconds_off": 4.0,
        "queries": [{"same_result": same}] * 8,
        "broken_statements": [],
    }


def simulated(percent: float) -> dict[str, Any]:
    return {
        "percent_scanned": percent,
        "percent_needed": 0.79,
        "blocks": 9876,
        "vectors": 12,
        "fit_seconds": 9.0,
    }


PIECES: dict[str, dict[str, Any]] = {
    "scan-as_lies": scan(100.0, files=48),
    "scan-sop": scan(8.0),
    "scan-qdtree": scan(4.5),
    "scan-delta_zorder": scan(40.0),
    "simulate-sop": {"sop 10000": simulated(7.0)},
    "simulate-others": {
        "qdtree 10000": simulated(2.4),
        "qdtree 1000": simulated(4.6),
        "zorder 100": {"problem": "x"},
    },
    "seconds": {
        "seconds": {
            "as_lies, Delta alone": [4.0, 5.0],
            "delta_zorder, Delta alone": [2.0, 2.0],
            "qdtree": [1.0, 1.0],
        },
        "different_results": [],
    },
    "table-sop": {"optimize_seconds": 30.0, "rewrite_seconds": 20.0},
    "table-delta_zorder": {"rewrite_seconds": 25.0},
    "auto": {"acted": True, "layout": "qdtree", "analysis_share": 0.05},
    "clustering": {"3000 x 40": 2.0, "8192 x 40": 31.0},
    "breakdown": {"workload analysis": 1.0, "shuffle and write": 20.0},
    "sweep-blocks": {"100": simulated(12.0), "1000": simulated(8.0)},
    "sweep-features": {"5": simulated(12.0), "15": simulated(8.0)},
    "sweep-features-generated": {"5": simulated(12.0), "15": simulated(8.0)},
}


def held(pieces: dict[str, dict[str, Any]], part: str) -> bool | None:
    matching = [figure for figure in figures(pieces, COMMAND) if part in figure.name]
    assert len(matching) == 1, [figure.name for figure in matching]
    return matching[0].holds


@pytest.mark.parametrize(
    ("part", "holds"),
    [
        ("rows scanned, sop, 1,000 files", True),
        ("rows scanned, qdtree, 1,000 files", True),
        ("rows scanned, best layout (qdtree)", False),
        ("analysis and estimation, of the rewrite that they led to (qdtree)", False),
        ("rows scanned, as_lies, 48 files, Delta's own", None),
        ("simulated rows scanned, sop, 9,876", False),
        ("best at about 10,000 blocks (qdtree)", True),
        ("faster than the unoptimised table (qdtree)", True),
        ("faster than the better of Delta's own", True),
        ("results that differ from a full scan", True),
        ("results that differ between tables", True),
        ("clustering, 3000 x 40", True),
        ("clustering, 8192 x 40", False),
        ("fitting the qd-tree", True),
        ("SOP rewrite against Delta's", True),
    ],
)
def test_a_figure_is_held_against_its_bar(part: str, holds: bool | None) -> None:
    assert held(PIECES, part) is holds


@pytest.mark.parametrize("same", [False, None])
def test_a_result_that_differs_or_is_uncertain_misses_the_bar(same: bool | None) -> None:
    assert held({**PIECES, "scan-sop": scan(8.0, same)}, "differ from a full scan") is False


def test_memory_that_grows_with_the_table_misses_the_bar() -> None:
    grown = figures({}, COMMAND, {"0.1": 400.0, "1": 700.0})
    assert [figure.holds for figure in grown] == [None, None, False]


def test_without_pieces_there_are_no_figures_and_no_plots(tmp_path: Path) -> None:
    assert figures({}, COMMAND) == []
    assert best_layout({}) is None
    assert draw_all({}, "tpch", tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_every_plot_of_the_papers_is_drawn_from_a_full_run(tmp_path: Path) -> None:
    names = draw_all(PIECES, "tpch", tmp_path)
    assert len(names) == 10
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"tpch-{name}.png" for name in names)


def test_means_are_taken_over_each_templates_queries() -> None:
    queries = [{"value": index // 2} for index in range(2 * len(TEMPLATES))]
    means = by_template(queries, lambda query: query["value"])
    assert list(means.values()) == list(range(len(TEMPLATES)))

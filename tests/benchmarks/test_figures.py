from __future__ import annotations

import json
from pathlib import Path

from benchmarks.figures import Figure, at_most, write
from benchmarks.plots import against_bars


def test_a_figure_holds_up_to_its_bar_and_not_beyond() -> None:
    assert at_most("f", 50.0, "ms", 50, "c").holds
    assert not at_most("f", 50.001, "ms", 50, "c").holds


def test_results_are_a_list_of_figures_with_what_they_were_measured_on(tmp_path: Path) -> None:
    figure = Figure("f", 1.5, "ms", 2.0, True, "make bench-skip")
    assert write("skip", [figure], {"runs": 3}, tmp_path) == [figure]
    written = json.loads((tmp_path / "skip.json").read_text())
    assert written["figures"] == [
        {"name": "f", "value": 1.5, "unit": "ms", "bar": 2.0, "holds": True, "command": "make bench-skip"}
    ]
    assert {"cores", "python", "pyspark"} <= set(written["machine"])
    assert written["details"] == {"runs": 3}


def test_figures_are_drawn_against_their_bars(tmp_path: Path) -> None:
    figures = [
        at_most("good", 1, "ms", 2, "c"),
        at_most("bad", 3, "ms", 2, "c"),
        at_most("wrong", 0, "", 0, "c"),
    ]
    against_bars("skip-bars", figures, tmp_path)
    assert (tmp_path / "skip-bars.png").read_bytes().startswith(b"\x89PNG")

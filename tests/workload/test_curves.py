from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tests.workload.logs import X, Y, equal, query

from skipstone.cli.draw_curves import draw
from skipstone.errors import SkipstoneError
from skipstone.workload.curves import curves
from skipstone.workload.predicates import query_predicates

SKEWED = [query(equal(X, 0 if n % 10 else n)) for n in range(1, 101)]


def test_a_log_of_new_filters_only_gives_diagonals() -> None:
    drawn = curves(query_predicates([query(equal(X, n)) for n in range(40)]))
    assert np.allclose(drawn.commonality.y, drawn.commonality.x)
    assert np.allclose(drawn.stability.y, drawn.stability.x)


def test_one_filter_of_nine_queries_in_ten_shows_in_the_first_step() -> None:
    drawn = curves(query_predicates(SKEWED))
    assert drawn.commonality.x[1] == pytest.approx(100 / 11)
    assert drawn.commonality.y[1] == pytest.approx(90)
    assert drawn.commonality.y[-1] == pytest.approx(100)
    assert drawn.stability.at(10) >= 90


def test_a_query_is_reached_by_any_of_its_predicates_and_counts_as_often_as_it_ran() -> None:
    log = [query(equal(X, 1), equal(Y, 1), weight=3), query(equal(X, 1)), query(equal(Y, 2))]
    drawn = curves(query_predicates(log), windows=1)
    assert drawn.commonality.y.tolist() == [0, 80, 80, 100]
    assert drawn.stability.x.tolist() == [0, 60, 80, 100]
    assert drawn.stability.y.tolist() == [0, 80, 80, 100]


def test_arrival_is_by_timestamp() -> None:
    late_first = [query(equal(X, 1), hour=9), query(equal(X, 2), hour=1), query(equal(X, 1), hour=10)]
    drawn = curves(query_predicates(late_first), windows=1)
    assert drawn.stability.y == pytest.approx([0, 100 / 3, 100, 100])


def test_an_empty_log_has_flat_curves() -> None:
    drawn = curves(query_predicates([]))
    assert drawn.commonality.at(50) == 0
    assert drawn.stability.at(50) == 0


def test_the_picture_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    target = draw(curves(query_predicates(SKEWED)), tmp_path / "curves.png", "events")
    assert target.stat().st_size > 5_000


def test_a_missing_library_and_a_bad_path_are_clear_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = curves(query_predicates(SKEWED))
    pytest.importorskip("matplotlib")
    with pytest.raises(SkipstoneError, match="cannot be written"):
        draw(drawn, tmp_path / "none" / "curves.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SkipstoneError, match="matplotlib"):
        draw(drawn, tmp_path / "curves.png")

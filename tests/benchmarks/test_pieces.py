from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.pieces import Pieces


def fail() -> dict[str, object]:
    raise RuntimeError("measured again")


def test_a_piece_is_measured_once_and_found_again(tmp_path: Path) -> None:
    assert Pieces(tmp_path / "new").measure("a", lambda: {"value": 1}) == {"value": 1}
    assert Pieces(tmp_path / "new").measure("a", fail) == {"value": 1}
    assert Pieces(tmp_path / "new").all() == {"a": {"value": 1}}


def test_a_piece_is_measured_again_when_asked(tmp_path: Path) -> None:
    Pieces(tmp_path).measure("a", lambda: {"value": 1})
    assert Pieces(tmp_path, again=True).measure("a", lambda: {"value": 2}) == {"value": 2}
    assert Pieces(tmp_path).find("a") == {"value": 2}


def test_a_failed_measurement_leaves_no_piece(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="measured again"):
        Pieces(tmp_path).measure("a", fail)
    assert Pieces(tmp_path).find("a") is None
    assert Pieces(tmp_path).all() == {}

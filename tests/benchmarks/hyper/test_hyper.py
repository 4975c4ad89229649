"""The benchmark of hyper-partitioning, on generated rows that are few enough for a test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.hyper.lineitem import lineitem_file, one_of_each, ranges_of, read_rows, sampled
from benchmarks.hyper.run import Options, run
from benchmarks.hyper.simulations import by_attribute
from skipstone.errors import SkipstoneError


def test_there_are_ranges_of_all_16_attributes_and_most_are_of_five_percent(tmp_path: Path) -> None:
    rows = read_rows(lineitem_file(0.001, tmp_path))
    sample = sampled(rows, 100_000)
    ranges = ranges_of(sample)
    assert len({each.attribute for each in ranges}) == len(rows) == 16
    assert sum(each.attribute == "l_orderkey" for each in ranges) == 20
    assert [each.attribute for each in one_of_each(ranges)] == [expr.path[0] for expr in rows]  # type: ignore[union-attr]
    assert all(
        each.sql.startswith("SELECT count(*), sum(l_extendedprice) FROM lineitem WHERE") for each in ranges
    )


def test_trees_are_compared_and_figures_written(tmp_path: Path) -> None:
    options = Options(sf=0.005, only=("simulate",), blocks=64, data=str(tmp_path / "data"))
    figures = run(options, tmp_path / "results")
    names = [figure.name for figure in figures]
    assert "simulated, worst: rows scanned, worst attribute" in names
    assert "robustness at 64 blocks, of that of a k-d tree" in names
    written = json.loads((tmp_path / "results" / "hyper-sf0.005-64-simulate.json").read_text())
    simulated = written["details"]["simulate"]
    assert simulated["worst"]["worst"] < simulated["k-d tree"]["worst"]
    assert {path.suffix for path in (tmp_path / "results").iterdir()} == {".json", ".png"}


def test_an_attribute_stands_for_the_mean_of_its_ranges(tmp_path: Path) -> None:
    ranges = ranges_of(sampled(read_rows(lineitem_file(0.001, tmp_path)), 1_000))
    first = ranges[0].attribute
    shares = [1.0 if each.attribute == first else 0.5 for each in ranges]
    found = by_attribute(ranges, shares)
    assert (found["worst"], found["attributes"][first]) == (100.0, 100.0)
    assert found["mean"] == pytest.approx(50 + 50 / 16)


def test_a_step_that_there_is_not_is_refused() -> None:
    with pytest.raises(SkipstoneError, match="has no step spin; its steps are simulate, files"):
        run(Options(only=("spin",)))

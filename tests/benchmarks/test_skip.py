"""The benchmark of skipping, on data small enough for a test. No time is asserted here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.figures import Figure, against_bars, at_most, write
from pyspark.sql import SparkSession

from benchmarks import skip_decision, skip_planning
from skipstone.predicate.normalize import normalize_filter
from skipstone.pruning.prune import prune
from skipstone.pruning.reasons import Code


def test_a_figure_holds_up_to_its_bar_and_not_beyond() -> None:
    assert at_most("f", 50.0, "ms", 50, "c").holds
    assert not at_most("f", 50.001, "ms", 50, "c").holds


def test_results_are_a_list_of_figures_with_what_they_were_measured_on(tmp_path: Path) -> None:
    figure = Figure("f", 1.5, "ms", 2.0, True, "make bench-skip")
    assert write("skip", [figure], {"runs": 3}, tmp_path)[0]["name"] == "f"
    written = json.loads((tmp_path / "skip.json").read_text())
    assert written["figures"] == [
        {"name": "f", "value": 1.5, "unit": "ms", "bar": 2.0, "holds": True, "command": "make bench-skip"}
    ]
    assert {"cores", "python", "pyspark"} <= set(written["machine"])
    assert written["details"] == {"runs": 3}


def test_figures_are_drawn_against_their_bars(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    against_bars("skip-bars", [at_most("good", 1, "ms", 2, "c"), at_most("bad", 3, "ms", 2, "c")], tmp_path)
    assert (tmp_path / "skip-bars.png").read_bytes().startswith(b"\x89PNG")


def test_the_decision_that_is_timed_uses_every_kind_of_statistic() -> None:
    blocks = skip_decision.synthetic_blocks(blocks=20_000)
    assert len(blocks.statistics) == 20
    assert len(blocks.features) == 128
    decision = prune(normalize_filter(skip_decision.query(1)), blocks)
    used = {decision.reasons[number].code for number in np.unique(decision.reason)}
    assert {Code.MIN_MAX, Code.VALUE_SET, Code.FEATURE, Code.COMBINED} <= used
    assert 0 < decision.skip.sum() < len(blocks)


@pytest.mark.parametrize("format_", ["parquet", "delta"])
def test_the_planning_that_is_timed_skips_files(spark: SparkSession, tmp_path: Path, format_: str) -> None:
    folder = skip_planning.make_files(tmp_path / "t", files=30)
    if format_ == "delta":
        skip_planning.make_delta(folder)
    skip_planning.register(spark, folder)
    view = f"planned_{format_}"
    spark.read.format(format_).load(str(folder)).createOrReplaceTempView(view)
    found = skip_planning.measure(spark, view, pairs=2, warm=0)
    assert 0 < int(str(found["files_skipped"])) <= 30
    assert spark.table(view).count() == 60


def test_a_table_that_is_not_registered_skips_nothing(spark: SparkSession, tmp_path: Path) -> None:
    folder = skip_planning.make_files(tmp_path / "t", files=3)
    spark.read.parquet(str(folder)).createOrReplaceTempView("not_registered")
    assert skip_planning.measure(spark, "not_registered", pairs=2, warm=0)["files_skipped"] == 0

"""Advice as text and JSON, and what may be asked for. What layouts gain is tested with Spark."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import cast

import pytest

import skipstone
from skipstone.estimate.advice import CURRENT_LAYOUT, Advice, LayoutAdvice, advise
from skipstone.estimate.prepared import Prepared
from skipstone.layout import LAYOUTS
from skipstone.layout.layouts import layout_named

ROWS = (
    LayoutAdvice(
        "selforg",
        1_250,
        1.25,
        12.5,
        note="by day (5 bits)",
        bytes_scanned=2e9,
        scan_seconds=310.0,
        bytes_saved=198e9,
        seconds_saved=12_345.6,
        rewrite_seconds=1_234.5,
        rewrite_bytes_read=81.5e9,
        rewrite_bytes_written=81.5e9,
        break_even_runs=0.1,
        break_even_days=12.3,
    ),
    LayoutAdvice(CURRENT_LAYOUT, 1_000, 80.0, 0.0, bytes_scanned=200e9, scan_seconds=12_655.6),
    LayoutAdvice("sop", 0, None, 0.5, problem="There is no feature."),
)


def advice() -> Advice:
    return Advice(
        "s3a://b/t", 7, 10**9, 300_000, 10**6, 0.5, ROWS, {}, observed_days=1.0, costs="default costs"
    )


def test_both_sides_are_told_in_seconds_and_bytes() -> None:
    text = str(advice())
    head, selforg = text.splitlines()[1:3]
    for column, figure in (("MB read", "2,000.0"), ("MB saved", "198,000.0"), ("saved s", "12,345.6")):
        assert selforg[: head.index(column) + len(column)].endswith(figure), column
    assert "A rewrite reads 81,500.0 MB and writes about as much." in text
    found = json.loads(json.dumps(advice().to_dict()))["layouts"][0]
    assert (found["bytes_saved"], found["seconds_saved"]) == (198e9, 12_345.6)
    assert (found["rewrite_bytes_read"], found["rewrite_bytes_written"]) == (81.5e9, 81.5e9)


def test_the_table_is_no_wider_than_a_terminal_and_says_what_was_chosen() -> None:
    lines = str(advice()).splitlines()
    assert max(map(len, lines)) <= 110
    assert {len(line) for line in lines[1:5]} == {len(lines[1])}, "columns line up"
    assert "selforg: by day (5 bits)" in lines
    assert "sop: There is no feature." in lines


def test_without_costs_nothing_is_said_about_them() -> None:
    rows = tuple(LayoutAdvice(row.layout, row.blocks, row.percent_scanned, row.fit_seconds) for row in ROWS)
    text = str(Advice("t", 7, 10**9, 300_000, 10**6, 0.5, rows, {}))
    assert "A rewrite reads" not in text


def test_a_layout_that_does_not_exist_is_refused_in_one_sentence() -> None:
    nothing = cast("Prepared", None)
    sentence = (
        "There is no layout spiral; choose one of {}range, zorder, hilbert, sop, selforg, qdtree, hyper, "
        "gsop."
    )
    with pytest.raises(skipstone.SkipstoneError) as caught:
        advise(nothing, ("zorder", "spiral"))
    assert str(caught.value) == sentence.format("")
    with pytest.raises(skipstone.SkipstoneError) as caught:
        layout_named("spiral", also=("auto",))
    assert str(caught.value) == sentence.format("auto, ")
    assert all(layout_named(name).name == name for name in LAYOUTS)


def test_column_groups_are_best_only_where_reading_takes_less_time_than_with_one_group() -> None:
    current = LayoutAdvice(CURRENT_LAYOUT, 1_000, 80.0, 0.0, scan_seconds=100.0)
    one = LayoutAdvice("qdtree", 1_000, 5.0, 1.0, scan_seconds=10.0, seconds_saved=90.0, rewrite_seconds=5.0)
    for seconds, best in ((9.0, "gsop"), (11.0, "qdtree"), (None, "qdtree")):
        saved = None if seconds is None else 100.0 - seconds
        groups = LayoutAdvice(
            "gsop", 3_000, 1.0, 1.0, scan_seconds=seconds, seconds_saved=saved, rewrite_seconds=5.0
        )
        found = replace(advice(), layouts=(groups, one, current))
        assert found.best == best, "fewer cells are no gain if putting tuples together takes longer"
        most = found.pays_most(1.0)
        assert most is not None
        assert most.layout == best

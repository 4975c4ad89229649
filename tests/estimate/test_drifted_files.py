"""The drift of layouts, and which of their files are laid out anew first."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from tests.estimate.tables import (
    NOW,
    SIZE,
    K,
    M,
    below,
    catalog,
    drifted,
    files,
    indexed,
    inputs,
    record,
    scan,
    stored,
)

from skipstone.catalog.layout_records import ADAPTED_FROM
from skipstone.estimate.drifted_files import LayoutDrift, drift_of_layout, drift_of_table, drifted_files
from skipstone.estimate.policy import Policy
from skipstone.workload.predicates import LoggedFilter

POLICY = Policy(drift=0.25, drift_queries=20)
WINDOW = NOW - timedelta(days=30)
INDICES = np.array([0, 1])


def measured(*scans: tuple[float, float]) -> LayoutDrift:
    """The drift of a layout that was made ten days ago, by (days ago, share of other queries) a scan."""
    asked = [scan(below(M if other else K, 5), days_ago, count=100) for days_ago, other in scans]
    return drift_of_layout(stored(record()), INDICES, asked, WINDOW)


def test_only_the_scans_since_a_layout_was_made_tell_how_far_it_has_drifted() -> None:
    assert measured((11, True), (1, False)).drift.score == 0.0
    assert measured((11, False), (1, True)).drift.score > 0.9
    assert measured((11, True)).drift.queries == 0.0


def test_scans_before_the_window_do_not_count() -> None:
    old = stored(record(days_ago=100.0))
    asked = [scan(below(M, 5), 40.0, count=100), scan(below(K, 5), 1.0, count=100)]
    found = drift_of_layout(old, INDICES, asked, WINDOW)
    assert (found.drift.score, found.drift.queries) == (0.0, 100.0)


@pytest.mark.parametrize(("score", "queries", "far"), [(0.25, 20, True), (0.24, 20, False), (1.0, 19, False)])
def test_a_layout_has_drifted_by_enough_drift_over_enough_queries(
    score: float, queries: float, far: bool
) -> None:
    assert drifted(record(), [0], score, queries).drifted(POLICY) is far


def test_from_a_tree_that_was_made_without_queries_any_are_far_until_it_is_adapted() -> None:
    hyper = replace(record(), strategy="hyper")
    assert drifted(hyper, [0], 0.0, 20).drifted(POLICY)
    assert not drifted(hyper, [0], 0.0, 19).drifted(POLICY)
    adapted = replace(hyper, parameters={ADAPTED_FROM: ["first"]})
    assert not drifted(adapted, [0], 0.0, 20).drifted(POLICY)
    assert drifted(adapted, [0], 0.25, 20).drifted(POLICY)


def test_the_drift_of_a_table_is_that_of_its_layouts_by_their_bytes() -> None:
    layouts = [drifted(record("one"), [0, 1, 2], 0.2), drifted(record("two"), [3], 1.0)]
    assert drift_of_table(layouts, files("abcd")) == pytest.approx(0.4)
    assert drift_of_table([], files("abcd")) is None


def worst(*filters: LoggedFilter, score: float = 1.0, step: int = 10 * SIZE) -> list[int]:
    """Which files of a drifted layout, with k from 0 to 39, are laid out anew; a fifth has no layout."""
    known = catalog(indexed("abcd", "one"))
    layouts = [drifted(record(), range(4), score)]
    policy = Policy(step_bytes=step)
    found = drifted_files(files("abcde"), layouts, filters, inputs(known), policy)
    return [int(index) for index in found]


def test_files_that_queries_read_most_of_come_first_up_to_the_step() -> None:
    often, rarely = LoggedFilter(below(K, 10), 9.0, columns=("k",)), LoggedFilter(below(K, 30), 1.0)
    assert worst(often, rarely) == [0, 1, 2], "nobody reads the fourth"
    assert worst(often, rarely, step=2 * SIZE) == [0, 1]
    assert worst(often, rarely, step=SIZE - 1) == []


def test_files_of_layouts_that_have_not_drifted_stay() -> None:
    assert worst(LoggedFilter(below(K, 30)), score=0.1) == []


def test_files_whose_entries_do_not_count_are_not_judged() -> None:
    known = catalog(indexed("abcd", "one"))
    foreign = inputs(known)
    other = type(foreign)(foreign.model, foreign.sizes, known, {"spark.sql.session.timeZone": "EST"})
    layouts = [drifted(record(), range(4), 1.0)]
    found = drifted_files(files("abcd"), layouts, [LoggedFilter(below(K, 30))], other, Policy())
    assert found.tolist() == []

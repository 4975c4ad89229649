"""The whole of algorithm 1: what is laid out by, what gets statistics only, and why."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.workload.logs import DAY, REVENUE, SHIPPED, X, Y, compare, equal, query

from skipstone.predicate.expr import Column, Comparison, Expr
from skipstone.predicate.types import INT
from skipstone.workload.predicates import query_predicates
from skipstone.workload.selection import MOST_Z, Selection, Thresholds, select
from skipstone.workload.selection_report import selection_dict, selection_text

ROWS = 500
RNG = np.random.default_rng(3)
DAYS = RNG.integers(0, 1000, ROWS)
VALUES = {DAY: DAYS, SHIPPED: DAYS + RNG.integers(0, 20, ROWS), X: RNG.integers(0, 50, ROWS)}
LATE = Comparison("<", DAY, SHIPPED)


def bits(predicate: Expr) -> np.ndarray | None:
    known = {LATE: VALUES[SHIPPED] > DAYS, equal(Y, 1): VALUES[SHIPPED] > DAYS, equal(REVENUE, 1): DAYS < 0}
    return known.get(predicate)


def selected() -> Selection:
    log = [query(compare("<", DAY, n), compare(">", SHIPPED, n), weight=3) for n in range(10)]
    log += [query(equal(X, n), LATE, equal(Y, 1)) for n in range(10)]
    log += [query(equal(REVENUE, 1), weight=5), query(equal(REVENUE, 2), LATE)]
    return select(query_predicates(log), VALUES, bits)


def test_correlated_and_constant_candidates_get_statistics_only() -> None:
    found = selected()
    assert [(each.expr, each.frequency) for each in found.z] == [(DAY, 30), (X, 10)]
    assert [each.predicate for each in found.sop] == [LATE]
    assert {(each.expr, each.code) for each in found.additional} == {
        (SHIPPED, "CORRELATED"),
        (equal(Y, 1), "CORRELATED"),
        (equal(REVENUE, 1), "CONSTANT"),
    }
    assert all(each.sentence for each in (*found.additional, *found.dropped))


def test_what_is_dropped_has_a_code() -> None:
    dropped = {(each.expr, each.code) for each in selected().dropped}
    assert (REVENUE, "FEW_POINTS") in dropped
    assert (equal(REVENUE, 2), "NOT_SAMPLED") in dropped


def test_the_report_is_json_and_text() -> None:
    found = json.loads(json.dumps(selection_dict(selected()), allow_nan=False))
    assert found["z"][0] == {"sql": "day", "frequency": 30, "comparison_points": 10}
    assert found["gamma"] == pytest.approx(0.46)
    assert all(each["code"] and each["reason"] for each in (*found["additional"], *found["dropped"]))
    text = selection_text(selected())
    for wanted in ("Z features", "SOP features", "day < shipped", "CORRELATED", "FEW_POINTS"):
        assert wanted in text
    assert max(map(len, text.splitlines())) <= 110


def test_no_more_than_four_dimensions_are_chosen() -> None:
    columns = [Column((f"c{n}",), INT) for n in range(6)]
    log = [query(compare("<", column, n), weight=9 - c) for c, column in enumerate(columns) for n in range(3)]
    values = {column: RNG.permutation(ROWS) for column in columns}
    found = select(query_predicates(log), values, lambda _: None)
    assert [each.expr for each in found.z] == columns[:MOST_Z]
    assert [each.code for each in found.additional] == ["BEYOND_DIMENSIONS"] * 2


def test_a_candidate_without_order_becomes_predicates() -> None:
    log = [query(equal(X, n)) for n in range(5)]
    found = select(query_predicates(log), {}, lambda _: np.arange(ROWS) < 5, Thresholds(theta=2, gamma=1))
    assert found.z == ()
    assert [each.code for each in found.dropped] == ["NO_ORDER"]
    assert len(found.sop) == 1
    assert [each.code for each in found.additional] == ["CORRELATED"] * 4

"""The whole of algorithm 1: what is laid out by, what gets statistics only, and why."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.workload.logs import DAY, REVENUE, SHIPPED, X, Y, compare, equal, query

from skipstone.actions.selection_report import selection_dict, selection_text
from skipstone.predicate.expr import Column, Comparison, Expr
from skipstone.predicate.types import INT
from skipstone.workload.correlation import Codes
from skipstone.workload.predicates import query_predicates
from skipstone.workload.selection import MOST_ADDITIONAL, MOST_Z, Selection, Thresholds, select

ROWS = 500
RNG = np.random.default_rng(3)
DAYS = RNG.integers(0, 1000, ROWS)
VALUES: dict[Expr, Codes] = {
    DAY: DAYS,
    SHIPPED: DAYS + RNG.integers(0, 20, ROWS),
    X: RNG.integers(0, 50, ROWS),
}
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
    values: dict[Expr, Codes] = {column: RNG.permutation(ROWS) for column in columns}
    found = select(query_predicates(log), values, lambda _: None)
    assert [each.expr for each in found.z] == columns[:MOST_Z]
    assert [each.code for each in found.additional] == ["BEYOND_DIMENSIONS"] * 2


def test_a_few_rows_among_many_make_a_candidate_vary() -> None:
    """One row in 20,000 differs: what is so selective is worth most, and the compared rows do not show it."""
    rows = np.arange(60_000)
    log = [query(compare("<", X, n), LATE) for n in range(5)]
    rare = rows % 20_000 == 7
    found = select(query_predicates(log), {X: rare.astype(np.int64)}, lambda _: rare)
    assert [each.expr for each in found.z] == [X]
    assert [each.predicate for each in found.sop] == [LATE]
    assert found.additional == ()


def test_what_a_sample_cannot_tell_is_not_called_constant() -> None:
    log = query_predicates([query(compare("<", X, n), LATE) for n in range(5)])
    same = np.zeros(3_000, np.int64)
    few, all_ = (
        select(log, {X: same}, lambda _: same.astype(np.bool_), table_rows=rows) for rows in (90_000, 3_000)
    )
    assert [(each.expr, each.code) for each in all_.additional] == [(X, "CONSTANT"), (LATE, "CONSTANT")]
    assert {each.code for each in few.additional} == {"CONSTANT_IN_SAMPLE"}
    assert all("3,000 sampled rows of 90,000" in each.sentence for each in few.additional)
    assert all("less than one in 1,000" in each.sentence for each in few.additional)


def test_the_most_frequent_predicates_get_a_bit_and_the_others_a_reason() -> None:
    """Whatever the reason is that rows are not laid out by them."""
    alike, never = ([Column((f"{name}{n}",), INT) for n in range(60)] for name in "ab")
    log = [query(equal(column, 1), weight=400 - n) for n, column in enumerate(alike)]
    log += [query(equal(column, 1), weight=200 - n) for n, column in enumerate(never)]
    half, none = np.arange(ROWS) % 2 == 0, np.zeros(ROWS, np.bool_)
    bits_of = {equal(column, 1): half for column in alike} | {equal(column, 1): none for column in never}
    found = select(query_predicates(log), {}, bits_of.get, Thresholds(gamma=1))
    assert [each.predicate for each in found.sop] == [equal(alike[0], 1)]
    assert [each.code for each in found.additional] == ["CORRELATED"] * 59 + ["CONSTANT"] * 5
    frequencies = [each.frequency for each in found.additional]
    assert frequencies == sorted(frequencies, reverse=True)
    beyond = [each for each in found.dropped if each.code == "BEYOND_STATISTICS"]
    assert [each.expr for each in beyond] == [equal(column, 1) for column in never[5:]]
    assert len(found.additional) == MOST_ADDITIONAL
    assert "64 additional predicates are asked for more often" in beyond[0].sentence
    assert "rows agree on it" in beyond[0].sentence


def test_a_candidate_without_order_becomes_predicates() -> None:
    log = [query(equal(X, n)) for n in range(5)]
    found = select(query_predicates(log), {}, lambda _: np.arange(ROWS) < 5, Thresholds(theta=2, gamma=1))
    assert found.z == ()
    assert [each.code for each in found.dropped] == ["NO_ORDER"]
    assert len(found.sop) == 1
    assert [each.code for each in found.additional] == ["CORRELATED"] * 4

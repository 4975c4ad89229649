"""After a negative decision the loop re-estimates only when something speaks against it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.estimate.tables import NOW, SIZE, K, M, below, catalog, scan, snapshot

from skipstone.catalog.decisions import Decision
from skipstone.estimate.policy import Policy
from skipstone.estimate.reuse_decision import decision_that_holds
from skipstone.estimate.table_state import KnownLayouts, TableState, table_state
from skipstone.estimate.verdict import VerdictCode

POLICY = Policy(layouts=("qdtree",), window_days=30)
TERMS: dict[str, Any] = {"policy": POLICY.to_dict(), "costs": "default coefficients"}


def state(names: str = "abcd", scans: int = 100, other: int = 0, policy: Policy = POLICY) -> TableState:
    """A table without layouts that was asked so many queries, and others about another column."""
    asked = [scan(below(K, 5), count=scans)] + [scan(below(M, 5), count=other)] * bool(other)
    return table_state(snapshot(names), catalog(), asked, policy, KnownLayouts())


def decided(code: str = "DOES_NOT_PAY", **numbers: Any) -> Decision:
    """A decision about that table a day ago, as it is read again."""
    known = {**state().figures.to_dict(), **TERMS, **numbers}
    time = (NOW - timedelta(days=1)).isoformat()
    return Decision(time, False, code, "a sentence", json.loads(json.dumps(known)))


def holds(
    *decisions: Decision, now: TableState | None = None, terms: Mapping[str, Any] | None = None
) -> Decision | None:
    return decision_that_holds(decisions, now or state(), terms or TERMS, NOW)


@pytest.mark.parametrize("code", ["READ_TOO_LITTLE", "NOTHING_TO_GAIN", "DOES_NOT_PAY", "CANNOT_FIT"])
def test_an_estimated_negative_decision_holds_while_nothing_has_changed(code: str) -> None:
    last = decided(code)
    assert holds(decided("PAYS"), last) is last


@pytest.mark.parametrize("code", ["PAYS", "WAITING", "NO_LOG", "REFUSED", "LOST_RACE", "FAILED", "ODD"])
def test_a_decision_that_was_no_estimated_no_is_never_used_again(code: str) -> None:
    assert holds(decided(), decided(code)) is None
    assert holds() is None


def test_every_verdict_is_estimated_or_not() -> None:
    negative = {code.value for code in VerdictCode if code.estimated_negative}
    assert negative == {"READ_TOO_LITTLE", "NOTHING_TO_GAIN", "DOES_NOT_PAY", "CANNOT_FIT"}


def test_appends_by_a_layout_in_between_are_passed_over() -> None:
    last = decided()
    assert holds(last, decided("LAID_OUT"), decided("LAID_OUT")) is last


def test_another_policy_or_other_costs_are_another_question() -> None:
    other = replace(POLICY, margin=2.0).to_dict()
    assert holds(decided(), terms={**TERMS, "policy": other}) is None
    assert holds(decided(), terms={**TERMS, "costs": "refreshed by 1 rewrite"}) is None


@pytest.mark.parametrize(("days", "lasts"), [(2.9, True), (3.1, False)])
def test_it_lasts_a_tenth_of_the_window(days: float, lasts: bool) -> None:
    old = replace(decided(), time=(NOW - timedelta(days=days)).isoformat())
    assert (holds(old) is not None) is lasts


def test_it_lasts_until_new_data_or_the_log_has_grown_by_a_quarter() -> None:
    assert holds(decided(), now=state("abcde")) is not None
    assert holds(decided(), now=state("abcdef")) is None
    assert holds(decided(), now=state(scans=125)) is not None
    assert holds(decided(), now=state(scans=126)) is None
    assert holds(decided(), now=state("ab", scans=10)) is not None, "less of both changes nothing"
    assert holds(decided(unclustered_bytes=4 * SIZE / 1.3)) is None


def test_queries_about_other_things_end_it() -> None:
    assert holds(decided(), now=state(scans=76, other=24)) is not None
    assert holds(decided(), now=state(scans=75, other=25)) is None


@pytest.mark.parametrize(
    "numbers", [{"unclustered_bytes": "many"}, {"logged_scans": None}, {"asked": [1]}, {"asked": {"x": "y"}}]
)
def test_numbers_that_nobody_wrote_are_no_answer(numbers: dict[str, Any]) -> None:
    assert holds(decided(**numbers)) is None


def test_a_decision_of_an_earlier_version_without_figures_is_no_answer() -> None:
    bare = replace(decided(), numbers=dict(TERMS))
    assert holds(bare) is None


def test_while_new_data_is_awaited_a_negative_decision_about_replicas_holds() -> None:
    last = decided("WAITING", replicas={"code": "NOT_WORTH"})
    waiting = replace(POLICY, new_blocks=1e9)
    terms = {**TERMS, "policy": waiting.to_dict()}
    last = replace(last, numbers={**last.numbers, **terms})
    assert holds(last, now=state(policy=waiting), terms=terms) is last
    eager = replace(POLICY, new_blocks=1e-3)
    assert holds(last, now=state(policy=eager), terms=terms) is None, "new data has gathered"

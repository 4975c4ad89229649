"""Replicas under a budget: what is dropped, refreshed or made, and why not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.estimate.tables import inputs, prepared

from skipstone.errors import SkipstoneError
from skipstone.estimate.advice import advise
from skipstone.estimate.decide_replicas import (
    Budget,
    ReplicaCode,
    ReplicaFigures,
    decide_kept,
    decide_new,
    outbid,
)
from skipstone.estimate.estimate_rewrite import REPLICA, FileGroup, after_simulating, first_figures
from skipstone.estimate.policy import Policy
from skipstone.estimate.verdict import Verdict, VerdictCode

MB = 1_000_000
BUDGET = Budget(bytes=250 * MB, table_bytes=100 * MB, runs=2.0, margin=1.5)


def replica(id_: str = "a", automatic: bool = True, **more: Any) -> ReplicaFigures:
    """One of 100 MB that saves 10 s and is up to date."""
    made = ReplicaFigures(id_, automatic, 100 * MB, 0, 10.0, 0.0, 0.0)
    return replace(made, **more)


def stale(id_: str, saved: float, seconds: float = 10.0, **more: Any) -> ReplicaFigures:
    return replica(id_, stale_bytes=40 * MB, refresh_seconds_saved=saved, refresh_seconds=seconds, **more)


def pays(saved: float, cost: float = 1.0) -> Verdict:
    """The estimate of a further replica that saves so much in a run."""
    table = prepared((50,))
    advice = advise(table, ("range",), inputs=inputs())
    known = first_figures(FileGroup(4, 100 * MB, REPLICA), table.entries, Policy(), inputs())
    found = after_simulating(known, advice)
    assert found.figures is not None
    assert found.figures.best is not None
    best = replace(found.figures.best, seconds_saved=saved, rewrite_seconds_estimated=cost)
    return Verdict(VerdictCode.PAYS, "range saves", replace(found.figures, best=best))


def test_replicas_that_are_useful_fresh_and_within_the_budget_stay() -> None:
    assert decide_kept([replica("a"), replica("b")], BUDGET) is None
    assert decide_kept([], BUDGET) is None


def test_over_the_budget_the_one_goes_that_saves_least_for_its_bytes() -> None:
    large = replica("large", bytes=200 * MB, seconds_saved=15.0)
    verdict = decide_kept([replica("a"), large, replica("c", automatic=False, seconds_saved=0.0)], BUDGET)
    assert verdict is not None
    assert (verdict.code, verdict.replica) == (ReplicaCode.DROP_OVER_BUDGET, "large")
    assert "have 400.0 MB and may have 250.0 MB; large saves least for its bytes, 30.0 s" in verdict.sentence


def test_what_people_made_is_never_dropped() -> None:
    by_hand = [replica(id_, automatic=False, seconds_saved=0.0) for id_ in "abc"]
    assert decide_kept(by_hand, BUDGET) is None


def test_a_replica_that_saves_nothing_is_dropped_unless_a_refresh_would_help() -> None:
    verdict = decide_kept([replica("a"), replica("idle", seconds_saved=0.0)], BUDGET)
    assert verdict is not None
    assert (verdict.code, verdict.replica) == (ReplicaCode.DROP_UNUSED, "idle")
    verdict = decide_kept([stale("behind", 20.0, seconds_saved=0.0)], BUDGET)
    assert verdict is not None
    assert verdict.code is ReplicaCode.REFRESH_PAYS


def test_the_refresh_that_gains_most_is_made_if_it_pays() -> None:
    verdict = decide_kept([stale("a", 9.0), stale("b", 12.0)], BUDGET)
    assert verdict is not None
    assert (verdict.code, verdict.replica) == (ReplicaCode.REFRESH_PAYS, "b")
    assert "lacks 40.0 MB" in verdict.sentence
    assert decide_kept([stale("a", 7.0)], BUDGET) is None, "twice 7 s are less than 1.5 times 10 s"
    tight = replace(BUDGET, bytes=120 * MB)
    assert decide_kept([stale("a", 12.0, bytes=60 * MB)], tight) is not None
    assert decide_kept([stale("a", 12.0, bytes=60 * MB)], replace(BUDGET, bytes=90 * MB)) is None


def test_without_room_nothing_is_estimated() -> None:
    assert decide_new([replica("a")], BUDGET) is None
    by_hand = [replica("a", automatic=False), replica("b", automatic=False)]
    verdict = decide_new(by_hand, BUDGET)
    assert verdict is not None
    assert verdict.code is ReplicaCode.NO_ROOM
    assert "may have 110.0 MB, and 50.0 of 250.0 MB are left" in verdict.sentence
    assert not verdict.code.acts
    assert decide_new([replica("a"), by_hand[1]], BUDGET) is None, "one may make room"


def test_after_one_was_dropped_none_is_made_for_a_while() -> None:
    verdict = decide_new([], BUDGET, "no logged query saves anything by it")
    assert verdict is not None
    assert (verdict.code, verdict.code.acts) == (ReplicaCode.DROPPED_LATELY, False)
    assert verdict.sentence.endswith("not long ago: no logged query saves anything by it")


def test_a_further_replica_is_made_if_it_pays() -> None:
    verdict = outbid([replica("a")], BUDGET, pays(5.0))
    assert (verdict.code, verdict.sentence) == (ReplicaCode.REPLICA_PAYS, "range saves")
    no = Verdict(VerdictCode.NOTHING_TO_GAIN, "all is well")
    assert outbid([replica("a")], BUDGET, no).sentence == "all is well"
    assert outbid([replica("a")], BUDGET, no).code is ReplicaCode.NOT_WORTH


def test_one_that_saves_less_makes_room_for_one_that_saves_more() -> None:
    full = [replica("a", seconds_saved=8.0), replica("b")]
    verdict = outbid(full, BUDGET, pays(20.0))
    assert (verdict.code, verdict.replica) == (ReplicaCode.DROP_OUTBID, "a")
    verdict = outbid(full, BUDGET, pays(8.5))
    assert verdict.code is ReplicaCode.NO_ROOM
    assert "only in place of replica a, which saves 16.0 s" in verdict.sentence


def test_runs_count_for_the_horizon() -> None:
    assert Budget.of(5, 7, Policy(horizon_days=60, margin=2.0), 30.0) == Budget(5, 7, 2.0, 2.0)
    assert Budget.of(5, 7, Policy(horizon_days=60), None).runs == 1.0


@pytest.mark.parametrize("text", ["half", "-5%", "5", "0.5", "5 PB", ""])
def test_a_budget_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SkipstoneError, match="must be a share or a size"):
        Policy(replica_budget=text)
    with pytest.raises(SkipstoneError, match="must be a share or a size"):
        Policy(replica_budget=0.5)  # type: ignore[arg-type]

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from tests.workload.logs import X, Y, compare, equal, query

from skipstone.predicate.expr import Expr
from skipstone.predicate.implies import implies
from skipstone.workload.analysis import analyze
from skipstone.workload.augment import augment
from skipstone.workload.folds import split
from skipstone.workload.predicates import query_predicates
from skipstone.workload.validate import CrossValidation, validate

RECURRING = [query(equal(X, n % 4), equal(Y, 100 + n)) for n in range(60)]


def test_every_run_is_judged_once_and_learnt_from_otherwise() -> None:
    sets = query_predicates([query(equal(X, n % 3), weight=float(1 + n)) for n in range(12)])
    folds = split(sets, 5, seed=0)
    assert not folds.in_time
    assert np.allclose(folds.judge.sum(axis=0), sets.weights)
    assert np.allclose(folds.learn + folds.judge, sets.weights)


def test_a_log_with_timestamps_is_judged_by_what_came_later() -> None:
    sets = query_predicates([query(equal(X, hour), hour=hour) for hour in reversed(range(12))])
    folds = split(sets, 3, seed=0)
    assert folds.in_time
    for learn, judge in zip(folds.learn, folds.judge, strict=True):
        hours = [entry.timestamp for entry in sets.entries if entry.timestamp is not None]
        assert len(hours) == 12
        past = [hours[n] for n in range(12) if learn[sets.query_of[n]]]
        future = [hours[n] for n in range(12) if judge[sets.query_of[n]]]
        assert max(past) < min(future)


def test_constants_that_never_recur_are_not_learnt() -> None:
    analysis = analyze(RECURRING)
    assert {feature.predicate for feature in analysis.features} == {equal(X, n) for n in range(4)}
    assert analysis.num_features == 4
    assert analysis.validation is not None
    assert analysis.validation.splits == 5


def test_what_is_given_is_kept_and_the_other_is_chosen() -> None:
    by_threshold = analyze(RECURRING, threshold=7)
    assert by_threshold.threshold == 7
    assert by_threshold.num_features == 4
    by_number = analyze(RECURRING, num_features=2)
    assert by_number.num_features == len(by_number.features) == 2
    assert analyze(RECURRING, threshold=7, num_features=2).validation is None


def test_a_short_log_is_not_split() -> None:
    analysis = analyze([query(equal(X, 1)), query(compare(">", Y, 2))])
    assert analysis.validation is not None
    assert math.isnan(analysis.validation.best.score)
    assert analysis.threshold == 1
    assert len(analysis.features) == 2


def test_a_score_of_the_callers_own_decides() -> None:
    asked = []

    def few(features: Sequence[Expr], held_out: Sequence[tuple[Expr, float]]) -> float:
        asked.append(len(features))
        assert all(implies(filter_, filter_) and weight > 0 for filter_, weight in held_out)
        return -abs(len(features) - 2)

    sets = query_predicates(RECURRING)
    found = validate(sets, augment(sets), how=CrossValidation(score=few))
    assert found.best.num_features == 2
    assert asked

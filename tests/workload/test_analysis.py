from __future__ import annotations

import time

import pytest
from tests.workload.logs import DAY, X, Y, compare, equal, one_of, query, random_log

from skipstone.predicate.expr import Column, Expr
from skipstone.predicate.implies import implies, never_true
from skipstone.predicate.types import INT
from skipstone.workload.analysis import analyze
from skipstone.workload.leave_out import date_filters
from skipstone.workload.predicates import LoggedFilter


def subsumed_weight(predicate: Expr, log: list[LoggedFilter]) -> float:
    usable = [entry for entry in log if not never_true(entry.filter)]
    return sum(entry.weight for entry in usable if implies(entry.filter, predicate))


@pytest.mark.parametrize("seed", range(40))
def test_the_support_of_a_feature_is_what_implication_shows(seed: int) -> None:
    log = random_log(seed, 30)
    analysis = analyze(log, threshold=4, num_features=100)
    assert analysis.features
    for feature in analysis.features:
        assert feature.support == subsumed_weight(feature.predicate, log)
        assert feature.support == sum(log[number].weight for number in feature.queries)
        assert 4 <= feature.gain <= feature.support


@pytest.mark.parametrize("seed", range(5))
def test_every_frequent_set_is_a_feature_or_has_a_reason(seed: int) -> None:
    analysis = analyze(random_log(seed, 25), threshold=5, num_features=3)
    codes = [each.code for each in analysis.dropped]
    frequent = [code for code in codes if code in ("REDUNDANT", "BEYOND_NUM_FEATURES")]
    assert len(analysis.features) + len(frequent) == analysis.frequent_sets
    assert analysis.dropped_count == len(codes)
    assert len(analysis.features) == 3


def test_predicates_of_one_query_are_taken_together() -> None:
    log = [query(compare(">=", X, 5), compare("<=", X, 5)), query(equal(X, 5), equal(Y, 1))]
    (feature,) = analyze(log, threshold=2, num_features=9).features
    assert feature.predicates == (equal(X, 5),)


def test_a_feature_has_no_predicate_that_another_one_entails() -> None:
    log = [query(equal(X, 1), weight=3), query(one_of(X, 1, 2)), query(compare("<", X, 9))]
    best = analyze(log, threshold=1, num_features=9).features[0]
    assert best.predicates == (equal(X, 1),)


def test_a_query_of_forty_conjuncts_is_analysed_at_once() -> None:
    columns = [Column((f"c{n}",), INT) for n in range(40)]
    log = [query(*(equal(column, 1) for column in columns), weight=30)]
    log += [query(*(equal(column, n % 3) for column in columns[n % 7 :]), weight=2) for n in range(20)]
    started = time.process_time()
    analysis = analyze(log, threshold=2, num_features=10)
    assert time.process_time() - started < 5
    assert len(analysis.features[0].predicates) == 40


def test_dates_can_be_left_out() -> None:
    log = [query(compare("<", DAY, 9000 + n), equal(X, 1)) for n in range(10)]
    analysis = analyze(log, threshold=5, num_features=9, leave_out=date_filters)
    assert [feature.predicate for feature in analysis.features] == [equal(X, 1)]
    assert {each.code for each in analysis.dropped} == {"LEFT_OUT"}


def test_a_log_without_usable_filters_gives_no_features() -> None:
    for log in ([], [query(compare(">", X, 3), compare("<", X, 2))]):
        analysis = analyze(log)
        assert analysis.features == ()
        assert analysis.predicates == ()


def test_the_same_log_gives_the_same_features() -> None:
    log = random_log(5, 60)
    first, second = analyze(log, seed=3), analyze(log, seed=3)
    assert first == second
    assert first.features

"""002 by number: example 1 before and after augmentation, its frequent sets, and the features of figure 2."""

from __future__ import annotations

import numpy as np
import pytest
from tests.workload.logs import (
    BOTH,
    EVENT,
    EXAMPLE_1,
    OVER_21,
    OVER_32,
    PRODUCT,
    PUBLISHER,
    REVENUE,
    SHIRTS,
    SHOES,
    compare,
    equal,
    query,
)

from skipstone.predicate.expr import And, Expr
from skipstone.predicate.normalize import normalize_filter
from skipstone.workload.analysis import analyze
from skipstone.workload.augment import augment
from skipstone.workload.eliminate import eliminate
from skipstone.workload.mining import mine
from skipstone.workload.predicates import QueryPredicates, query_predicates


@pytest.fixture
def sets() -> QueryPredicates:
    return query_predicates(EXAMPLE_1)


def named(sets: QueryPredicates, bits: np.ndarray) -> set[Expr]:
    return {sets.predicates[index] for index in np.flatnonzero(bits)}


def test_example_1_as_written(sets: QueryPredicates) -> None:
    assert [named(sets, row) for row in sets.own] == [{SHOES}, {BOTH, OVER_32}, {SHIRTS, OVER_21}]


def test_example_1_augmented(sets: QueryPredicates) -> None:
    assert [named(sets, row) for row in augment(sets).has] == [
        {SHOES, BOTH},
        {BOTH, OVER_32, OVER_21},
        {SHIRTS, OVER_21, BOTH},
    ]


def test_example_1_has_two_closed_sets_that_subsume_two_queries(sets: QueryPredicates) -> None:
    found = mine(augment(sets).has, sets.weights, 2.0)
    by_set = {
        frozenset(sets.predicates[item] for item in items): support
        for items, support in zip(found.sets, found.support, strict=True)
    }
    assert by_set == {frozenset({BOTH, OVER_21}): 2.0, frozenset({BOTH}): 3.0}


def test_example_1_keeps_the_stricter_set_and_eliminates_the_general_one(sets: QueryPredicates) -> None:
    found = mine(augment(sets).has, sets.weights, 2.0)
    elimination = eliminate(found, sets.weights, 2.0)
    assert elimination.gain.tolist() == [2.0, 1.0]
    assert elimination.kept.tolist() == [True, False]


def test_example_1_as_an_analysis_gives_one_feature_and_reasons() -> None:
    analysis = analyze(EXAMPLE_1, threshold=2, num_features=10)
    (feature,) = analysis.features
    assert feature.predicate == normalize_filter(And((BOTH, OVER_21)))
    assert (feature.weight, feature.gain, feature.queries) == (2.0, 2.0, (1, 2))
    assert {(each.predicates, each.code) for each in analysis.dropped} == {
        ((BOTH,), "REDUNDANT"),
        ((SHOES,), "BELOW_THRESHOLD"),
        ((SHIRTS,), "BELOW_THRESHOLD"),
        ((OVER_32,), "BELOW_THRESHOLD"),
    }
    assert all(each.sentence for each in analysis.dropped)


def test_figure_2_features_get_their_weights() -> None:
    buys, jeans = equal(EVENT, "buy"), equal(PRODUCT, "jeans")
    refunds = (equal(PUBLISHER, "google"), compare("<", REVENUE, 0))
    log = [query(buys, weight=40), query(buys, equal(EVENT, "buy"), weight=10), query(jeans, weight=20)]
    log.append(query(*refunds, weight=10))
    analysis = analyze(log, threshold=10, num_features=3)
    assert [(set(feature.predicates), feature.weight) for feature in analysis.features] == [
        ({buys}, 50.0),
        ({jeans}, 20.0),
        (set(refunds), 10.0),
    ]


def test_section_3_3_a_general_predicate_only_counts_queries_that_no_stricter_one_subsumes() -> None:
    log = [query(OVER_32, weight=5), query(OVER_21, weight=3)]
    gains = {f.predicate: (f.gain, f.weight) for f in analyze(log, threshold=3, num_features=9).features}
    assert gains == {OVER_32: (5.0, 5.0), OVER_21: (3.0, 8.0)}
    assert [f.predicate for f in analyze(log, threshold=4, num_features=9).features] == [OVER_32]

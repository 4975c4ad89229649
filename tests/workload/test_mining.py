from __future__ import annotations

import itertools

import numpy as np
import pytest

from skipstone.workload.eliminate import eliminate
from skipstone.workload.mining import mine


def transactions(seed: int, queries: int, items: int, density: float) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    return chance.random((queries, items)) < density, chance.integers(1, 5, queries).astype(float)


def frequent_sets(
    has: np.ndarray, weights: np.ndarray, threshold: float
) -> dict[tuple[int, ...], np.ndarray]:
    every = (
        items
        for size in range(1, has.shape[1] + 1)
        for items in itertools.combinations(range(has.shape[1]), size)
    )
    rows = {items: np.all(has[:, items], axis=1) for items in every}
    return {items: row for items, row in rows.items() if weights[row].sum() >= threshold}


def closure(has: np.ndarray, row: np.ndarray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(has[row].all(axis=0)).tolist())


CASES = [
    (seed, threshold, density)
    for seed in range(12)
    for threshold in (1.0, 3.0, 6.0)
    for density in (0.3, 0.6, 0.9)
]


@pytest.mark.parametrize(("seed", "threshold", "density"), CASES)
def test_the_closed_sets_are_those_of_brute_force(seed: int, threshold: float, density: float) -> None:
    has, weights = transactions(seed, 9, 7, density)
    expected = {closure(has, row) for row in frequent_sets(has, weights, threshold).values()}
    found = mine(has, weights, threshold)
    assert set(found.sets) == expected
    assert len(found.sets) == len(expected)
    assert [weights[has[:, s].all(axis=1)].sum() for s in found.sets] == found.support.tolist()


@pytest.mark.parametrize(("seed", "threshold", "density"), CASES)
def test_elimination_over_all_frequent_sets_keeps_the_same(
    seed: int, threshold: float, density: float
) -> None:
    has, weights = transactions(seed, 9, 7, density)
    found = mine(has, weights, threshold)
    index = {items: number for number, items in enumerate(found.sets)}
    rows = frequent_sets(has, weights, threshold)
    order = sorted(rows, key=lambda items: (index[closure(has, rows[items])], -len(items), items))
    for before, after in itertools.combinations(order, 2):
        assert not set(before) < set(after), "a stricter set comes first"
    covered, kept = np.zeros(len(has), bool), {}
    for items in order:
        gain = weights[rows[items] & ~covered].sum()
        if gain >= threshold:
            kept[items] = gain
            covered |= rows[items]
    elimination = eliminate(found, weights, threshold)
    assert {found.sets[s]: elimination.gain[s] for s in elimination.ranked} == kept
    assert list(elimination.gain[list(elimination.ranked)]) == sorted(kept.values(), reverse=True)


def test_the_subsets_of_a_long_conjunction_are_one_set() -> None:
    has = np.ones((50, 40), np.bool_)
    found = mine(has, np.ones(50), 5.0)
    assert found.sets == (tuple(range(40)),)
    assert found.support.tolist() == [50.0]


def test_long_conjunctions_with_countless_intersections_do_not_explode() -> None:
    has, _ = transactions(3, 60, 80, 0.5)
    found = mine(has, np.ones(60), 2.0, most_sets=2_000)
    assert found.threshold > 2.0
    assert len(found.sets) < 2_500
    singles = {closure(has, has[:, item]) for item in range(80)}
    assert singles <= set(found.sets), "what a single predicate spans is there whatever its support"
    elimination = eliminate(found, np.ones(60), 2.0)
    assert elimination.ranked


def test_nothing_to_mine_gives_nothing() -> None:
    assert mine(np.zeros((0, 0), np.bool_), np.zeros(0), 1.0).sets == ()
    assert mine(np.zeros((3, 2), np.bool_), np.ones(3), 1.0).sets == ()
    assert mine(np.ones((3, 2), np.bool_), np.ones(3), 4.0).sets == ()


def test_a_query_without_weight_does_not_count() -> None:
    has = np.array([[1, 0], [1, 1]], np.bool_)
    found = mine(has, np.array([2.0, 0.0]), 1.0)
    assert found.sets == ((0,),)
    assert found.support.tolist() == [2.0]

"""The order of cluster numbers by a spanning tree (the thesis, section 4.1.2)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from skipstone.layout.ordering import order_vectors


def distances(vectors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    away: np.ndarray = (vectors[:, None, :] != vectors[None, :, :]) @ weights
    return away


def length(tour: np.ndarray, away: np.ndarray) -> float:
    return float(sum(away[one, other] for one, other in itertools.pairwise((*tour, tour[0]))))


def random_vectors(seed: int, count: int, bits: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((count, bits)) < rng.uniform(0.1, 0.6, bits)


@pytest.mark.parametrize("seed", range(20))
def test_the_distance_obeys_the_triangle_inequality(seed: int) -> None:
    away = distances(random_vectors(seed, 12, 6), np.random.default_rng(seed).uniform(0, 9, 6))
    assert (away[:, None, :] <= away[:, :, None] + away[None, :, :] + 1e-9).all()


@pytest.mark.parametrize("seed", range(20))
def test_the_tour_is_at_most_twice_as_long_as_the_best(seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = random_vectors(seed, 7, 8)
    weights = np.ones(8) if seed % 2 else rng.uniform(1, 5, 8)
    tour = order_vectors(vectors, None if seed % 2 else weights)
    assert sorted(tour.tolist()) == list(range(7))
    away = distances(vectors, weights)
    best = min(length(np.array([0, *rest]), away) for rest in itertools.permutations(range(1, 7)))
    assert length(tour, away) <= 2 * best + 1e-9


def zeroes(vectors: np.ndarray, order: np.ndarray, group: int) -> int:
    """Zeroes in the union vectors of consecutive groups, as figure 4.2 counts them."""
    parts = [vectors[order[start : start + group]] for start in range(0, len(order), group)]
    return sum(int((~part.any(axis=0)).sum()) for part in parts)


def test_groups_of_ordered_vectors_have_more_zeroes() -> None:
    """The thesis gained 11 to 74 %; here over many random inputs together."""
    gained = before = 0
    for seed in range(40):
        vectors = np.unique(random_vectors(seed, 200, 11), axis=0)
        vectors = np.random.default_rng(seed).permutation(vectors)
        plain = zeroes(vectors, np.arange(len(vectors)), 4)
        before += plain
        gained += zeroes(vectors, order_vectors(vectors), 4) - plain
    assert gained > 0.11 * before


def test_no_vectors_and_equal_vectors_are_ordered_too() -> None:
    assert order_vectors(np.zeros((0, 3), np.bool_)).tolist() == []
    assert order_vectors(np.ones((3, 2), np.bool_)).tolist() == [0, 1, 2]

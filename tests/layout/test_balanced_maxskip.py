"""The partitioner: the papers' examples, its formula, its bounds, and how near it comes to the optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skipstone.layout.balanced_maxskip import cluster, merge_changes, rows_skipped

# Figure 2(d) and figure 5 of SIGMOD'14: three blocks of two rows, and F3's weight of 10.
FIGURE_UNIONS = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]], bool)
FIGURE_WEIGHTS = (20, 15, 10)

# Section V of the re-implementation on Spark, Table I.
TABLE_VECTORS = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 1, 0]], bool)
TABLE_COUNTS, TABLE_WEIGHTS = (12, 11, 19, 10), (50, 20, 10)


def random_case(seed: int, most: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = int(rng.integers(1, 9))
    vectors = np.unique(rng.random((int(rng.integers(1, most)), features)) < rng.uniform(0.1, 0.6), axis=0)
    return vectors, rng.integers(1, 30, len(vectors)), rng.integers(1, 50, features)


def plain_clustering(vectors: np.ndarray, counts: np.ndarray, weights: np.ndarray, min_size: int) -> float:
    """The procedure of section 4.4 word by word; what is left over joins the block that it hurts least."""
    waiting = [(v, int(c)) for v, c in zip(vectors, counts, strict=True) if c < min_size]
    done = [(v, int(c)) for v, c in zip(vectors, counts, strict=True) if c >= min_size]
    while len(waiting) > 1:
        pairs = list(itertools.combinations(range(len(waiting)), 2))
        best = max(pairs, key=lambda pair: _delta(waiting[pair[0]], waiting[pair[1]], weights))
        (u, m), (v, n) = waiting[best[0]], waiting[best[1]]
        waiting = [each for index, each in enumerate(waiting) if index not in best]
        (done if m + n >= min_size else waiting).append((u | v, m + n))
    if waiting and done:
        host = max(range(len(done)), key=lambda index: _delta(done[index], waiting[0], weights))
        done[host] = (done[host][0] | waiting[0][0], done[host][1] + waiting[0][1])
    else:
        done += waiting
    return rows_skipped(np.array([u for u, _ in done]), [n for _, n in done], weights)


def _delta(one: tuple[np.ndarray, int], other: tuple[np.ndarray, int], weights: np.ndarray) -> float:
    union = one[0] | other[0]
    return sum(
        size * float(weights @ (vector.astype(int) - union.astype(int))) for vector, size in (one, other)
    )


def test_the_first_block_of_figure_2_lets_20_rows_be_skipped() -> None:
    assert rows_skipped(FIGURE_UNIONS[:1], [2], FIGURE_WEIGHTS) == 20


def test_the_blocks_of_figure_5_are_skipped_as_the_paper_says() -> None:
    query = np.array([0, 0, 1], bool)  # F1 and F2 subsume the query
    assert (FIGURE_UNIONS | query).all(axis=1).tolist() == [True, False, False]


def test_vectors_of_figure_2_are_gathered_into_its_blocks() -> None:
    vectors = np.array([[1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 0], [0, 0, 0]], bool)
    found = cluster(vectors, np.ones(6), FIGURE_WEIGHTS, 2)
    assert found.sizes.tolist() == [2, 2, 2]
    assert rows_skipped(found.unions, found.sizes, FIGURE_WEIGHTS) >= rows_skipped(
        FIGURE_UNIONS, [2, 2, 2], FIGURE_WEIGHTS
    )


def test_table_one_of_the_reimplementation_comes_out_by_number() -> None:
    expected = [[0, -340, -380, -600], [-340, 0, -190, -870], [-380, -190, 0, -1330], [-600, -870, -1330, 0]]
    assert merge_changes(TABLE_VECTORS, TABLE_COUNTS, TABLE_WEIGHTS).tolist() == expected


def test_the_first_merge_of_table_one_costs_190() -> None:
    found = cluster(TABLE_VECTORS, TABLE_COUNTS, TABLE_WEIGHTS, 30, 30)
    assert found.block_of[1] == found.block_of[2]
    before = rows_skipped(TABLE_VECTORS, TABLE_COUNTS, TABLE_WEIGHTS)
    after = rows_skipped(TABLE_VECTORS[[0, 1, 3]], (12, 30, 10), TABLE_WEIGHTS)
    assert after - before == -190


@given(st.integers(0, 10_000))
@settings(max_examples=100, deadline=None)
def test_the_formula_is_the_change_of_the_objective(seed: int) -> None:
    vectors, counts, weights = random_case(seed, 12)
    changes = merge_changes(vectors, counts, weights)
    for i, j in itertools.combinations(range(len(vectors)), 2):
        apart = rows_skipped(vectors[[i, j]], counts[[i, j]], weights)
        together = rows_skipped((vectors[i] | vectors[j])[None], [counts[i] + counts[j]], weights)
        assert changes[i, j] == changes[j, i] == together - apart


@given(st.integers(0, 10_000))
@settings(max_examples=100, deadline=None)
def test_lemma_1_no_merge_ever_gains(seed: int) -> None:
    assert (merge_changes(*random_case(seed)) <= 0).all()


@given(st.integers(0, 10_000), st.integers(2, 60))
@settings(max_examples=200, deadline=None)
def test_caching_partners_makes_the_same_merges(seed: int, min_size: int) -> None:
    """Uneven weights leave hardly any ties, so the objective is that of the plain procedure."""
    vectors, counts, _ = random_case(seed, 25)
    weights = np.random.default_rng(seed).random((vectors.shape[1],)) + 0.5
    found = cluster(vectors, counts, weights, min_size, max_size=10**9)
    plain = plain_clustering(vectors, counts, weights, min_size)
    assert rows_skipped(found.unions, found.sizes, weights) == pytest.approx(plain)


@given(st.integers(0, 10_000), st.integers(2, 80))
@settings(max_examples=200, deadline=None)
def test_blocks_lie_within_the_bounds_and_hold_every_row(seed: int, min_size: int) -> None:
    vectors, counts, weights = random_case(seed)
    found = cluster(vectors, counts, weights, min_size)
    assert found.sizes.sum() == pytest.approx(counts.sum())
    assert (found.sizes < 2 * min_size).all()
    small = np.flatnonzero(found.sizes < min_size)
    assert len(small) <= 1
    for vector, (first, ways) in enumerate(zip(found.block_of, found.ways, strict=True)):
        for block in range(first, first + ways):
            assert (found.unions[block] >= vectors[vector]).all()


@given(st.integers(0, 10_000), st.integers(2, 80), st.floats(1.0, 1.9))
@settings(max_examples=100, deadline=None)
def test_no_block_exceeds_a_maximum_that_is_given(seed: int, min_size: int, factor: float) -> None:
    vectors, counts, weights = random_case(seed)
    found = cluster(vectors, counts, weights, min_size, factor * min_size)
    assert (found.sizes <= factor * min_size + 1e-9).all()
    assert found.sizes.sum() == pytest.approx(counts.sum())


def test_a_vector_of_more_rows_than_a_block_may_have_is_split() -> None:
    found = cluster(np.array([[1, 0], [0, 1]], bool), [100, 10], [1, 1], 10)
    assert found.ways.tolist() == [6, 1]
    assert found.block_of.tolist() == [0, 6]
    assert found.sizes.tolist() == [100 / 6] * 6 + [10]


def test_a_block_that_is_left_over_joins_where_it_hurts_least() -> None:
    vectors = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1]], bool)
    found = cluster(vectors, [10, 10, 3], [5, 5, 1], 10)
    assert found.block_of.tolist() == [0, 1, 1]


def test_a_block_that_is_left_over_stands_alone_where_none_has_room() -> None:
    found = cluster(np.array([[1, 0], [0, 1]], bool), [19, 3], [1, 1], 10)
    assert found.sizes.tolist() == [19, 3]


def test_no_vectors_give_no_blocks() -> None:
    found = cluster(np.zeros((0, 3), bool), [], [1, 1, 1], 10)
    assert len(found.sizes) == len(found.block_of) == 0


def test_the_same_input_gives_the_same_blocks() -> None:
    rng = np.random.default_rng(5)
    vectors = np.unique(rng.random((600, 12)) < 0.3, axis=0)
    counts, weights = np.ones(len(vectors)), np.ones(12)
    first, second = (cluster(vectors, counts, weights, 20) for _ in range(2))
    assert first.block_of.tolist() == second.block_of.tolist()


def best_of_all(vectors: np.ndarray, weights: np.ndarray, size: int) -> float:
    """Problem 1 by brute force: blocks of exactly ``size`` vectors of one row each."""

    def search(left: frozenset[int]) -> float:
        if not left:
            return 0.0
        one = min(left)
        return max(
            rows_skipped(np.any(vectors[[one, *others]], axis=0)[None], [size], weights)
            + search(left - {one, *others})
            for others in itertools.combinations(sorted(left - {one}), size - 1)
        )

    return search(frozenset(range(len(vectors))))


def test_it_comes_near_to_the_optimum_on_small_inputs() -> None:
    ratios = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        vectors = rng.random((8, 6)) < 0.3
        weights = rng.integers(1, 20, 6)
        found = cluster(vectors, np.ones(8), weights, 2)
        optimum = best_of_all(vectors, weights, 2)
        ratios.append(rows_skipped(found.unions, found.sizes, weights) / optimum if optimum else 1.0)
    assert np.mean(ratios) >= 0.95
    assert np.min(ratios) >= 0.75

"""Column groups by access alone: HillClimb and Hyrise (GSOP, section 7.5)."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skipstone.layout.known_groupings import MOST_TOGETHER, access_cost, hill_climb, hyrise, read_alike

SEEDS = st.integers(0, 2**32 - 1)


def accesses(seed: int, most_columns: int = 9) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    columns = random.random((random.integers(1, 7), random.integers(1, most_columns))) < 0.4
    return columns, random.integers(1, 5, len(columns)).astype(np.float64)


def test_a_query_reads_all_of_its_groups_and_ids_of_several() -> None:
    columns = np.array([[True, True, False]])
    groups = [np.array([True, False, False]), np.array([False, True, True])]
    assert access_cost(columns, np.array([3.0]), groups) == 3 * (3 + 2)
    assert access_cost(columns, np.array([3.0]), [np.ones(3, np.bool_)]) == 3 * 3


@given(SEEDS)
def test_each_column_is_in_one_group_and_neither_end_costs_less(seed: int) -> None:
    columns, weights = accesses(seed)
    one, single = (np.ones(columns.shape[1], np.bool_),), tuple(np.eye(columns.shape[1], dtype=np.bool_))
    for groups in (hill_climb(columns, weights), hyrise(columns, weights)):
        assert np.array(groups).sum(axis=0).tolist() == [1] * columns.shape[1]
        assert access_cost(columns, weights, groups) <= access_cost(columns, weights, single)
    assert access_cost(columns, weights, hyrise(columns, weights)) <= access_cost(columns, weights, one) or (
        len(read_alike(columns)) > MOST_TOGETHER
    ), "of few primary partitions all groupings are tried"


def test_two_columns_that_are_mostly_read_with_others_stay_alone() -> None:
    # As with l_extendedprice and l_discount in TPC-H: always together, each time with other columns.
    columns = np.zeros((4, 10), np.bool_)
    columns[:, :2] = True
    for query in range(4):
        columns[query, 2 + 2 * query : 4 + 2 * query] = True
    pairs = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    for groups in (hill_climb(columns, np.ones(4)), hyrise(columns, np.ones(4))):
        assert sorted(np.flatnonzero(group).tolist() for group in groups) == pairs

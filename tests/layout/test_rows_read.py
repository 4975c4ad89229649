"""Rows that queries read of a column group (GSOP, section 4.3)."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from tests.layout.access_cases import access, accesses, reads

from skipstone.layout.column_access import ColumnAccess
from skipstone.layout.local_features import local_features
from skipstone.layout.rows_read import block_group, computed_rows, estimated_rows, selected_rows


def test_the_estimate_counts_whole_blocks_of_one_vector() -> None:
    # Of 25 rows with the feature and 38 without, in blocks of 10, at least 3 blocks can be skipped.
    table = ColumnAccess(
        vectors=np.array([[True], [False]]),
        counts=np.array([25.0, 38.0]),
        columns=np.array([[True], [True]]),
        features=np.array([[True], [False]]),
        weights=np.ones(2),
        block_rows=10,
    )
    group = np.array([True])
    assert estimated_rows(table, group).tolist() == [63 - 30, 63]
    assert selected_rows(table, group).tolist() == [25, 63]
    assert computed_rows(table, group).tolist() == [25, 63]


def test_blocks_of_a_group_follow_its_own_queries() -> None:
    # Example 1: blocks of two rows; A and C are asked about more often than B and D.
    asked = access(("AC", (0,), 10), ("AC", (2,), 10), ("BD", (1, 3), 1))
    assert computed_rows(asked, reads("ABCD"))[2] == 4, "t1 t3 | t2 t4: neither can be skipped"
    assert computed_rows(asked, reads("BD"))[2] == 2, "t1 t4 | t2 t3: one can"
    assert computed_rows(asked, reads("B"))[2] == computed_rows(asked, reads("D"))[2] == 2


@given(accesses())
def test_the_estimate_is_an_upper_bound_and_selectivity_a_lower_one(some: ColumnAccess) -> None:
    group = np.arange(some.columns.shape[1]) % 2 == 0
    computed = computed_rows(some, group)
    assert (selected_rows(some, group) <= computed + 1e-6).all()
    assert (computed <= estimated_rows(some, group) + 1e-6).all()


@given(accesses())
def test_blocks_hold_all_rows_and_their_unions_all_bits(some: ColumnAccess) -> None:
    group = np.ones(some.columns.shape[1], np.bool_)
    chosen = local_features(some, group)
    number, blocks = block_group(some, group, chosen)
    assert np.isclose(blocks.sizes.sum(), some.rows)
    for vector, local in enumerate(number):
        for block in range(blocks.block_of[local], blocks.block_of[local] + blocks.ways[local]):
            assert (blocks.unions[block] >= some.vectors[vector, chosen]).all()

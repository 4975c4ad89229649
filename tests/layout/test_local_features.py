"""Local features (GSOP, section 5): candidates by co-occurrence, weights by group, number by vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from tests.layout.access_cases import access, accesses, reads

from skipstone.layout.column_access import ColumnAccess
from skipstone.layout.local_features import local_features, ranked_features

# Example 2: Q1 reads A and C where A = 'm', Q2 B and D where B < 0, Q3 B and C where C LIKE 'y%'.
EXAMPLE_2 = access(("AC", (0,), 1), ("BD", (1,), 1), ("BC", (2,), 1))


def test_a_feature_is_a_candidate_for_all_columns_that_its_queries_read() -> None:
    assert ranked_features(EXAMPLE_2, reads("A")).tolist() == [0]
    assert ranked_features(EXAMPLE_2, reads("C")).tolist() == [0, 2]
    assert ranked_features(EXAMPLE_2, reads("D")).tolist() == [1], "D has no filter of its own"


def test_features_are_ranked_by_the_queries_that_read_the_group() -> None:
    often = access(("AC", (0,), 1), ("BC", (2,), 5), ("BD", (1,), 9))
    assert ranked_features(often, reads("C")).tolist() == [2, 0], "what only other groups ask does not count"
    assert ranked_features(often, reads("ABCD")).tolist() == [1, 2, 0]
    assert ranked_features(often, np.zeros(4, np.bool_)).tolist() == []


def test_a_feature_that_most_rows_have_comes_after_one_that_lets_skip_more() -> None:
    asked = access(("AC", (0, 2), 1))
    mostly = replace(asked, vectors=np.array([[1, 0, 0, 0], [1, 0, 1, 0]], np.bool_), counts=np.ones(2))
    assert ranked_features(mostly, reads("A")).tolist() == [2, 0], "all rows have the first one"
    often = replace(mostly, features=np.array([[1, 0, 0, 0]] * 9 + [[0, 0, 1, 0]], np.bool_))
    often = replace(often, columns=np.repeat(asked.columns, 10, axis=0), weights=np.ones(10))
    assert ranked_features(often, reads("A")).tolist() == [2, 0], "nine queries skip nothing by it"


def test_as_many_features_as_leave_few_enough_vectors() -> None:
    # Of 8 independent features, k have 2 to the power of k vectors.
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1 == 1
    wide = ColumnAccess(
        bits, np.ones(256), np.ones((8, 1), np.bool_), np.eye(8) == 1, np.arange(8.0, 0, -1), 10
    )
    everything = np.ones(1, np.bool_)
    for most, expected in ((3_000, 8), (256, 8), (255, 7), (4, 2), (1, 1)):
        assert local_features(replace(wide, most_vectors=most), everything).tolist() == list(range(expected))


@given(accesses())
def test_projected_vectors_are_numbered_by_their_bits(some: ColumnAccess) -> None:
    chosen = np.flatnonzero(np.arange(some.vectors.shape[1]) % 2 == 0)
    number, first = some.projected(chosen)
    kept = some.vectors[:, chosen]
    same = (kept[:, None, :] == kept[None, :, :]).all(axis=2)
    assert ((number[:, None] == number[None, :]) == same).all()
    assert number[first].tolist() == list(range(len(first)))


def test_vectors_of_several_words_are_projected_exactly() -> None:
    random = np.random.default_rng(5)
    bits = random.random((200, 150)) < 0.5
    bits[100:] = bits[:100]
    bits[150:, 140] ^= True
    wide = ColumnAccess(bits, np.ones(200), np.ones((1, 1), np.bool_), np.ones((1, 150)) == 1, np.ones(1), 10)
    assert len(wide.projected(np.arange(150))[1]) == 150
    assert len(wide.projected(np.arange(140))[1]) == 100

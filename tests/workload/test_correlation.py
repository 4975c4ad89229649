"""Sort index, mean-square contingency, and the correlation graph of the thesis, section 4.2.2 and 4.3."""

from __future__ import annotations

import numpy as np
import pytest

from skipstone.workload.correlation import (
    contingencies,
    mean_square_contingency,
    same_order,
    sort_index,
    traverse,
)


def plain_index(by: np.ndarray, of: np.ndarray) -> float:
    """All pairs of rows, one by one."""
    rows = [(x, y) for x, y in zip(by.tolist(), of.tolist(), strict=True) if y >= 0]
    agree, pairs = 0.0, 0
    for index, (x, y) in enumerate(rows):
        for other_x, other_y in rows[index + 1 :]:
            if y != other_y:
                pairs += 1
                agree += 0.5 if x == other_x else (x < other_x) == (y < other_y)
    return agree / pairs if pairs else 0.5


def test_the_example_of_the_thesis() -> None:
    """A = [1, 3, 5, 2, 4]: 4 + 2 + 0 + 1 of 10 pairs ascend."""
    assert sort_index(np.arange(5), np.array([1, 3, 5, 2, 4])) == 0.7


@pytest.mark.parametrize(("values", "index"), [(range(50), 1.0), (range(50, 0, -1), 0.0)])
def test_sorted_columns_have_an_extreme_index(values: range, index: float) -> None:
    assert sort_index(np.arange(50), np.array(values)) == index


@pytest.mark.parametrize("seed", range(60))
def test_the_index_is_that_of_all_pairs(seed: int) -> None:
    """With ties and NULLs in both columns, and rows in any order."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 70))
    by, of = (rng.integers(-1, int(rng.integers(1, 40)), size) for _ in range(2))
    assert sort_index(by, of) == pytest.approx(plain_index(by, of))


@pytest.mark.parametrize("seed", range(20))
def test_without_ties_the_index_is_the_formula_of_the_thesis(seed: int) -> None:
    rng = np.random.default_rng(seed)
    by, of = rng.permutation(40), rng.permutation(40)
    laid = of[np.argsort(by)]
    k = sum(int((laid[index + 1 :] > laid[index]).sum()) for index in range(40))
    assert sort_index(by, of) == pytest.approx(k / (40 * 39 / 2))


def test_a_constant_column_is_correlated_with_nothing_even_if_rows_come_in_order() -> None:
    ordered, constant = np.arange(200), np.zeros(200, np.int64)
    assert sort_index(ordered, constant) == sort_index(constant, ordered) == 0.5
    assert not same_order([ordered, constant]).any()


def test_a_coarse_column_is_sorted_by_a_fine_one_and_not_the_other_way_round() -> None:
    day = np.arange(700)
    year = day // 350
    assert sort_index(day, year) == 1.0
    assert sort_index(year, day) < 0.9
    assert not same_order([day, year]).any()


def test_a_date_and_one_some_weeks_later_share_their_order() -> None:
    rng = np.random.default_rng(1)
    ordered = rng.integers(0, 2000, 4000)
    shipped = ordered + rng.integers(1, 120, 4000)
    unrelated = rng.integers(0, 2000, 4000)
    assert same_order([ordered, shipped, -shipped + 3000, unrelated]).tolist() == [
        [False, True, True, False],
        [True, False, True, False],
        [True, True, False, False],
        [False, False, False, False],
    ]


def test_parity_is_determined_by_the_number_but_not_sorted_by_it() -> None:
    """Table 4.3: the mean-square contingency is 1, and yet blocks would not skip on parity."""
    number = np.arange(1, 101)
    parity = number % 2
    assert mean_square_contingency(number, parity) == pytest.approx(1.0)
    assert abs(sort_index(number, parity) - 0.5) < 0.1
    assert not same_order([number, parity]).any()


@pytest.mark.parametrize("seed", range(20))
def test_all_pairs_of_predicates_at_once_agree_with_the_general_formula(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bits = rng.random((200, 5)) < rng.uniform(0, 1, 5)
    bits[:, 1] = ~bits[:, 0]
    bits[:, 2] = True
    found = contingencies(bits)
    for one in range(5):
        for other in range(5):
            expected = mean_square_contingency(bits[:, one].astype(int), bits[:, other].astype(int))
            assert found[one, other] == pytest.approx(expected)
    assert found[0, 1] == pytest.approx(1.0)
    assert not found[2].any()


def graph(*edges: tuple[int, int]) -> np.ndarray:
    """Vertices from 1 on, as in the figures; vertex 0 is not used."""
    found = np.zeros((7, 7), np.bool_)
    for one, other in edges:
        found[one, other] = found[other, one] = True
    return found


FIGURE = graph((1, 2), (1, 3), (2, 3), (2, 4), (4, 5), (4, 6))


def test_the_traversal_of_figure_4_5() -> None:
    """1, then 4; 2 stays in play until 4 takes its last edge."""
    found = traverse(FIGURE[1:, 1:], [9, 1, 2, 8, 3, 4], 4)
    assert [vertex + 1 for vertex in found.primary] == [1, 4]
    assert {vertex + 1: by + 1 for vertex, by in found.correlated.items()} == {3: 1, 2: 4, 5: 4, 6: 4}
    assert found.rest == ()


def test_vertices_beyond_the_limit_are_left_over() -> None:
    found = traverse(FIGURE[1:, 1:], [9, 1, 2, 8, 3, 4], 1)
    assert (found.primary, found.correlated, found.rest) == ((0,), {2: 0}, (1, 3, 4, 5))
    alone = traverse(np.zeros((3, 3), np.bool_), [1, 3, 2], 2)
    assert (alone.primary, alone.correlated, alone.rest) == ((1, 2), {}, (0,))


@pytest.mark.parametrize("seed", range(30))
def test_every_vertex_ends_in_one_list_and_correlated_ones_beside_their_primary(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.triu(rng.random((9, 9)) < 0.3, 1)
    edges = edges | edges.T
    found = traverse(edges, rng.random(9).tolist(), int(rng.integers(1, 9)))
    assert sorted((*found.primary, *found.correlated, *found.rest)) == list(range(9))
    for vertex, by in found.correlated.items():
        assert by in found.primary
        assert edges[vertex, by]

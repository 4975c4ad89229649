"""Column groups (GSOP, section 4): the objective, the paper's examples, and the search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.layout.access_cases import access, accesses, reads

from skipstone.layout.column_access import Bits, ColumnAccess, Floats
from skipstone.layout.column_grouping import (
    GroupingCost,
    group_columns,
    one_group,
    single_columns,
    workload_cost,
)
from skipstone.layout.reconstruction import MeasuredJoin, sort_merge
from skipstone.layout.rows_read import computed_rows

IDS_ONLY = GroupingCost(reconstruction=lambda rows: rows)


def test_the_three_layouts_of_example_1() -> None:
    # Of the three queries only that of the example counts; the others decide how rows are blocked.
    asked = access(("AC", (0,), 10), ("AC", (2,), 10), ("BD", (1, 3), 1))

    def cost(groups: tuple[Bits, ...]) -> float:
        others = access(("AC", (0,), 10), ("AC", (2,), 10), ("BD", (1, 3), 0))
        rows = {group.tobytes(): computed_rows(asked, group) for group in groups}
        given_rows = GroupingCost(
            computed=lambda _, group: rows[group.tobytes()], reconstruction=IDS_ONLY.reconstruction
        )
        return workload_cost(asked, groups, given_rows) - workload_cost(others, groups, given_rows)

    assert cost(one_group(asked)) == 8, "both blocks, two columns"
    assert cost(single_columns(asked)) == 4 + 4, "one block of each column, and as many tuple ids"
    assert cost((reads("AC"), reads("BD"))) == 4, "one block, and nothing to put together"


def test_columns_whose_filters_agree_skip_together_as_in_example_2() -> None:
    # A = 'm' and C LIKE 'y%' hold for the same rows, so one blocking of A and C serves both; B < 0 holds for
    # other rows, so B and C in one group conflict. Column access alone would weigh AC, BD and BC the same.
    example = access(("AC", (0,), 1), ("BD", (1,), 1), ("BC", (2,), 1))
    assert computed_rows(example, reads("AC"))[[0, 2]].tolist() == [2, 2]
    assert sorted(computed_rows(example, reads("BC"))[[1, 2]].tolist()) == [2, 4]
    apart = workload_cost(example, (reads("AC"), reads("BD")), IDS_ONLY)
    assert apart < workload_cost(example, (reads("BC"), reads("A"), reads("D")), IDS_ONLY)


def test_a_query_of_one_group_reads_no_tuple_ids() -> None:
    one = access(("AB", (0,), 3))
    assert workload_cost(one, (reads("AB"), reads("CD")), GroupingCost()) == 3 * 2 * 2
    apart = workload_cost(one, (reads("A"), reads("B"), reads("CD")), GroupingCost())
    assert apart == 3 * (2 * 2 + 2 * sort_merge(np.array([2.0]))[0])


def test_where_joins_are_dear_one_group_is_best_and_where_they_are_free_single_columns_are() -> None:
    conflict = access(("AB", (0,), 1), ("BC", (1,), 1), ("CD", (2,), 1), ("AD", (3,), 1))
    dear = GroupingCost(reconstruction=MeasuredJoin(1e-8, 1e-5))
    assert len(group_columns(conflict, dear).groups) == 1
    free = GroupingCost(reconstruction=MeasuredJoin(1e-8, 1e-12))
    assert group_columns(conflict, free).cost <= workload_cost(conflict, single_columns(conflict), free)


def test_columns_that_the_same_queries_read_stay_together() -> None:
    read = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0]], np.bool_)
    bits = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], np.bool_)
    table = ColumnAccess(bits, np.full(4, 100.0), read, np.eye(2) == 1, np.ones(2), 200)
    found = group_columns(table).columns()
    assert len(found) == 2, "the column that nobody reads costs nothing in either"
    assert {tuple(column for column in group if column < 4) for group in found} == {(0, 1), (2, 3)}
    assert sorted(column for group in found for column in group) == [0, 1, 2, 3, 4]


def test_what_no_query_reads_together_is_merged_last() -> None:
    # One query reads the first three columns, another the last; others, which hardly count, read one each.
    read = np.concatenate([[[1, 1, 1, 0], [0, 0, 0, 1]], np.eye(4)[:3]]) == 1
    weights = np.array([1, 1, 0.001, 0.001, 0.001])
    table = ColumnAccess(np.eye(5) == 1, np.full(5, 20.0), read, np.eye(5) == 1, weights, 10)

    def rows(access: ColumnAccess, group: Bits) -> Floats:
        together = group[:3].sum()
        read = 100.0 if group[3] and together > 1 else 12.0 if together == 2 else 10.0
        return np.full(len(access.columns), read)

    found = group_columns(table, GroupingCost(rows, rows, MeasuredJoin(1.0, 0.4)))
    # Merging the last column with any other changes nothing at first, and costs much later on.
    assert found.columns() == ((0, 1, 2), (3,))


def test_of_states_that_cost_the_same_the_one_with_fewer_groups_is_taken() -> None:
    read = np.array([[1, 1, 0, 0], [0, 0, 1, 1]], np.bool_)
    bits = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], np.bool_)
    roomy = ColumnAccess(bits, np.full(4, 100.0), read, np.eye(2) == 1, np.ones(2), 50)
    assert group_columns(roomy).columns() == ((0, 1, 2, 3),), "each vector has blocks of its own"


@pytest.mark.parametrize("reconstruction", [sort_merge, MeasuredJoin(1e-8, 1e-8)])
@given(some=accesses())
def test_never_worse_than_either_end_of_the_spectrum(some: ColumnAccess, reconstruction: object) -> None:
    assert callable(reconstruction)
    cost = GroupingCost(reconstruction=reconstruction)
    found = group_columns(some, cost)
    assert found.cost <= workload_cost(some, one_group(some), cost) * (1 + 1e-9)
    assert found.cost <= workload_cost(some, single_columns(some), cost) * (1 + 1e-9)
    assert np.isclose(found.cost, workload_cost(some, found.groups, cost))
    assert np.array(found.groups).sum(axis=0).tolist() == [1] * some.columns.shape[1], "each in one group"


@given(some=accesses())
def test_what_is_kept_between_merges_is_what_evaluating_all_pairs_would_find(some: ColumnAccess) -> None:
    # Rows that grow with the group, as the search assumes and few features ensure.
    def rows(access: ColumnAccess, group: Bits) -> Floats:
        return np.asarray(np.full(len(access.columns), 10.0) * (1 + group.sum()) + access.columns @ group)

    cost = GroupingCost(rows, rows, MeasuredJoin(1.0, 3.0))
    merged = some.merged()
    best = np.inf
    groups = group_columns_start(merged)
    while True:
        best = min(best, workload_cost(merged, tuple(groups), cost))
        pairs = [(i, j) for i in range(len(groups)) for j in range(i + 1, len(groups))]
        if not pairs:
            break

        merges = [together(groups, i, j) for i, j in pairs]
        groups = min(merges, key=lambda found: workload_cost(merged, tuple(found), cost))
    assert group_columns(some, cost).cost <= best * (1 + 1e-9) or ties(merged, cost)


def together(groups: list[Bits], one: int, other: int) -> list[Bits]:
    """The groups, with two of them merged."""
    rest = [group for index, group in enumerate(groups) if index not in {one, other}]
    return [groups[one] | groups[other], *rest]


def group_columns_start(merged: ColumnAccess) -> list[Bits]:
    """Columns that the same queries read, together."""
    kinds = {merged.columns[:, column].tobytes() for column in range(merged.columns.shape[1])}
    return [
        np.array([merged.columns[:, other].tobytes() == kind for other in range(merged.columns.shape[1])])
        for kind in sorted(kinds)
    ]


def ties(merged: ColumnAccess, cost: GroupingCost) -> bool:
    """Whether two first merges cost the same, so that searches may go different ways."""
    groups = group_columns_start(merged)
    found = [
        workload_cost(merged, tuple(together(groups, i, j)), cost)
        for i in range(len(groups))
        for j in range(i + 1, len(groups))
    ]
    return len({round(value, 6) for value in found}) < len(found)

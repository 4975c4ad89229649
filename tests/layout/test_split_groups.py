"""Groups that are parted again: only where the cost falls, and where merging pair by pair went too far."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from tests.layout.access_cases import accesses

from skipstone.layout.column_access import Bits, ColumnAccess, Floats
from skipstone.layout.column_grouping import GroupingCost, one_group, workload_cost
from skipstone.layout.reconstruction import sort_merge
from skipstone.layout.split_groups import Splitting, cost_of


def test_columns_of_queries_that_conflict_with_the_others_are_split_off() -> None:
    access = three_kinds()

    def rows(access: ColumnAccess, group: Bits) -> Floats:
        # All is well but where the columns of the first kind meet others.
        conflict = group[:2].any() and group[2:].any()
        return np.full(len(access.columns), 90.0 if conflict else 10.0)

    found, cost = Splitting(access, rows, rows, sort_merge).split(one_group(access))
    assert sorted(np.flatnonzero(group).tolist() for group in found) == [[0, 1], [2, 3, 4]]
    assert cost == cost_of(access, list(found), [rows(access, group) for group in found], sort_merge)
    assert cost == (2 + 2 + 2) * 10.0, "the kinds of two columns each, and nothing to put together"


def test_what_saves_next_to_nothing_is_not_split() -> None:
    access = three_kinds()

    def rows(access: ColumnAccess, group: Bits) -> Floats:
        return np.full(len(access.columns), 10.0 + 0.001 * group.sum())

    found, _ = Splitting(access, rows, rows, sort_merge).split(one_group(access))
    assert len(found) == 1


def three_kinds() -> ColumnAccess:
    """Queries on columns 0 and 1, on 2 and 3, and on 3 and 4."""
    columns = np.zeros((3, 5), np.bool_)
    for query, read in enumerate(((0, 1), (2, 3), (3, 4))):
        columns[query, list(read)] = True
    bits = np.eye(3, dtype=np.bool_)
    return ColumnAccess(bits, np.full(3, 40.0), columns, bits, np.ones(3), 10.0)


@given(some=accesses())
def test_the_cost_only_falls_and_each_column_stays_in_one_group(some: ColumnAccess) -> None:
    cost = GroupingCost()
    whole = one_group(some)
    splitting = Splitting(some, cost.estimated, cost.computed, cost.reconstruction)
    found, least = splitting.split(whole)
    assert least <= workload_cost(some, whole, cost) * (1 + 1e-9)
    assert np.isclose(least, workload_cost(some, found, cost))
    assert np.array(found).sum(axis=0).tolist() == [1] * some.columns.shape[1]

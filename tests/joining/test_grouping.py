"""Groups of blocks: the figures of the hyper-partitioning thesis, and what always holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skipstone.joining.around_larger import around_larger
from skipstone.joining.by_ranges import by_ranges, split
from skipstone.joining.choose import Chosen, Limits, Refused, choose
from skipstone.joining.groups import Group, Grouping, Tables, is_join
from skipstone.joining.halving import halving
from skipstone.joining.spans import NULL_KEY, Keys, Spans, spans_of

KEEPS = {"inner": (False, False), "left": (True, False), "right": (False, True), "full": (True, True)}
Ends = Sequence[tuple[int, int]]


def spans(ends: Ends) -> Spans:
    low, high = np.array(ends, np.int64).reshape(-1, 2).T
    return Spans(low, high, np.ones(len(low), np.int64))


# Figure 4.2a: eight blocks of the larger table and four of the smaller one, over the keys 0 to 15.
LARGER: Ends = [(2, 13), (5, 10), (0, 3), (1, 6), (4, 7), (8, 11), (9, 14), (12, 15)]
SMALLER: Ends = [(0, 4), (3, 7), (8, 12), (11, 15)]
FIGURE = Tables(spans(LARGER), spans(SMALLER), 16)


def sizes(grouping: Grouping) -> tuple[int, int]:
    """Blocks in all groups, and in the largest."""
    return int(grouping.cost.sum()), int(grouping.cost.max())


def test_figure_4_2_two_groups_share_two_blocks_of_the_larger_table() -> None:
    grouping = by_ranges(FIGURE, 2)
    assert is_join(grouping)
    assert sizes(grouping) == (14, 7)
    first, second = grouping.groups
    assert set(first.left) & set(second.left) == {0, 1}
    assert (first.right.tolist(), second.right.tolist()) == ([0, 1], [2, 3])


def test_figure_4_3a_more_ranges_repeat_more() -> None:
    grouping = by_ranges(FIGURE, 4)
    assert is_join(grouping)
    assert len(grouping.groups) == 4
    assert sizes(grouping)[0] > sizes(split(by_ranges(FIGURE, 2), 5))[0]


def test_figure_4_3b_splitting_reads_more_in_smaller_groups() -> None:
    grouping = split(by_ranges(FIGURE, 2), 5)
    assert is_join(grouping)
    assert len(grouping.groups) == 4
    assert sizes(grouping) == (18, 5)


def test_figure_4_3c_the_larger_table_is_read_once_and_wide_blocks_meet_the_whole_smaller_one() -> None:
    grouping = around_larger(FIGURE, 4)
    assert is_join(grouping)
    assert grouping.times_read(0) == 1.0
    assert not grouping.needs_ranges(0)
    assert grouping.groups[0].right.tolist() == [0, 1, 2, 3]


def test_halving_stops_where_a_cut_would_repeat_too_much_or_keeps_the_spanning_blocks_here() -> None:
    grouping = halving(FIGURE, 7)
    assert is_join(grouping)
    assert sizes(grouping)[0] <= 18
    disjoint = Tables(spans([(i, i) for i in range(64)]), spans([(i, i) for i in range(64)]), 64)
    fine = halving(disjoint, 8)
    assert fine.times_read(0) == fine.times_read(1) == 1.0
    assert int(fine.cost.max()) <= 8
    assert not fine.needs_ranges(0)


blocks = st.lists(
    st.tuples(st.integers(-1, 30), st.integers(0, 12), st.integers(1, 9)), min_size=1, max_size=25
)


@st.composite
def tables(draw: st.DrawFn) -> Tables:
    """Blocks of any spans, some of them with NULL keys where these are kept, and some without any key."""
    keeps = KEEPS[draw(st.sampled_from(sorted(KEEPS)))]
    sides = []
    for kept in keeps:
        low, width, weight = np.array(draw(blocks), np.int64).T
        high = np.where(width == 12, low - 1, np.minimum(low + width, 30))
        sides.append(Spans(low if kept else np.maximum(low, 0), high, weight))
    return Tables(sides[0], sides[1], 31, keeps)


def assert_joins(grouping: Grouping) -> None:
    """Each row is joined once with all of its partners: checked key by key, and by the groups' own test."""
    keeps = grouping.tables.keeps
    left, right = grouping.tables.sides
    for key in range(NULL_KEY, 31):
        has = [np.flatnonzero((side.low <= key) & (key <= side.high)) for side in (left, right)]
        here = [group for group in grouping.groups if group.low <= key < group.high]
        pairs: list[tuple[Any, Any]] = [
            (a, b) for group in here for a in has[0] for b in has[1] if a in group.left and b in group.right
        ]
        assert len(pairs) == len(set(pairs))
        if key != NULL_KEY:
            assert set(pairs) == {(a, b) for a in has[0].tolist() for b in has[1].tolist()}
        for side in (0, 1):
            if keeps[side]:
                places = [sum(block in g.blocks(side) for g in here) for block in has[side]]
                assert places == [1] * len(places)
    assert is_join(grouping)


@given(tables(), st.integers(1, 12))
def test_every_pair_of_overlapping_blocks_meets_exactly_once_for_each_key(
    tables: Tables, number: int
) -> None:
    most = max(1, tables.total // number)
    for grouping in (
        by_ranges(tables, number),
        halving(tables, most),
        split(by_ranges(tables, number), most),
    ):
        assert_joins(grouping)
    found = around_larger(tables, number)
    if found.groups:
        assert_joins(found)
        assert found.times_read(tables.larger) <= 1.0


@given(tables(), st.integers(1, 4), st.integers(1, 200))
def test_what_is_chosen_is_a_join_within_the_limits(tables: Tables, cores: int, memory: int) -> None:
    found = choose(tables, Limits(cores, memory))
    if isinstance(found, Refused):
        assert found.sentence
        return
    assert_joins(found.grouping)
    assert found.grouping.times_read(tables.larger) <= 2.0
    if found.hashed is not None:
        assert found.grouping.weights(found.hashed).max() <= memory


def test_groups_that_are_no_join_are_noticed() -> None:
    one = np.array([0])
    pair = Tables(spans([(0, 3)]), spans([(0, 3)]), 4, (True, False))
    whole = Group(one, one, NULL_KEY, 4)
    assert is_join(Grouping("whole", pair, (whole,)))
    assert not is_join(Grouping("twice", pair, (whole, whole)))
    assert not is_join(Grouping("half", pair, (Group(one, one, NULL_KEY, 2),)))
    assert not is_join(Grouping("alone", pair, (Group(one, one[:0], NULL_KEY, 4),)))


def test_many_blocks_on_a_shared_grid_are_read_once_and_fit_into_memory() -> None:
    size = 1_000_000
    ends = np.arange(400)
    left = Spans(ends, ends, np.full(400, 4 * size))
    right = Spans(ends // 4 * 4, ends // 4 * 4 + 3, np.full(400, size))
    found = choose(Tables(left, right, 400), Limits(2, 60 * size))
    assert isinstance(found, Chosen), found
    assert found.grouping.times_read(0) == 1.0
    assert found.hashed == 1
    assert "left and right are read 1.00 and 1.00 times" in found.sentence()


@pytest.mark.parametrize(
    ("left", "right", "code"),
    [
        ([(0, 0)], [(1, 1)], "EMPTY"),
        ([(0, 20)] * 40, [(0, 20)] * 40, "COST"),
    ],
)
def test_what_cannot_gain_is_refused_with_a_reason(left: Ends, right: Ends, code: str) -> None:
    heavy = [Spans(side.low, side.high, side.weight * 10**8) for side in (spans(left), spans(right))]
    found = choose(
        Tables(heavy[0], heavy[1], 21, (True, True) if code == "COST" else (False, False)), Limits(4, 1)
    )
    assert isinstance(found, Refused), found
    assert found.code == code


def test_bounds_that_are_not_known_reach_everywhere_and_nulls_count_where_they_are_kept() -> None:
    ones = np.ones(4, np.int64)
    keys = Keys([5, None, None, 7], [6, None, None, 9], np.array([0, 2, -1, 1]), 2 * ones, ones)
    other = Keys([0], [99], np.array([0]), np.array([2]), np.array([1]))
    kept, right, values = spans_of(keys, other, (True, False))
    assert values == [0, 5, 6, 7, 9, 99]
    assert kept.low.tolist() == [1, NULL_KEY, NULL_KEY, NULL_KEY]
    assert kept.high.tolist() == [2, NULL_KEY, 5, 4]
    dropped, _, _ = spans_of(keys, other, (False, False))
    assert dropped.alive.tolist() == [0, 2, 3]
    assert right.alive.tolist() == [0]

"""Column groups by access alone, as row stores choose them: HillClimb and Hyrise, for comparison.

Both look at which columns queries read together, and not at what can be skipped (GSOP, VLDB 2016, section
7.5). A query is taken to read all of every group that it needs and, of more than one, a tuple id besides, so
a group pays where its columns are read together.

* HillClimb (Data Morphing, VLDB 2003) starts with single columns and merges the pair that saves most, for as
  long as any does.
* Hyrise (VLDB 2010) starts with the columns that the same queries read. It divides these primary partitions
  into parts of at most ``MOST_TOGETHER`` that are read together most, finds the best groups of each part by
  trying all of them, and merges groups of different parts for as long as that saves.

Cost: O(c² q) for each merge; Hyrise tries the 203 groupings of six primary partitions in each part.

>>> access = np.array([[True, True, False], [False, False, True]])
>>> [group.tolist() for group in hill_climb(access, np.ones(2))]
[[True, True, False], [False, False, True]]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from skipstone.layout.column_access import Bits, Floats

__all__ = ["MOST_TOGETHER", "access_cost", "hill_climb", "hyrise", "read_alike"]

MOST_TOGETHER = 6


def read_alike(columns: Bits) -> tuple[Bits, ...]:
    """Columns that the same queries read are in one group; groups are in the order of their first column."""
    _, first, kind = np.unique(columns, axis=1, return_index=True, return_inverse=True)
    return tuple(np.asarray(kind.reshape(-1) == each) for each in np.argsort(first))


def access_cost(columns: Bits, weights: Floats, groups: Sequence[Bits]) -> float:
    """Values and tuple ids that the queries read of a row; ``columns[q, c]`` are those that they ask for."""
    read = np.array([columns[:, group].any(axis=1) for group in groups])
    widths = np.array([group.sum() for group in groups])
    needed = read.sum(axis=0)
    return float(weights @ (widths @ read + np.where(needed > 1, needed, 0)))


def hill_climb(columns: Bits, weights: Floats) -> tuple[Bits, ...]:
    """Merge single columns while that saves."""
    return _climb(columns, weights, tuple(np.eye(columns.shape[1], dtype=np.bool_)))


def hyrise(columns: Bits, weights: Floats) -> tuple[Bits, ...]:
    """The best groups of each part of the primary partitions, merged while that saves."""
    primary = read_alike(columns)
    found: list[Bits] = []
    for part in _parts(columns, weights, primary):
        every = [tuple(_united(primary, some) for some in grouping) for grouping in _groupings(part)]
        costs = [access_cost(columns, weights, groups) for groups in every]
        found += every[int(np.argmin(costs))]
    return _climb(columns, weights, tuple(found))


def _climb(columns: Bits, weights: Floats, groups: tuple[Bits, ...]) -> tuple[Bits, ...]:
    cost = access_cost(columns, weights, groups)
    while True:
        pairs = ((one, other) for other in range(len(groups)) for one in range(other))
        tried = [
            _merged(groups, one, other) for one, other in pairs if _together(columns, groups, one, other)
        ]
        best = min(tried, key=lambda found: access_cost(columns, weights, found), default=groups)
        if access_cost(columns, weights, best) >= cost:
            return groups
        groups, cost = best, access_cost(columns, weights, best)


def _together(columns: Bits, groups: Sequence[Bits], one: int, other: int) -> bool:
    """Whether any query reads both; merging others saves nothing."""
    reads = columns[:, groups[one]].any(axis=1), columns[:, groups[other]].any(axis=1)
    return bool((reads[0] & reads[1]).any())


def _merged(groups: Sequence[Bits], one: int, other: int) -> tuple[Bits, ...]:
    kept = [group for index, group in enumerate(groups) if index != other]
    kept[one] = groups[one] | groups[other]
    return tuple(kept)


def _parts(columns: Bits, weights: Floats, primary: Sequence[Bits]) -> Iterator[list[int]]:
    """Primary partitions that are read together, at most ``MOST_TOGETHER`` at a time."""
    read = np.array([columns[:, group].any(axis=1) for group in primary], np.float64)
    affinity = (read * weights) @ read.T
    left = list(range(len(primary)))
    while left:
        part = [left.pop(0)]
        while left and len(part) < MOST_TOGETHER:
            with_part = affinity[np.ix_(part, left)].sum(axis=0)
            if not with_part.any():
                break
            part.append(left.pop(int(with_part.argmax())))
        yield part


def _groupings(items: list[int]) -> Iterator[list[list[int]]]:
    """All ways to divide items into groups."""
    if not items:
        yield []
        return
    for rest in _groupings(items[1:]):
        yield [[items[0]], *rest]
        for index in range(len(rest)):
            yield [*rest[:index], [items[0], *rest[index]], *rest[index + 1 :]]


def _united(primary: Sequence[Bits], some: Sequence[int]) -> Bits:
    return np.asarray(np.logical_or.reduce([primary[index] for index in some]))

"""Column groups that are blocked separately: which columns belong together (GSOP, VLDB 2016, section 4).

A query pays for the cells that it cannot skip and, if it reads several groups, for putting tuples together:

    COST(q, G) = Σ |G_i ∩ C^q| r_i^q  +  Σ overhead(r_i^q) if q reads more than one group   (equations 1-3)

The search goes bottom-up: it merges the two groups whose merge makes the workload's cost (equation 4) least,
until one is left, and returns the best state on the way. So the result is never worse than one group for all
columns (SOP) nor one for each (GSOP-single). For the merges that it only considers it takes an estimate of r,
for those that it makes the computed one, and it remembers both. Groups that no query reads together are
merged when nothing else is left, for that never lowers the cost. In the end groups are parted again where
that pays (:mod:`~skipstone.layout.split_groups`).

Three things make it fast without changing what it finds:

* Queries that read the same columns under the same features are one query. Columns that the same queries
  read start in one group: apart they would have the same blocks, and cost the reconstruction besides.
* The change of the cost by a merge is kept for every pair. A merge changes those of the pairs of the new
  group and, for a query that reads two groups now, the one of these two.
* A merged group has the features of both, so the estimate of what is read of it is no less than that of
  either. That bounds the change from below, and only the pairs that come up as the best are estimated. (Where
  the number of local features is limited, the bound may be a little high; then a pair is looked at later.)

Cost: O(c q) for each of c merges, and an estimate for each pair that comes up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skipstone.layout.column_access import Bits, ColumnAccess, Floats
from skipstone.layout.known_groupings import read_alike
from skipstone.layout.reconstruction import Reconstruction, sort_merge
from skipstone.layout.rows_read import RowsRead, computed_rows, estimated_rows
from skipstone.layout.split_groups import Splitting

__all__ = ["Grouping", "GroupingCost", "group_columns", "one_group", "single_columns", "workload_cost"]


_SAME = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class GroupingCost:
    """How the objective is evaluated: merges that are considered or made, and the reconstruction."""

    estimated: RowsRead = estimated_rows
    computed: RowsRead = computed_rows
    reconstruction: Reconstruction = sort_merge


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Groups of columns, what the workload costs with them in data cells, and the number of estimates."""

    groups: tuple[Bits, ...]
    cost: float
    estimates: int = 0

    def columns(self) -> tuple[tuple[int, ...], ...]:
        """The indices of each group's columns."""
        return tuple(tuple(np.flatnonzero(group).tolist()) for group in self.groups)


def one_group(access: ColumnAccess) -> tuple[Bits, ...]:
    """All columns together: SOP."""
    return (np.ones(access.columns.shape[1], np.bool_),)


def single_columns(access: ColumnAccess) -> tuple[Bits, ...]:
    """Each column by itself: GSOP-single."""
    return tuple(np.eye(access.columns.shape[1], dtype=np.bool_))


def workload_cost(access: ColumnAccess, groups: tuple[Bits, ...], cost: GroupingCost) -> float:
    """Equation 4, with computed numbers of rows."""
    return _State.of(access, groups, cost).total()


def group_columns(access: ColumnAccess, cost: GroupingCost | None = None) -> Grouping:
    """The best state of the bottom-up search."""
    cost = cost or GroupingCost()
    access = access.merged()
    search = _Search(access, read_alike(access.columns), cost)
    best = search.result()
    while search.merge_best():
        # Of two states that cost the same the one with fewer groups has fewer tuple ids to store.
        if search.state.total() <= best.cost * _SAME:
            best = search.result()
    splitting = Splitting(access, cost.estimated, cost.computed, cost.reconstruction)
    groups, least = splitting.split(best.groups)
    return Grouping(groups, least, search.estimates + splitting.estimates)


@dataclass(slots=True, eq=False)
class _State:
    """Groups and, for each group and query, columns and rows read, and the part in the reconstruction."""

    access: ColumnAccess
    cost: GroupingCost
    groups: list[Bits]
    width: Floats
    rows: Floats
    parts: Floats
    alive: Bits = field(init=False)

    def __post_init__(self) -> None:
        self.alive = np.ones(len(self.groups), np.bool_)

    @staticmethod
    def of(access: ColumnAccess, groups: tuple[Bits, ...], cost: GroupingCost) -> _State:
        shape = (len(groups), len(access.columns))
        state = _State(access, cost, list(groups), np.zeros(shape), np.zeros(shape), np.zeros(shape))
        for index, group in enumerate(groups):
            state.put(index, group, cost.computed(access, group))
        return state

    def put(self, index: int, group: Bits, rows: Floats) -> None:
        """Let a group be at an index."""
        self.groups[index] = group
        self.width[index] = self.access.columns[:, group].sum(axis=1)
        self.rows[index] = np.where(self.width[index] > 0, rows, 0.0)
        self.parts[index] = np.where(self.width[index] > 0, self.cost.reconstruction(self.rows[index]), 0.0)

    def remove(self, index: int) -> None:
        """Let no group be at an index."""
        self.alive[index] = False
        self.width[index] = self.rows[index] = self.parts[index] = 0.0

    def read(self) -> Floats:
        """How many groups each query reads."""
        return np.asarray((self.width > 0).sum(axis=0), np.float64)

    def total(self) -> float:
        """The cost of the workload."""
        cells = (self.width * self.rows).sum(axis=0)
        together = np.where(self.read() > 1, self.parts.sum(axis=0), 0.0)
        return float(self.access.weights @ (cells + together))


class _Search:
    """Merges groups; ``change[i, j]`` with i < j bounds how the cost changes, or estimates it if known."""

    def __init__(self, access: ColumnAccess, groups: tuple[Bits, ...], cost: GroupingCost) -> None:
        self.access, self.cost = access, cost
        self.state = _State.of(access, groups, cost)
        size = len(groups)
        self.change = np.full((size, size), np.inf)
        self.known = np.zeros((size, size), np.bool_)
        self.estimates = 0
        self._remembered: dict[bytes, Floats] = {}
        # More than any change: what no query reads together is merged when nothing else is left.
        self.last = 4 * self.state.total() + 1.0
        # Estimates of the groups as they are; that of a merged group is no less.
        self.bound = np.array([cost.estimated(access, group) for group in groups])
        for index in range(size):
            self._bound(index, np.arange(index + 1, size))

    def result(self) -> Grouping:
        """The groups as they are now."""
        groups = tuple(self.state.groups[index] for index in np.flatnonzero(self.state.alive))
        return Grouping(groups, self.state.total())

    def merge_best(self) -> bool:
        """Merge the pair that makes the cost least; False when there is no pair."""
        while True:
            one, other = divmod(int(np.argmin(self.change)), len(self.change))
            if not np.isfinite(self.change[one, other]):
                return False
            if self.known[one, other]:
                self._merge(one, other)
                return True
            rows = self._estimated(one, other)
            self.change[one, other] = self._changes(one, np.array([other]), rows[None, :])[0]
            self.known[one, other] = True

    def _estimated(self, one: int, other: int) -> Floats:
        group = self.state.groups[one] | self.state.groups[other]
        key = np.packbits(group).tobytes()
        if key not in self._remembered:
            self.estimates += 1
            self._remembered[key] = self.cost.estimated(self.access, group)
        return self._remembered[key]

    def _bound(self, index: int, others: np.ndarray) -> None:
        rows = np.maximum(self.bound[index], self.bound[others])
        changes = self._changes(index, others, rows)
        low, high = np.minimum(index, others), np.maximum(index, others)
        self.change[low, high] = changes
        self.known[low, high] = False

    def _changes(self, index: int, others: np.ndarray, rows: Floats) -> Floats:
        """How the cost changes if a group is merged with each of some others; so many rows are read then."""
        state, weights = self.state, self.access.weights
        width = state.width[index] + state.width[others]
        cells = (
            width * rows - state.width[index] * state.rows[index] - state.width[others] * state.rows[others]
        )
        read = state.read()
        both = (state.width[index] > 0) & (state.width[others] > 0)
        part = np.where(width > 0, self.cost.reconstruction(rows), 0.0)
        part = np.where(both & (read == 2), 0.0, part)  # noqa: PLR2004 - these two groups and no other
        parts = np.where(read > 1, part - state.parts[index] - state.parts[others], 0.0)
        apart = np.where(both.any(axis=1), 0.0, self.last)
        return np.asarray(np.einsum("gq,q->g", cells + parts, weights) + apart)

    def _merge(self, one: int, other: int) -> None:
        state = self.state
        group = state.groups[one] | state.groups[other]
        self.bound[one] = self._estimated(one, other)
        fewer = (state.width[one] > 0) & (state.width[other] > 0)
        state.remove(other)
        state.put(one, group, self.cost.computed(self.access, group))
        self.change[other, :] = self.change[:, other] = np.inf
        living = np.flatnonzero(state.alive)
        self._bound(one, living[living != one])
        self._of_two_groups(one, fewer & (state.read() == 2))  # noqa: PLR2004 - the same

    def _of_two_groups(self, merged: int, queries: Bits) -> None:
        """Pairs that some query reads and nothing else; those of the merged group are known to it already."""
        for query in np.flatnonzero(queries):
            low, high = np.flatnonzero(self.state.width[:, query] > 0).tolist()
            if merged in {low, high}:
                continue
            rows = self._estimated(low, high) if self.known[low, high] else None
            bound = np.maximum(self.bound[low], self.bound[high]) if rows is None else rows
            self.change[low, high] = self._changes(low, np.array([high]), bound[None, :])[0]

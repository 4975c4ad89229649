"""Splitting column groups after the search: what a bottom-up merge once joined is parted where that pays.

Merging goes from pair to pair and never back. Early merges put columns together whose queries conflict only
once the group is large: two filters that blocks could tell apart among few others. So the result is tried the
other way round: from each group the columns of one query are split off, for the queries that are run most,
and the split that makes the cost least is kept, until none saves a hundredth. A step beyond GSOP (VLDB 2016,
section 4.4), whose cost only falls by it.

Splits are ranked by estimates, and the best ones judged by the computed rows: in a group of many features the
estimate bounds little. Cost: an estimate for each group and each of at most ``MOST_SPLITS`` sets of columns,
and some blockings, for every split that is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from skipstone.layout.column_access import Bits, ColumnAccess, Floats
from skipstone.layout.reconstruction import Reconstruction
from skipstone.layout.rows_read import RowsRead

__all__ = ["MOST_SPLITS", "Splitting", "cost_of"]

MOST_SPLITS = 32
"""Sets of columns that are tried to be split off."""
_CHECKED = 10
"""The best splits by estimates of which the rows are computed."""
_LEAST_GAIN = 0.01


def cost_of(access: ColumnAccess, groups: list[Bits], rows: list[Floats], cost: Reconstruction) -> float:
    """Equation 4, with so many rows read of each group by each query."""
    width = np.array([access.columns[:, group].sum(axis=1) for group in groups])
    read = np.where(width > 0, np.array(rows), 0.0)
    parts = np.where(width > 0, cost(read), 0.0).sum(axis=0)
    together = np.where((width > 0).sum(axis=0) > 1, parts, 0.0)
    return float(access.weights @ ((width * read).sum(axis=0) + together))


@dataclass(slots=True, eq=False)
class Splitting:
    """Splits groups of ``access`` by estimated and computed rows, both of which are remembered."""

    access: ColumnAccess
    estimated: RowsRead
    computed: RowsRead
    reconstruction: Reconstruction
    estimates: int = 0
    _known: dict[tuple[bool, bytes], Floats] = field(default_factory=dict)

    def split(self, groups: tuple[Bits, ...]) -> tuple[tuple[Bits, ...], float]:
        """The groups after all splits that pay, and the cost."""
        found = list(groups)
        cost = self._cost(found, len(found))
        while True:
            ranked = []
            for at, one, other in self._splits(found):
                rest = [*found[:at], *found[at + 1 :]]
                before = self._cost([*rest, found[at]], len(rest))
                ranked.append((self._cost([*rest, one, other], len(rest)) - before, [*rest, one, other]))
            ranked.sort(key=lambda each: each[0])
            checked = [(self._cost(split, len(split)), split) for _, split in ranked[:_CHECKED]]
            least, best = min(checked, key=lambda each: each[0], default=(np.inf, found))
            if least > cost * (1 - _LEAST_GAIN):
                return tuple(found), cost
            cost, found = least, best

    def _splits(self, groups: list[Bits]) -> Iterator[tuple[int, Bits, Bits]]:
        """The number of a group, and two parts of it of which one has the columns of some queries."""
        for at, group in enumerate(groups):
            seen = set()
            for columns in self._sets():
                part = columns & group
                if part.any() and (part != group).any() and part.tobytes() not in seen:
                    seen |= {part.tobytes(), (group & ~part).tobytes()}
                    yield at, part, group & ~part

    def _sets(self) -> list[Bits]:
        kinds, kind = np.unique(self.access.columns, axis=0, return_inverse=True)
        weights = np.bincount(kind.reshape(-1), self.access.weights, len(kinds))
        return [kinds[index] for index in np.argsort(-weights, kind="stable")[:MOST_SPLITS]]

    def _cost(self, groups: list[Bits], exact: int) -> float:
        """The cost, with computed rows for the first groups and estimates for the others."""
        rows = [self._rows(group, number < exact) for number, group in enumerate(groups)]
        return cost_of(self.access, groups, rows, self.reconstruction)

    def _rows(self, group: Bits, exact: bool) -> Floats:
        key = exact, group.tobytes()
        if key not in self._known:
            self.estimates += not exact
            self._known[key] = (self.computed if exact else self.estimated)(self.access, group)
        return self._known[key]

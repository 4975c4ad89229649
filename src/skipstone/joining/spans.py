"""Which keys the blocks of a table have, as whole numbers that both tables of a join share.

Keys of any ordered type become their rank among all bounds of both tables, so that algorithms compare
numbers only. Where rows with a NULL key are kept by the join, NULL is the least of all keys, with the rank
-1: such a block reaches down to it, and whatever puts each key into one task does that with NULL too. Where
they are dropped, NULLs are not looked at, and a block that has nothing else is read by no task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skipstone.pruning.blocks import Counts
from skipstone.pruning.masks import Flags

__all__ = ["NULL_KEY", "Keys", "Spans", "meets", "spans_of"]

NULL_KEY = -1
"""The rank of NULL, and of keys below all known bounds, which only blocks without bounds may have."""


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """The ranks of the least and the greatest key of each block, and what its rows weigh in bytes.

    A block whose ``low`` is above its ``high`` has no row that the join could keep.
    """

    low: Counts
    high: Counts
    weight: Counts

    def __len__(self) -> int:
        return len(self.low)

    @property
    def total(self) -> int:
        """What all blocks weigh."""
        return int(self.weight.sum())

    @property
    def alive(self) -> Counts:
        """The blocks that have to be read."""
        return np.flatnonzero(self.low <= self.high)

    def overlapping(self, blocks: Counts, low: int, high: int) -> Counts:
        """Those of some blocks that may have keys from ``low`` up to and without ``high``."""
        return blocks[(self.low[blocks] < high) & (self.high[blocks] >= low)]


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """What is known about a key in the blocks of one table; None is a bound that is not known.

    ``nulls`` are the numbers of rows without a key, -1 where not known.
    """

    low: Sequence[object]
    high: Sequence[object]
    nulls: Counts
    rows: Counts
    weight: Counts


def spans_of(left: Keys, right: Keys, keeps_nulls: tuple[bool, bool]) -> tuple[Spans, Spans, list[object]]:
    """Both tables by rank, and the values that have these ranks.

    >>> ones = np.ones(2, np.int64)
    >>> a = Keys(["b", None], ["k", None], np.array([0, 1]), ones, ones)
    >>> b = Keys(["k", "x"], ["p", "z"], np.array([0, 0]), ones, ones)
    >>> left, right, values = spans_of(a, b, (True, False))
    >>> left.low.tolist(), left.high.tolist(), right.low.tolist(), right.high.tolist(), values
    ([0, -1], [1, -1], [1, 3], [2, 4], ['b', 'k', 'p', 'x', 'z'])
    """
    bounds = {value for keys in (left, right) for side in (keys.low, keys.high) for value in side}
    values = sorted(bounds - {None})  # type: ignore[type-var]
    ranks = {value: rank for rank, value in enumerate(values)}
    spans = [_spans(keys, ranks, keeps) for keys, keeps in zip((left, right), keeps_nulls, strict=True)]
    return spans[0], spans[1], list(values)


def _spans(keys: Keys, ranks: dict[object, int], keeps_nulls: bool) -> Spans:
    last = max(len(ranks) - 1, 0)
    known = np.array(
        [low in ranks and high in ranks for low, high in zip(keys.low, keys.high, strict=True)], np.bool_
    )
    low = np.array([ranks.get(value, 0) for value in keys.low], np.int64)
    high = np.array([ranks.get(value, last) for value in keys.high], np.int64)
    only_nulls = (keys.nulls >= 0) & (keys.nulls == keys.rows)
    low[~known], high[~known] = NULL_KEY, last
    low[only_nulls], high[only_nulls] = 1, 0
    if keeps_nulls:
        some: Flags = (keys.nulls != 0) & (keys.rows != 0)
        low[some] = NULL_KEY
        high[some & only_nulls] = NULL_KEY
    return Spans(low, high, keys.weight)


def meets(low: Counts, high: Counts, other_low: Counts, other_high: Counts) -> Flags:
    """Which of the other intervals overlap any of these; an interval ends before its ``high``.

    >>> a = np.array
    >>> meets(a([0, 5]), a([2, 9]), a([1, 2, 8, 3]), a([2, 5, 12, 3])).tolist()
    [True, False, True, False]
    """
    some = low < high
    low, high = low[some], high[some]
    if not len(low):
        return np.zeros(len(other_low), np.bool_)
    order = np.argsort(low, kind="stable")
    reach = np.maximum.accumulate(high[order])
    # Of those that begin before another ends, the one that reaches farthest decides.
    last = np.searchsorted(low[order], other_high, side="left") - 1
    found: Flags = (last >= 0) & (reach[np.maximum(last, 0)] > other_low) & (other_low < other_high)
    return found

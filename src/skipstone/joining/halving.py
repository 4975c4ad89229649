"""Recursive halving of the key range, in the place of algorithm 3.

*Idea*. All blocks in one group, if that is small enough. If not, the range is cut where the blocks that
span the cut weigh least. They go to both halves; or, where they would be repeated more than that costs, the
larger side's are joined here, with all blocks of the other side that reach into this range, and only the
others go down.

Algorithm 3 of 004 section 4.2.3 merges pairs of small groups, in O(groups^3); this is the same search from
the top, and *costs* O(blocks log blocks) a level ([ADR
19](../../docs/adr/0019-joins-without-a-shuffle.md)).

>>> def spans(*ends): return Spans(*(np.array(side) for side in zip(*ends)), np.ones(len(ends), np.int64))
>>> tables = Tables(spans((0, 3), (0, 1), (2, 3)), spans((0, 1), (2, 3)), 4)
>>> [(group.left.tolist(), group.right.tolist()) for group in halving(tables, 3).groups]
[([0, 1], [0]), ([0, 2], [1])]
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skipstone.joining.groups import Group, Grouping, Tables
from skipstone.joining.spans import Spans
from skipstone.pruning.blocks import Counts

__all__ = ["halving"]

_LEAST = 0.2
"""A cut leaves so much of the weight on either side."""
_DEEPEST = 24


def halving(tables: Tables, most: int) -> Grouping:
    """Groups that weigh at most about ``most``, where the spans of the blocks allow it."""
    return Grouping.of("halving", tables, _halves(tables, tables.whole, most, _DEEPEST))


def _halves(tables: Tables, group: Group, most: int, depth: int) -> Iterator[Group]:
    weights = _weights(tables, group)
    cut = _best_cut(tables, group) if sum(weights) > most and depth else None
    if cut is None:
        yield group
        return
    larger, own = tables.larger, group.blocks(tables.larger)
    ends = tables.sides[larger]
    spanning = (ends.low[own] < cut) & (ends.high[own] >= cut)
    if spanning.any() and _joins_here(tables, own[spanning], weights):
        yield group.having(larger, own[spanning])
        group = group.having(larger, own[~spanning])
    for low, high in ((group.low, cut), (cut, group.high)):
        yield from _halves(tables, tables.part(group, low, high), most, depth - 1)


def _joins_here(tables: Tables, stays: Counts, weights: tuple[int, int]) -> bool:
    """Whether reading the other side once more costs less than reading these blocks twice."""
    larger = tables.larger
    repeats = int(tables.sides[larger].weight[stays].sum())
    return tables.may_repeat(1 - larger) and weights[1 - larger] < repeats


def _weights(tables: Tables, group: Group) -> tuple[int, int]:
    return int(tables.left.weight[group.left].sum()), int(tables.right.weight[group.right].sum())


def _best_cut(tables: Tables, group: Group) -> int | None:
    """The rank at which the blocks that span it weigh least, of those that leave enough on both sides."""
    low, high, weight = (
        np.concatenate([_of(side, name)[blocks] for side, blocks in _both(tables, group)])
        for name in ("low", "high", "weight")
    )
    places = np.unique(np.concatenate([low, high + 1]))
    places = places[(places > group.low) & (places < group.high)]
    if not len(places):
        return None
    starts, ends = _below(low, weight, places), _below(high, weight, places)
    total = int(weight.sum())
    # What lies wholly below a cut, and wholly above it.
    enough = np.minimum(ends, total - starts) >= _LEAST * (total - (starts - ends))
    useful = enough & (np.minimum(ends, total - starts) > 0)
    if not useful.any():
        return None
    places, spanning = places[useful], (starts - ends)[useful]
    balance = np.abs(starts + ends - total)[useful]
    return int(places[np.lexsort((balance, spanning))[0]])


def _both(tables: Tables, group: Group) -> tuple[tuple[Spans, Counts], tuple[Spans, Counts]]:
    return (tables.left, group.left), (tables.right, group.right)


def _of(side: Spans, name: str) -> Counts:
    found: Counts = getattr(side, name)
    return found


def _below(ends: Counts, weight: Counts, places: Counts) -> Counts:
    """What weighs so much has its end below each place."""
    order = np.argsort(ends, kind="stable")
    sums = np.concatenate([[0], np.cumsum(weight[order])])
    found: Counts = sums[np.searchsorted(ends[order], places, side="left")]
    return found

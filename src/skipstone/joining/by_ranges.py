"""Algorithms 1 and 1b: a group for each range of keys, and groups that are split again.

*Idea* (004 section 4.2.3). The domain of the key is cut into ranges. A group is what overlaps a range;
blocks that span several ranges are in several groups, and a range filter tells their rows apart. With fewer
and wider ranges less is repeated, but there are fewer tasks; so 1b deals the larger side's blocks of a
group to several tasks, each of which has all of the smaller side's. That is sound if the smaller side's
rows may be in several groups.

*Cost* O(blocks x ranges). *Deviation*: the ranges hold about the same weight of blocks, by their middles,
where the thesis takes any; and a split is dealt by what a block spans, so that each part has blocks that
are alike.

>>> from skipstone.joining.spans import Spans
>>> def spans(*ends): return Spans(*(np.array(side) for side in zip(*ends)), np.ones(len(ends), np.int64))
>>> tables = Tables(spans((0, 3), (0, 1), (2, 3)), spans((0, 1), (2, 3)), 4)
>>> [(group.left.tolist(), group.right.tolist()) for group in by_ranges(tables, 2).groups]
[([0, 1], [0]), ([0, 2], [1])]
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from skipstone.joining.groups import Group, Grouping, Tables
from skipstone.joining.spans import NULL_KEY
from skipstone.pruning.blocks import Counts

__all__ = ["by_ranges", "deal", "split"]


def by_ranges(tables: Tables, ranges: int) -> Grouping:
    """Algorithm 1 with about so many ranges."""
    ends = [NULL_KEY, *_cuts(tables, ranges), tables.keys]
    whole = tables.whole
    return Grouping.of("ranges", tables, (tables.part(whole, low, high) for low, high in pairwise(ends)))


def _cuts(tables: Tables, ranges: int) -> list[int]:
    """Where the ranges end: the least keys of blocks, so far apart that each range weighs about the same."""
    low, high, weight = (
        np.concatenate([getattr(side, name)[side.alive] for side in tables.sides])
        for name in ("low", "high", "weight")
    )
    places = np.unique(low)
    places = places[places > max(NULL_KEY, int(low.min(initial=0)))]
    if not len(places) or ranges == 1:
        return []
    order = np.argsort(low + high, kind="stable")
    middles, sums = (low + high)[order] / 2.0, np.cumsum(weight[order])
    wanted = sums[-1] * np.arange(1, ranges) / ranges
    targets = middles[np.minimum(np.searchsorted(sums, wanted), len(sums) - 1)]
    nearest = np.clip(np.searchsorted(places, targets), 0, len(places) - 1)
    before = np.maximum(nearest - 1, 0)
    closer = np.abs(places[before] - targets) < np.abs(places[nearest] - targets)
    return [int(place) for place in np.unique(places[np.where(closer, before, nearest)])]


def split(grouping: Grouping, most: int) -> Grouping:
    """Algorithm 1b: groups that weigh more than ``most`` are split by the blocks of the larger side."""
    tables = grouping.tables
    larger = tables.larger
    if not tables.may_repeat(1 - larger):
        return grouping
    out: list[Group] = []
    for group, own, other in zip(
        grouping.groups, grouping.weights(larger), grouping.weights(1 - larger), strict=True
    ):
        parts = -(-int(own) // max(1, most - int(other), int(other)))
        out += [group.having(larger, part) for part in deal(tables, larger, group.blocks(larger), parts)]
    return Grouping.of(f"{grouping.name}, split", tables, out)


def deal(tables: Tables, side: int, blocks: Counts, parts: int) -> list[Counts]:
    """Some blocks of one side in so many parts of about the same weight; what lies close stays together."""
    if parts <= 1 or len(blocks) <= 1:
        return [blocks]
    spans = tables.sides[side]
    blocks = blocks[np.lexsort((spans.high[blocks], spans.low[blocks]))]
    sums = np.cumsum(spans.weight[blocks])
    ends = np.searchsorted(sums, sums[-1] * np.arange(1, parts) / parts, side="left") + 1
    return [part for part in np.split(blocks, np.unique(ends)) if len(part)]

"""Algorithm 2: no block of the larger table is read twice.

*Idea* (004 section 4.2.3). The larger side's blocks are grouped by similar ranges of keys, and each group
gets all blocks of the smaller side that overlap one of them. No range filter is needed, and NULL keys stay
where they are.

*Cost* O(blocks log blocks + groups x blocks). *Deviation*: blocks that span more than half of what all do,
which would make every group meet the whole smaller side, are grouped among themselves; figure 4.3c shows
why.

>>> from skipstone.joining.spans import Spans
>>> def spans(*ends): return Spans(*(np.array(side) for side in zip(*ends)), np.ones(len(ends), np.int64))
>>> tables = Tables(spans((0, 3), (0, 1), (2, 3)), spans((0, 1), (2, 3)), 4)
>>> [(group.left.tolist(), group.right.tolist()) for group in around_larger(tables, 3).groups]
[([0], [0, 1]), ([1], [0]), ([2], [1])]
"""

from __future__ import annotations

import numpy as np

from skipstone.joining.by_ranges import deal
from skipstone.joining.groups import Grouping, Tables
from skipstone.joining.spans import meets
from skipstone.pruning.blocks import Counts

__all__ = ["around_larger"]


def around_larger(tables: Tables, groups: int) -> Grouping:
    """Algorithm 2 with about so many groups; none if the smaller side's rows may not be in several."""
    side = tables.larger
    own, other = tables.sides[side], tables.sides[1 - side]
    alive = own.alive
    if not tables.may_repeat(1 - side) or not len(alive):
        return Grouping("around larger", tables, ())
    wide = own.high[alive] - own.low[alive] > (own.high[alive].max() - own.low[alive].min()) / 2
    out = []
    for blocks in (alive[wide], alive[~wide]):
        share = own.weight[blocks].sum() / max(1, own.weight[alive].sum())
        for part in deal(tables, side, blocks, max(1, round(groups * share))):
            if len(part):
                met: Counts = np.flatnonzero(
                    meets(own.low[part], own.high[part] + 1, other.low, other.high + 1)
                )
                out.append(tables.whole.having(side, part).having(1 - side, met))
    return Grouping.of("around larger", tables, out)

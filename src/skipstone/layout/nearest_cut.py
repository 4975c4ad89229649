"""Where to cut the rows of a node by one attribute: as near to the wanted place as its values allow.

The wanted place is the median, or the quantile by which both sides get whole blocks of equal size. Rows of
one value stay together, so the cut is before or after the value that lies there, whichever is nearer; after
it if both are as near ("any point on the splitting hyperplane" goes to the left subtree, section 3.1.2 of the
hyper-partitioning thesis). A side that would have less than a fifth of the rows is no cut: then the
attribute has to give way to another one.

>>> nearest_cut(np.array([7, 1, 1, 3, 1, 3]), 0.5)  # after the 1s: 3 of 6 rows
Cut(code=1, rows=3)
>>> nearest_cut(np.array([1, 1, 1, 1, 1, 3]), 0.5) is None  # one row of six is less than a fifth
True
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skipstone.layout.ranks import Codes

__all__ = ["FEWEST", "Cut", "nearest_cut"]

FEWEST = 0.2
"""The share of a node's rows that either side of a cut has at least."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Rows of at most this rank go to the left, which are so many."""

    code: int
    rows: int


def nearest_cut(codes: Codes, share: float) -> Cut | None:
    """The cut that sends nearest to this share of the rows to the left; None if there is none."""
    count = len(codes)
    if count <= 1:
        return None
    ordered = np.sort(codes)
    wanted = share * count
    middle = ordered[min(count - 1, max(0, int(np.ceil(wanted)) - 1))]
    after = int(np.searchsorted(ordered, middle, side="right"))
    before = int(np.searchsorted(ordered, middle, side="left"))
    fewest = FEWEST * count
    for rows in sorted((after, before), key=lambda rows: abs(rows - wanted)):
        if fewest <= rows <= count - fewest and 0 < rows < count:
            return Cut(int(ordered[rows - 1]), rows)
    return None

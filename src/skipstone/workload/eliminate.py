"""Redundancy elimination (002 section 3.3): which frequent sets of predicates become features.

Sets are examined in the order of increasing generality. ``I(F)`` is the weight of the queries that F
subsumes and no set kept before does. F is kept if ``I(F) >= T``; of those kept, the ``num_features`` with
the highest I are chosen. Subsuming is inclusion of query sets, so ascending support is a linear extension
of the paper's partial order; equal supports are ordered by size, then by content, so that the outcome is
determined. Cost: one pass over the sets, O(queries) each.

>>> queries = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], np.bool_)
>>> found = Mined(((0, 1), (0,), (1,)), queries, queries.sum(axis=1).astype(float), 1.0)
>>> eliminate(found, np.ones(4), 1.0).gain.tolist(), eliminate(found, np.ones(4), 2.0).gain.tolist()
([2.0, 1.0, 1.0], [2.0, 1.0, 2.0])

With T = 2 the second set adds one query only and goes, so the third adds two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.workload.mining import Mined
from skipstone.workload.predicates import Bits

__all__ = ["Elimination", "eliminate"]


@dataclass(frozen=True, slots=True, eq=False)
class Elimination:
    """``gain`` is I(F) of every set, in the order of the mined sets; ``ranked`` the kept ones, best first."""

    gain: npt.NDArray[np.float64]
    kept: Bits
    ranked: tuple[int, ...]


def eliminate(mined: Mined, weights: npt.NDArray[np.float64], threshold: float) -> Elimination:
    """Remove every set that adds queries of less weight than the threshold."""
    covered = np.zeros(len(weights), np.bool_)
    gain = np.zeros(len(mined.sets))
    kept = np.zeros(len(mined.sets), np.bool_)
    for index in np.flatnonzero(mined.support >= threshold):
        added = mined.queries[index] & ~covered
        gain[index] = weights[added].sum()
        if added.any() and gain[index] >= threshold:
            kept[index] = True
            covered |= added
    ranked = sorted(np.flatnonzero(kept).tolist(), key=lambda s: (-gain[s], -mined.support[s], s))
    return Elimination(gain, kept, tuple(ranked))

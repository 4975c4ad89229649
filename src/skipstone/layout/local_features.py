"""The features that a column group is blocked by (GSOP, VLDB 2016, section 5).

A feature is of use to a group if queries that it subsumes read the group, whether or not its own columns are
in there:

    CandSet(G) = ∪ F^q over the queries q that read G        weight(G, f) = how many of these f subsumes

The heaviest are taken, as many as leave about 3,000 distinct vectors: with fewer features queries could skip
more, with more the vectors conflict and blocking takes longer. The number is found by binary search on the
known vectors, projected on the first k features. Cost: O(v log v) for each of the log k trials.
"""

from __future__ import annotations

import numpy as np

from skipstone.layout.column_access import Bits, ColumnAccess, Indices

__all__ = ["local_features", "ranked_features"]


def ranked_features(access: ColumnAccess, group: Bits) -> Indices:
    """The candidates for a group, heaviest first; equal ones in the order of the features."""
    reading = access.reading(group)
    weights = access.weights[reading] @ access.features[reading]
    order = np.argsort(-weights, kind="stable")
    return np.asarray(order[weights[order] > 0])


def local_features(access: ColumnAccess, group: Bits) -> Indices:
    """The heaviest candidates, as many as leave no more distinct vectors than allowed, but at least one."""
    ranked = ranked_features(access, group)
    enough, too_many = min(1, len(ranked)), len(ranked) + 1
    while too_many - enough > 1:
        tried = (enough + too_many) // 2
        if len(access.projected(ranked[:tried])[1]) <= access.most_vectors:
            enough = tried
        else:
            too_many = tried
    return ranked[:enough]

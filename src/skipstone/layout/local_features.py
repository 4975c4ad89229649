"""The features that a column group is blocked by (GSOP, VLDB 2016, section 5).

A feature is of use to a group if queries that it subsumes read the group, whether or not its own columns are
in there:

    CandSet(G) = ∪ F^q over the queries q that read G        weight(G, f) = how many of these f subsumes

The paper takes the heaviest. Here a weight counts by the share of the rows that lack the feature, which is
what its queries can skip: what nearly all rows have tells few of them apart, however many queries it
subsumes. As many are taken as leave about 3,000 distinct vectors: with fewer features queries could skip
more, with more the vectors conflict and blocking takes longer. The number is found by binary search on the
known vectors, projected on the first k features: k is doubled first, for many groups need few features, and
the largest projection that was found small enough is extended. Cost: O(v log v) for each of log k trials.
"""

from __future__ import annotations

import numpy as np

from skipstone.layout.column_access import Bits, ColumnAccess, Indices, distinct

__all__ = ["local_features", "ranked_features"]


def ranked_features(access: ColumnAccess, group: Bits) -> Indices:
    """The candidates for a group, those that may skip most first; equal ones in the order of the features."""
    weights = access.asked[access.reading(group)].sum(axis=0)
    order = np.argsort(-weights * access.lacking, kind="stable")
    return np.asarray(order[weights[order] > 0])


def local_features(access: ColumnAccess, group: Bits) -> Indices:
    """The heaviest candidates, as many as leave no more distinct vectors than allowed, but at least one."""
    ranked = ranked_features(access, group)
    enough, too_many = min(1, len(ranked)), len(ranked) + 1
    code = access.extended(np.zeros(len(access.vectors), np.uint64), ranked[:enough])
    while too_many - enough > 1:
        tried = min(2 * enough, (enough + too_many) // 2)
        longer = access.extended(code, ranked[enough:tried])
        if distinct(longer) <= access.most_vectors:
            enough, code = tried, longer
        else:
            too_many = tried
    return ranked[:enough]

"""How many rows of a column group queries read after skipping: r of GSOP's objective (section 4.3).

Three ways, which differ in what they cost:

* :func:`computed_rows` blocks the group by its local features and counts the rows of the blocks that a query
  cannot skip. Blocking is most of the cost.
* :func:`estimated_rows` only counts the rows of each local vector v. At least ⌊count(v) / b⌋ blocks of b rows
  hold nothing else, so a query that skips v reads at most n - b Σ ⌊count(v) / b⌋ rows. This bounds what
  :func:`computed_rows` finds, because blocking keeps a vector of b rows or more to itself.
* :func:`selected_rows` counts the rows that satisfy the features that subsume the query, as selectivity
  estimation does. It ignores that blocks are skipped whole, and serves as a comparison.

A query skips a vector, or a block by its union vector, where a local feature that subsumes the query has no
bit. Results are for all queries; what they say about queries that do not read the group means nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skipstone.layout.balanced_maxskip import Clustering, cluster
from skipstone.layout.column_access import Bits, ColumnAccess, Floats, Indices
from skipstone.layout.local_features import local_features
from skipstone.layout.pack import pack

__all__ = ["RowsRead", "block_group", "computed_rows", "estimated_rows", "rows_of_blocks", "selected_rows"]

RowsRead = Callable[[ColumnAccess, Bits], Floats]
"""The rows that each query reads of a group of columns."""
_MIN_SHARE = 0.75


def estimated_rows(access: ColumnAccess, group: Bits) -> Floats:
    """An upper bound, without blocking."""
    chosen = local_features(access, group)
    number, first = access.projected(chosen)
    counts = np.bincount(number, access.counts, len(first))
    whole = np.floor(counts / access.block_rows) * access.block_rows
    own = np.flatnonzero(whole)
    skipped = _skips(access, access.vectors[first[own]][:, chosen], chosen)
    return np.maximum(access.rows - _sums(whole[own], skipped), 0.0)


def computed_rows(access: ColumnAccess, group: Bits) -> Floats:
    """What is read of the group's blocks."""
    chosen = local_features(access, group)
    return rows_of_blocks(access, block_group(access, group, chosen)[1], chosen)


def rows_of_blocks(access: ColumnAccess, blocks: Clustering, chosen: Indices) -> Floats:
    """The rows of the blocks that each query cannot skip by the chosen features."""
    return np.maximum(access.rows - _sums(blocks.sizes, _skips(access, blocks.unions, chosen)), 0.0)


def selected_rows(access: ColumnAccess, group: Bits) -> Floats:
    """The rows that have all features that subsume the query and are local to the group."""
    chosen = local_features(access, group)
    return np.asarray(access.rows - access.counts @ _skips(access, access.vectors[:, chosen], chosen))


def block_group(access: ColumnAccess, group: Bits, chosen: Indices) -> tuple[Indices, Clustering]:
    """The local vector of each vector, and the blocks of the local vectors.

    Vectors of ``block_rows`` or more are blocks of their own; the others are gathered by Balanced MaxSkip.
    """
    number, first = access.projected(chosen)
    counts = np.bincount(number, access.counts, len(first))
    vectors = access.vectors[first][:, chosen]
    reading = access.reading(group)
    weights = access.asked[np.ix_(reading, chosen)].sum(axis=0)
    large = counts >= access.block_rows
    found = cluster(vectors[~large], counts[~large], weights, _MIN_SHARE * access.block_rows)
    ways = np.maximum(1, np.floor(counts[large] / access.block_rows)).astype(np.int32)
    start = np.cumsum(ways) - ways + len(found.sizes)
    block_of = np.zeros(len(first), np.int32)
    block_of[~large], block_of[large] = found.block_of, start
    every = np.ones(len(first), np.int32)
    every[~large], every[large] = found.ways, ways
    unions = np.concatenate([found.unions, np.repeat(vectors[large], ways, axis=0)])
    sizes = np.concatenate([found.sizes, np.repeat(counts[large] / ways, ways)])
    return number, Clustering(block_of, every, unions, sizes)


def _skips(access: ColumnAccess, bits: Bits, chosen: Indices) -> Bits:
    """Which queries skip which of some local vectors."""
    missing, asked = pack(~bits), pack(access.features[:, chosen])
    skipped = np.zeros((len(missing), len(asked)), np.bool_)
    for word in range(missing.shape[1]):
        skipped |= (missing[:, word, None] & asked[None, :, word]) != 0
    return skipped


def _sums(sizes: Floats, of: Bits) -> Floats:
    """The sizes that each column of bits has, summed; matrix products would start threads for so little."""
    return np.asarray(np.einsum("v,vq->q", sizes, of.astype(np.float64)))

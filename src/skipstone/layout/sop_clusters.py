"""SOP clusters as a dimension: feature vectors gathered, and numbered such that neighbours share bits.

Steps C1 and C2 of "Self-organising layouts for Delta" (thesis), section 4.1.2. Clusters are made finer than
blocks, then consecutive ones are joined to as many buckets as the dimension has: what is joined is similar
because of the order, and buckets hold about equal numbers of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skipstone.layout.assignment import Clusters, Numbers, VectorMap
from skipstone.layout.balanced_maxskip import cluster
from skipstone.layout.ordering import order_vectors
from skipstone.layout.pack import pack
from skipstone.layout.sop import distinct_vectors, fit_vectors
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.pruning.blocks import Feature

__all__ = ["OrderedClusters", "coordinates", "order_clusters", "ordered_blocks"]

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
MOST_CLUSTERS = 256
MOST_VECTORS = 3_000


def coordinates(rows: npt.ArrayLike, bits: int) -> npt.NDArray[np.int64]:
    """The coordinate of each bucket by the share of rows before its middle, in ``bits`` bits.

    >>> coordinates([1, 1, 5, 1], 3).tolist()
    [0, 1, 4, 7]
    """
    counts = np.asarray(rows, np.float64)
    middle = np.cumsum(counts) - counts / 2
    found = (middle / max(counts.sum(), 1) * (1 << bits)).astype(np.int64)
    return np.asarray(found.clip(0, (1 << bits) - 1))


@dataclass(frozen=True, slots=True, eq=False)
class OrderedClusters:
    """Distinct feature vectors with their rows, and the ordered cluster of each."""

    features: tuple[Feature, ...]
    weights: Floats
    vectors: Bits
    rows: Floats
    cluster_of: npt.NDArray[np.int64]

    def joined(self, bits: int) -> Clusters:
        """At most ``2 ** bits`` buckets of consecutive clusters."""
        sizes = np.bincount(self.cluster_of, self.rows)
        _, bucket = np.unique(coordinates(sizes, bits), return_inverse=True)
        bucket_of = bucket[self.cluster_of].astype(np.int32)
        buckets = int(bucket.max()) + 1
        unions = np.zeros((buckets, len(self.features)), np.bool_)
        np.logical_or.at(unions, bucket_of, self.vectors)
        skipped = np.bincount(bucket_of, self.rows) * (~unions @ self.weights)
        return Clusters(
            features=tuple(feature.predicate for feature in self.features),
            vectors=pack(self.vectors),
            bucket_of=bucket_of,
            # Where a vector that was not seen does least harm.
            otherwise=int(np.argmin(skipped)),
            buckets=buckets,
        )


def order_clusters(features: Sequence[Feature], weights: Floats, bits: Bits) -> OrderedClusters:
    """Cluster the rows' vectors; of too many distinct ones, the least frequent features are left out.

    ``bits[i, j]`` says whether row i has feature j; the most frequent features come first.
    """
    count = len(features)
    vectors, rows = distinct_vectors(bits)
    while len(vectors) > MOST_VECTORS:
        count -= max(1, count // 8)
        vectors, rows = distinct_vectors(bits[:, :count])
    found = cluster(vectors, rows, weights[:count], float(rows.sum()) / MOST_CLUSTERS)
    # A large vector may have several blocks; here it is one cluster.
    first, mine = np.unique(found.block_of, return_inverse=True)
    index = np.empty(len(first), np.int64)
    index[order_vectors(found.unions[first], weights[:count])] = np.arange(len(first))
    return OrderedClusters(tuple(features[:count]), weights[:count], vectors, rows, index[mine])


def ordered_blocks(view: TableView, workload: FitWorkload) -> VectorMap:
    """Blocks by the workload's features alone, numbered such that neighbours share bits."""
    vectors, counts = distinct_vectors(workload.feature_bits)
    found = fit_vectors(view, workload, vectors, counts * view.sample.scale, None)
    first, mine = np.unique(found.first, return_inverse=True)
    unions = np.zeros((len(first), vectors.shape[1]), np.bool_)
    np.logical_or.at(unions, mine, vectors)
    ways: Numbers = np.ones(len(first), np.int32)
    np.maximum.at(ways, mine, found.ways)
    order = order_vectors(unions, workload.feature_weights)
    start: Numbers = np.empty(len(first), np.int32)
    start[order] = np.cumsum(ways[order]) - ways[order]
    own = int(np.searchsorted(first, found.otherwise, side="right")) - 1
    return replace(found, first=start[mine], otherwise=int(start[own]))

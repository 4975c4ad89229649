"""What one column group is blocked by: the queries that read it, their features, and the vectors of these.

See GSOP (VLDB 2016), sections 3.3 (projection) and 5 (local features). The view of a group is a view like any
other, so any layout can be fitted to it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skipstone.layout.column_access import Bits, ColumnAccess, Indices
from skipstone.layout.pack import pack
from skipstone.layout.table_view import ColumnReads, FitWorkload, TableView, VectorCounts

__all__ = ["column_access", "group_view", "group_workload"]

MOST_SAMPLED = 20_000
"""Rows whose vectors column groups are chosen by."""


def column_access(view: TableView, workload: FitWorkload, reads: ColumnReads, most: int) -> ColumnAccess:
    """The kinds of queries, the columns that any of them reads, and the vectors of some sampled rows."""
    step = max(1, -(-len(view.sample) // MOST_SAMPLED))
    bits = workload.feature_bits[::step]
    _, first, counts = np.unique(pack(bits), axis=0, return_index=True, return_counts=True)
    scale = len(view.sample) * view.sample.scale / max(len(bits), 1)
    return ColumnAccess(
        vectors=bits[first],
        counts=np.asarray(counts * scale, np.float64),
        columns=reads.columns[:, reads.columns.any(axis=0)],
        features=reads.features,
        weights=reads.weights,
        block_rows=float(view.block_rows),
        most_vectors=most,
    )


def group_workload(workload: FitWorkload, reads: ColumnReads, reading: Bits, chosen: Indices) -> FitWorkload:
    """The workload of the kinds of queries that read a group, with the features chosen for it."""
    queries = workload.queries
    query, weights = reads.query[reading], reads.weights[reading]
    asked = np.asarray(np.bincount(query, weights, len(queries.filters)), np.float64)
    kept = np.flatnonzero(asked)
    return FitWorkload(
        queries=replace(
            queries,
            formulas=tuple(queries.formulas[index] for index in kept),
            filters=tuple(queries.filters[index] for index in kept),
            weights=asked[kept],
        ),
        features=tuple(workload.features[index] for index in chosen),
        feature_weights=reads.weights[reading] @ reads.features[np.ix_(reading, chosen)],
        feature_bits=workload.feature_bits[:, chosen],
    )


def group_view(view: TableView, chosen: Indices) -> TableView:
    """The view with the vectors of a group's features; the sample's, if the table's have not all of them."""
    if view.vector_counts is None:
        return view
    if chosen.max(initial=-1) >= view.vector_counts.vectors.shape[1]:
        return replace(view, vector_counts=None)
    return replace(view, vector_counts=_projected(view.vector_counts, chosen))


def _projected(counted: VectorCounts, chosen: Indices) -> VectorCounts:
    """Vectors that agree on some features are one, inside each horizontal partition."""
    bits = counted.vectors[:, chosen]
    numbers = {value: number for number, value in enumerate(dict.fromkeys(counted.partitions))}
    part = np.array([[numbers[value]] for value in counted.partitions], np.uint64)
    _, first, kind = np.unique(
        np.concatenate([pack(bits), part], axis=1), axis=0, return_index=True, return_inverse=True
    )
    counts = np.asarray(np.bincount(kind.reshape(-1), counted.counts, len(first)), np.float64)
    return VectorCounts(bits[first], counts, tuple(counted.partitions[index] for index in first))

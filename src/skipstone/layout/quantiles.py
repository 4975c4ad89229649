"""Buckets of about equal numbers of rows, for columns of any ordered type.

Bounds are taken by rank, so skew and strings need no special care: a value with more rows than a bucket
gets one of its own, and bounds never repeat. NULL has bucket 0, NaN is in the last one.

>>> column = rank(pa.array([1, 1, 1, 1, 2, 3, 4, 5]))
>>> bounds(column, 4)
(2, 4)
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import pyarrow as pa

from skipstone.layout.assignment import Dimension, Numbers
from skipstone.layout.ranks import Ranked, rank
from skipstone.predicate.evaluate import order_key
from skipstone.predicate.expr import Expr, Value

__all__ = ["bounds", "bucket_numbers", "dimension", "ranks_of"]


def dimension(expr: Expr, column: pa.Array, buckets: int) -> Dimension:
    """Buckets of a sampled column, at most ``buckets`` besides that of NULL."""
    return Dimension(expr, bounds(rank(column), buckets))


def bounds(column: Ranked, buckets: int) -> tuple[Value, ...]:
    """The first values of all buckets but the lowest."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.array))
    if column.has_nan:
        counts = counts[:-1]
    if not len(counts) or buckets <= 1:
        return ()
    before = np.cumsum(counts) - counts
    if len(counts) <= buckets:
        chosen = np.arange(1, len(counts))
    else:
        total = counts.sum()
        wanted = np.arange(1, buckets) * total / buckets
        above = np.searchsorted(before, wanted).clip(1, len(counts) - 1)
        # The nearer one, so that a frequent value is cut off from the rare ones below it.
        chosen = np.unique(above - (wanted - before[above - 1] < before[above] - wanted))
        chosen = chosen[(chosen > 0) & (chosen < len(counts))]
    return tuple(column.array.take(pa.array(chosen)).to_pylist())


def bucket_numbers(dimension: Dimension, column: Ranked) -> Numbers:
    """The bucket of each row: 0 for NULL, else 1 + the number of bounds that are <= the value."""
    ranks = ranks_of(dimension.bounds, column)
    found = 1 + np.searchsorted(ranks, column.codes, side="right")
    return np.where(column.codes < 0, 0, found).astype(np.int32)


def ranks_of(bounds: tuple[Value, ...], column: Ranked) -> np.ndarray:
    """For each bound, how many of the column's distinct values are below it."""
    keys = [order_key(value) for value in column.values]
    return np.array([bisect_left(keys, order_key(bound)) for bound in bounds], np.int64)

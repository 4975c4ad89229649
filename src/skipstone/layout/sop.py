"""SOP: rows with the same features go to the same block (SIGMOD 2014).

The rows are reduced to distinct feature vectors with counts, Balanced MaxSkip gathers the vectors into
blocks, and the result is a map from vectors to blocks. Blocks have 3/4 to 3/2 of ``block_rows`` rows, so
that there are about as many as asked for.

* A vector with too many rows for a block is spread over several, along the most filtered column that the
  features say nothing about: these blocks cannot differ in their features, but in the bounds of that column.
* A vector that was not seen goes to the block that lets the workload skip least, where it can do least harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Assignment, Dimension, Partitioned, VectorMap
from skipstone.layout.balanced_maxskip import cluster
from skipstone.layout.contract import Fitted
from skipstone.layout.filtered import most_filtered, sort_keys
from skipstone.layout.pack import pack
from skipstone.layout.quantiles import dimension
from skipstone.layout.sample import Fitting
from skipstone.predicate.expr import Column, Expr, Value, columns_of
from skipstone.predicate.render import to_sql

__all__ = ["SOP", "Sop", "distinct_vectors", "fit_table", "fit_vectors", "spread_dimension"]

Bits = npt.NDArray[np.bool_]
_SPREAD_BUCKETS = 64
_MIN_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class Sop:
    """The layout by feature vectors."""

    name: str = "sop"

    def fit(self, fitting: Fitting) -> Fitted:
        """Fit on the sampled rows' vectors, counted up to the whole table."""
        sample = fitting.sample
        _check(fitting)
        if sample.partition is None:
            vectors, counts = distinct_vectors(fitting.feature_bits)
            return fit_table(fitting, vectors, counts * sample.scale)
        if sample.partition_by is None:
            raise SkipstoneError("The sample has horizontal partitions but does not say by which expression.")
        found = []
        for place, value in enumerate(sample.partition_values):
            vectors, counts = distinct_vectors(fitting.feature_bits[sample.partition == place])
            found.append((vectors, counts * sample.scale, [value] * len(counts)))
        return fit_table(
            fitting,
            np.concatenate([vectors for vectors, _, _ in found]),
            np.concatenate([counts for _, counts, _ in found]),
            sample.partition_by,
            [value for _, _, values in found for value in values],
        )


SOP = Sop()


def fit_table(
    fitting: Fitting,
    vectors: Bits,
    counts: npt.ArrayLike,
    by: Expr | None = None,
    partitions: Sequence[Value] = (),
) -> Fitted:
    """Fit on (vector, count) pairs, such as those of the whole table.

    With horizontal partitions by ``by``, ``partitions`` tells that of each pair; pairs of NULL are left to
    the block for unlisted values.
    """
    _check(fitting)
    rows = np.asarray(counts, np.float64)
    spread = spread_dimension(fitting)
    assignment: Assignment
    if by is None:
        assignment = fit_vectors(fitting, vectors, rows, spread)
    else:
        values = list(dict.fromkeys(value for value in partitions if value is not None))
        values.sort()
        own = {value: place for place, value in enumerate(values)}
        place = np.array([own.get(value, -1) for value in partitions])
        parts = tuple(
            fit_vectors(fitting, vectors[place == number], rows[place == number], spread)
            for number in range(len(values))
        )
        assignment = Partitioned(by, tuple(values), parts)
    along = "a hash" if spread is None else to_sql(spread.expr)
    return Fitted(
        assignment=assignment,
        sort=sort_keys(fitting),
        features=fitting.features,
        expressions=tuple(
            expr for expr in (by, spread and spread.expr) if expr and not isinstance(expr, Column)
        ),
        parameters={"features": len(fitting.features), "vectors": len(vectors), "spread": along},
        note=f"{len(fitting.features)} features, {len(vectors):,} distinct vectors",
    )


def fit_vectors(
    fitting: Fitting, vectors: Bits, counts: npt.NDArray[np.float64], spread: Dimension | None
) -> VectorMap:
    """The blocking map of distinct vectors."""
    found = cluster(
        vectors, counts, fitting.feature_weights, _MIN_SHARE * fitting.block_rows, fitting.max_block_rows
    )
    skipped = found.sizes * (~found.unions @ fitting.feature_weights)
    return VectorMap(
        features=tuple(feature.predicate for feature in fitting.features),
        vectors=pack(vectors),
        first=found.block_of,
        ways=found.ways,
        otherwise=int(np.argmin(skipped)) if len(skipped) else 0,
        blocks=max(1, len(found.sizes)),
        spread=spread,
    )


def distinct_vectors(bits: Bits) -> tuple[Bits, npt.NDArray[np.float64]]:
    """Distinct rows of bits and how often each occurs, in the order of their packed words."""
    words = pack(bits)
    if words.shape[1] == 1:
        _, first, counts = np.unique(words[:, 0], return_index=True, return_counts=True)
    else:
        _, first, counts = np.unique(words, axis=0, return_index=True, return_counts=True)
    return bits[first], counts.astype(np.float64)


def spread_dimension(fitting: Fitting) -> Dimension | None:
    """Along what large vectors are spread: the most filtered column that no feature reads."""
    decided = {column for feature in fitting.features for column in columns_of(feature.predicate)}
    for key, _ in most_filtered(fitting):
        if not columns_of(key) & decided:
            return dimension(key, fitting.sample.columns[key], _SPREAD_BUCKETS)
    return None


def _check(fitting: Fitting) -> None:
    if not fitting.features:
        raise SkipstoneError("The workload has no filter that enough queries share, so SOP has no features.")

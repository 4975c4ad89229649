"""SOP: rows with the same features go to the same block (SIGMOD 2014).

The rows are reduced to distinct feature vectors with counts, Balanced MaxSkip gathers the vectors into
blocks, and the result is a map from vectors to blocks. Blocks have 3/4 to 3/2 of ``block_rows`` rows, so
that there are about as many as asked for.

* A vector with too many rows for a block is spread over several, along the most filtered column that the
  features say nothing about: these blocks cannot differ in their features, but in the bounds of that column.
* A vector that was not seen goes to the block that lets the workload skip least, where it can do least harm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Assignment, Dimension, Partitioned, VectorMap
from skipstone.layout.balanced_maxskip import cluster
from skipstone.layout.contract import ColumnGroup, Design, Needs, needed_workload
from skipstone.layout.filtered import most_filtered, sort_keys
from skipstone.layout.in_partitions import partition_expression
from skipstone.layout.own_options import NoOptions
from skipstone.layout.pack import pack
from skipstone.layout.quantiles import dimension
from skipstone.layout.sample import Sample
from skipstone.layout.table_view import FitWorkload, TableView, VectorCounts
from skipstone.predicate.evaluate import order_key
from skipstone.predicate.expr import Column, Value, columns_of
from skipstone.predicate.render import to_sql

__all__ = ["SOP", "Sop", "distinct_vectors", "fit_vectors", "spread_dimension"]

Bits = npt.NDArray[np.bool_]
_SPREAD_BUCKETS = 64
_MIN_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class Sop:
    """The layout by feature vectors: those of the whole table where the view has them, else the sample's."""

    name: str = "sop"

    @property
    def options(self) -> type[NoOptions]:
        """None."""
        return NoOptions

    def needs(self, options: NoOptions) -> Needs:
        """Features, and how many rows of the table have which of them."""
        return Needs(workload=True, vector_counts=True)

    def fit(self, view: TableView, workload: FitWorkload | None, options: NoOptions) -> Design:
        """Gather the vectors into blocks, inside each horizontal partition if there are any."""
        workload = needed_workload(workload, self.name)
        if not workload.features:
            raise SkipstoneError(
                "The workload has no filter that enough queries share, so SOP has no features."
            )
        by = None if view.sample.partition is None else partition_expression(view.sample)
        counted = view.vector_counts or _sampled_vectors(view.sample, workload.feature_bits)
        spread = spread_dimension(view.sample, workload)
        assignment: Assignment
        if by is None:
            rows = counted.counts
            assignment = fit_vectors(view, workload, counted.vectors, rows, spread)
        else:
            values, parts = _by_partition(counted)
            maps = (fit_vectors(view, workload, part.vectors, part.counts, spread) for part in parts)
            assignment = Partitioned(by, values, tuple(maps))
        group = ColumnGroup(
            assignment=assignment,
            sort=sort_keys(view.sample, workload.queries),
            features=workload.features,
            expressions=tuple(
                expr for expr in (by, spread and spread.expr) if expr and not isinstance(expr, Column)
            ),
        )
        features, vectors = len(workload.features), len(counted.vectors)
        along = "a hash" if spread is None else to_sql(spread.expr)
        return Design(
            (group,),
            parameters={"features": features, "vectors": vectors, "spread": along},
            note=f"{features} {'feature' if features == 1 else 'features'}, {vectors:,} distinct vectors",
        )


SOP = Sop()


def _sampled_vectors(sample: Sample, bits: Bits) -> VectorCounts:
    """The vectors of the sampled rows, counted up to the whole table."""
    if sample.partition is None:
        vectors, counts = distinct_vectors(bits)
        return VectorCounts(vectors, counts * sample.scale, (None,) * len(counts))
    found = [distinct_vectors(bits[sample.partition == part]) for part in range(len(sample.partition_values))]
    return VectorCounts(
        np.concatenate([vectors for vectors, _ in found]),
        np.concatenate([counts for _, counts in found]) * sample.scale,
        tuple(
            value
            for value, (_, counts) in zip(sample.partition_values, found, strict=True)
            for _ in range(len(counts))
        ),
    )


def _by_partition(counted: VectorCounts) -> tuple[tuple[Value, ...], tuple[VectorCounts, ...]]:
    """The values of horizontal partitions in their order, and the vectors of each.

    Vectors of NULL are left to the block for unlisted values.
    """
    keys = [None if value is None else order_key(value) for value in counted.partitions]
    values = {key: value for key, value in zip(keys, counted.partitions, strict=True) if key is not None}
    ordered = sorted(values)
    index = {key: number for number, key in enumerate(ordered)}
    part_of = np.array([index.get(key, -1) for key in keys])
    parts = (np.flatnonzero(part_of == number) for number in range(len(ordered)))
    return tuple(values[key] for key in ordered), tuple(
        VectorCounts(counted.vectors[mine], counted.counts[mine], ()) for mine in parts
    )


def fit_vectors(
    view: TableView,
    workload: FitWorkload,
    vectors: Bits,
    counts: npt.NDArray[np.float64],
    spread: Dimension | None,
) -> VectorMap:
    """The blocking map of distinct vectors."""
    weights = workload.feature_weights
    found = cluster(vectors, counts, weights, _MIN_SHARE * view.block_rows, view.max_block_rows)
    skipped = found.sizes * (~found.unions @ weights)
    return VectorMap(
        features=tuple(feature.predicate for feature in workload.features),
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


def spread_dimension(sample: Sample, workload: FitWorkload) -> Dimension | None:
    """Along what large vectors are spread: the most filtered column that no feature reads."""
    decided = {column for feature in workload.features for column in columns_of(feature.predicate)}
    for key, _ in most_filtered(sample, workload.queries):
        if not columns_of(key) & decided:
            return dimension(key, sample.columns[key], _SPREAD_BUCKETS)
    return None

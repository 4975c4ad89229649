"""Virtual blocks: what a layout would let each query skip, measured on a sample.

The sampled rows are put into blocks by the layout's own assignment, real block statistics are computed
for them (bounds, NULL and NaN counts, value sets, union vectors) and the real pruning decides. Nothing is
estimated by a formula that pruning would not keep.

A block of the sample has fewer rows than the block of the table, so its bounds are a little too tight and
the answer a little too good; the error falls with the number of sampled rows per block.

Cost: one sort of the rows by block and a few reductions per column; then one pruning per query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skipstone.layout.assignment import Numbers
from skipstone.layout.pack import pack
from skipstone.layout.ranks import Ranked, rank
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.predicate.expr import And, Expr, Or, type_of
from skipstone.predicate.types import Type
from skipstone.pruning.blocks import (
    MOST_VALUES,
    SET_KINDS,
    BlockSet,
    Counts,
    Feature,
    Statistics,
    ValueSets,
    Words,
)
from skipstone.pruning.prune import prune

__all__ = ["Simulation", "feature_bits", "simulate", "virtual_blocks"]

Bits = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """Shares of the rows that each query scans, and their mean by the queries' weights."""

    scanned: npt.NDArray[np.float64]
    mean: float


def simulate(
    numbers: Numbers,
    sample: Sample,
    known: WorkloadView,
    features: Sequence[Feature],
    queries: WorkloadView | None = None,
) -> Simulation:
    """The share of rows each query scans when row i lies in block ``numbers[i]``.

    ``known`` is the workload whose atoms ``sample.bits`` are about. ``queries``, by default the same, may
    be any other workload: only its filters are used.
    """
    asked = known if queries is None else queries
    blocks = virtual_blocks(numbers, sample, known, features)
    kept = np.array([blocks.rows[~prune(query, blocks).skip].sum() for query in asked.filters], np.float64)
    scanned = kept / max(len(sample), 1)
    total = asked.weights.sum()
    return Simulation(scanned, float(scanned @ asked.weights / total) if total else 0.0)


def virtual_blocks(
    numbers: Numbers, sample: Sample, known: WorkloadView, features: Sequence[Feature]
) -> BlockSet:
    """The statistics that the blocks of a sample would have; empty blocks are left out."""
    order = np.argsort(numbers, kind="stable")
    _, starts = np.unique(numbers[order], return_index=True)
    rows = np.diff(np.append(starts, len(order))).astype(np.int64)
    statistics = {
        key: _statistics(type_of(key), rank(column), order, starts, rows)
        for key, column in sample.columns.items()
        if type_of(key).ordered
    }
    unions, certain = _unions(sample, known, features, order, starts)
    return BlockSet(rows, statistics, tuple(features), unions, certain)


def _statistics(
    type_: Type, column: Ranked, order: npt.NDArray[np.intp], starts: Counts, rows: Counts
) -> Statistics:
    codes = column.codes[order]
    null = codes < 0
    nan = codes == len(column.array) - 1 if column.has_nan else np.zeros_like(null)
    plain = ~(null | nan)
    low = np.minimum.reduceat(np.where(plain, codes, np.iinfo(np.int32).max), starts)
    high = np.maximum.reduceat(np.where(plain, codes, -1), starts)
    nulls, nans = (np.add.reduceat(flags.astype(np.int64), starts) for flags in (null, nan))
    known = high >= 0
    sets = _value_sets(type_, column, codes, starts, rows)
    return Statistics(type_, _bound(column, low, known), _bound(column, high, known), nulls, nans, sets)


def _bound(column: Ranked, codes: npt.NDArray[np.int32], known: Bits) -> pa.Array:
    return column.array.take(pa.array(np.where(known, codes, 0), mask=~known))


def _value_sets(
    type_: Type, column: Ranked, codes: npt.NDArray[np.int32], starts: Counts, rows: Counts
) -> ValueSets | None:
    if type_.kind not in SET_KINDS or not 0 < len(column.array) <= MOST_VALUES:
        return None
    bit = np.where(codes >= 0, np.uint64(1) << np.maximum(codes, 0).astype(np.uint64), np.uint64(0))
    words: Words = np.bitwise_or.reduceat(bit, starts).reshape(-1, 1)
    return ValueSets(column.values, words, np.ones(len(rows), np.bool_))


def _unions(
    sample: Sample,
    known: WorkloadView,
    features: Sequence[Feature],
    order: npt.NDArray[np.intp],
    starts: Counts,
) -> tuple[Words, Words]:
    indices = {atom: index for index, atom in enumerate(known.atoms)}
    union = np.zeros((len(starts), len(features)), np.bool_)
    certain = np.zeros_like(union)
    for index, feature in enumerate(features):
        bits = feature_bits(feature.predicate, indices, sample.bits)
        if bits is not None:
            union[:, index] = np.logical_or.reduceat(bits[order], starts)
            certain[:, index] = True
    return pack(union), pack(certain)


def feature_bits(predicate: Expr, indices: Mapping[Expr, int], bits: Bits) -> Bits | None:
    """Which rows have a feature that is made of the sample's atoms; None if it has another part."""
    if (index := indices.get(predicate)) is not None:
        return bits[:, index]
    if not isinstance(predicate, And | Or):
        return None
    parts = [feature_bits(part, indices, bits) for part in predicate.args]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    combine = np.logical_and if isinstance(predicate, And) else np.logical_or
    return np.asarray(combine.reduce(known), np.bool_)

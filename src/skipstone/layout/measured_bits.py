"""The shares of bits that let the workload scan least, measured on a part of the sample.

Rows are put into virtual blocks as the layout will do it and :mod:`quick_scan` computes what queries scan, so
a dimension whose filters are already served by another one gets no bits. Blocks need a number of rows each
or all layouts look alike, so of a table with many blocks fewer and larger ones are judged; the bits that are
missing then follow in the same proportion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skipstone.layout.bit_shares import Bits, equal_bits, interleaved, share_bits
from skipstone.layout.grid import MOST_CELLS, cut_into_blocks
from skipstone.layout.numbers import cell_numbers
from skipstone.layout.quick_scan import QuickScan
from skipstone.layout.ranks import rank
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.layout.sop_clusters import OrderedClusters, coordinates
from skipstone.layout.table_view import TableView
from skipstone.predicate.expr import Expr
from skipstone.pruning.blocks import Feature
from skipstone.workload.selection import MOST_Z

__all__ = ["Axis", "measured_bits"]

Axis = Expr | OrderedClusters
_ROWS_PER_BLOCK = 16
_MOST_ROWS = 32_000
_FINE = 16
_FINER_BITS = 4
_MOST_QUERIES = 256
_MOST_BITS = MOST_CELLS.bit_length() - 2


def measured_bits(
    view: TableView, queries: WorkloadView, axes: Sequence[Axis], features: Sequence[Feature], searched: bool
) -> Bits:
    """The bits of each axis; without a search all axes get the same.

    There are more than blocks need, so that blocks can be cut evenly. ``features`` are the tracked ones.
    """
    judge = _Judge(view, queries, tuple(axes), tuple(features))
    parts = max(1, len(view.sample.partition_values))
    wanted, tried = (
        max(1, math.ceil(math.log2(max(1.0, blocks / parts)))) for blocks in (judge.blocks, judge.judged)
    )
    most = min(tried + _FINER_BITS, _MOST_BITS)
    if searched:
        shared = share_bits(judge.room, tried, most, judge.scanned, judge.fits)
    else:
        shared = equal_bits(judge.room, most, judge.fits)
    return _finer(shared, min(wanted - tried, _MOST_BITS - sum(shared)), judge.room)


def _finer(bits: Bits, more: int, room: Sequence[int]) -> Bits:
    """Further bits for the axes that have any, in the same proportion as far as there is room."""
    out = list(bits)
    for _ in range(more):
        open_ = [axis for axis, share in enumerate(bits) if share and out[axis] < room[axis]]
        if not open_:
            break
        out[min(open_, key=lambda axis: (out[axis] / bits[axis], axis))] += 1
    return tuple(out)


@dataclass(frozen=True, eq=False)
class _Judge:
    view: TableView
    queries: WorkloadView
    axes: tuple[Axis, ...]
    features: tuple[Feature, ...]

    @cached_property
    def blocks(self) -> float:
        sample = self.view.sample
        return len(sample) * sample.scale / self.view.block_rows

    @cached_property
    def judged(self) -> int:
        return max(1, min(round(self.blocks), len(self.some) // _ROWS_PER_BLOCK))

    @cached_property
    def some(self) -> Sample:
        """Some of the rows."""
        sample = self.view.sample
        rows = np.arange(0, len(sample), max(1, len(sample) // _MOST_ROWS))
        return replace(
            sample,
            bits=sample.bits[rows],
            columns={key: column.take(pa.array(rows)) for key, column in sample.columns.items()},
            partition=None if sample.partition is None else sample.partition[rows],
        )

    @cached_property
    def some_queries(self) -> WorkloadView:
        """Some of the queries, drawn by their weight."""
        queries = self.queries
        if len(queries.filters) <= _MOST_QUERIES:
            return queries
        random = np.random.default_rng(self.view.seed)
        drawn = random.choice(len(queries.filters), _MOST_QUERIES, p=queries.weights / queries.weights.sum())
        chosen, counts = np.unique(drawn, return_counts=True)
        return replace(
            queries,
            formulas=tuple(queries.formulas[index] for index in chosen),
            filters=tuple(queries.filters[index] for index in chosen),
            weights=counts.astype(np.float64),
        )

    @cached_property
    def scan(self) -> QuickScan:
        return QuickScan.of(self.some, self.some_queries, self.features)

    @cached_property
    def buckets(self) -> list[npt.NDArray[np.int64]]:
        """The finest bucket of each row on each axis; NULL is the lowest."""
        found = []
        for axis in self.axes:
            if isinstance(axis, OrderedClusters):
                found.append(cell_numbers(axis.joined(_FINE), self.some, self.queries.atoms).astype(np.int64))
            else:
                found.append(rank(self.some.columns[axis]).codes.astype(np.int64) + 1)
        return found

    @cached_property
    def positions(self) -> list[npt.NDArray[np.int64]]:
        return [coordinates(np.bincount(bucket), _FINE)[bucket] for bucket in self.buckets]

    @cached_property
    def room(self) -> list[int]:
        return [max(1, (len(np.unique(bucket)) - 1).bit_length()) for bucket in self.buckets]

    def fits(self, bits: Bits) -> bool:
        """Whether few enough expressions have bits; clusters do not count."""
        pairs = zip(self.axes, bits, strict=True)
        return sum(1 for axis, share in pairs if share and not isinstance(axis, OrderedClusters)) <= MOST_Z

    def scanned(self, bits: Bits) -> float:
        """The share of rows that the queries scan."""
        _, cell, rows = np.unique(self.keys(bits), return_inverse=True, return_counts=True)
        return self.scan.scanned(cut_into_blocks(rows.astype(np.float64), self.judged)[cell])

    def keys(self, bits: Bits) -> npt.NDArray[np.int64]:
        """Where the rows come along the curve."""
        shares = zip(self.positions, bits, strict=True)
        keys = interleaved([position >> (_FINE - share) for position, share in shares], bits)
        partition = self.some.partition
        return keys if partition is None else keys | partition.astype(np.int64) << sum(bits)

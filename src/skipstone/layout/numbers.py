"""Assignments evaluated on a sample: the number of each sampled row's block.

What Spark does for the whole table as native expressions is done here with the sample's bits and columns,
so that layouts can be compared without touching the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import (
    Assignment,
    Clusters,
    Dimension,
    Grid,
    Node,
    Numbers,
    Partitioned,
    Tree,
    VectorMap,
    blocks_of,
)
from skipstone.layout.pack import pack
from skipstone.layout.quantiles import bucket_numbers
from skipstone.layout.ranks import Ranked, rank, rank_of
from skipstone.layout.sample import Sample
from skipstone.layout.simulate import feature_bits
from skipstone.predicate.evaluate import NotEvaluable, evaluate, order_key
from skipstone.predicate.expr import Comparison, Expr, IsNull, Literal, Not, type_of
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import Words
from skipstone.pruning.value_sets import only_about

__all__ = ["block_numbers", "cell_numbers"]

Bits = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HASH_BITS = 24


def block_numbers(assignment: Assignment, sample: Sample, atoms: Sequence[Expr] = ()) -> Numbers:
    """The block of every sampled row; the sample's bits are about these atoms."""
    return _Rows(sample, tuple(atoms)).numbers(assignment, np.arange(len(sample)))


def cell_numbers(dimension: Dimension | Clusters, sample: Sample, atoms: Sequence[Expr] = ()) -> Numbers:
    """The bucket of every sampled row."""
    return _Rows(sample, tuple(atoms)).bucket(dimension, np.arange(len(sample)))


@dataclass(frozen=True, eq=False)
class _Rows:
    sample: Sample
    atoms: tuple[Expr, ...]

    @cached_property
    def numbers_of_atoms(self) -> dict[Expr, int]:
        return {atom: number for number, atom in enumerate(self.atoms)}

    @cached_property
    def ranks(self) -> dict[Expr, Ranked]:
        return {}

    @cached_property
    def cuts(self) -> dict[Expr, Bits]:
        return {}

    def ranked(self, key: Expr) -> Ranked:
        if key not in self.ranks:
            if key not in self.sample.columns:
                raise SkipstoneError(f"The sample has no values of {to_sql(key)}.")
            self.ranks[key] = rank(self.sample.columns[key])
        return self.ranks[key]

    def numbers(self, assignment: Assignment, rows: Rows) -> Numbers:
        match assignment:
            case Tree(root):
                return self._tree(root, rows)
            case Grid():
                return self._grid(assignment, rows)
            case VectorMap():
                return self._vectors(assignment, rows)
            case Partitioned():
                return self._partitions(assignment, rows)

    def _tree(self, root: Node, rows: Rows) -> Numbers:
        out: Numbers = np.zeros(len(rows), np.int32)
        stack: list[tuple[Node, Rows]] = [(root, np.arange(len(rows)))]
        while stack:
            node, mine = stack.pop()
            if isinstance(node, int):
                out[mine] = node
                continue
            true = self._true_at(node.cut, rows[mine])
            stack += [(node.yes, mine[true]), (node.no, mine[~true])]
        return out

    def _true_at(self, predicate: Expr, rows: Rows) -> Bits:
        """For which of these rows a cut is TRUE; a tree may have thousands of cuts, each of few rows."""
        match predicate:
            case Comparison("<" | "<=" as op, key, Literal(value)) if value is not None and self._has(key):
                codes = self.ranked(key).codes[rows]
                return (codes >= 0) & (codes < rank_of(value, self.ranked(key).array, above=op == "<="))
            case Not(IsNull(key)) if self._has(key):
                return self.ranked(key).codes[rows] >= 0
        return self.cut(predicate)[rows]

    def _has(self, key: Expr) -> bool:
        return key in self.sample.columns and type_of(key).ordered

    def cut(self, predicate: Expr) -> Bits:
        """The rows for which a cut is TRUE."""
        if predicate not in self.cuts:
            found = feature_bits(predicate, self.numbers_of_atoms, self.sample.bits)
            self.cuts[predicate] = self._by_values(predicate) if found is None else found
        return self.cuts[predicate]

    def _by_values(self, predicate: Expr) -> Bits:
        """A predicate that is no atom of the workload is evaluated on the distinct values of its column."""
        for key in self.sample.columns:
            if only_about(predicate, key):
                column = self.ranked(key)
                try:
                    truth = [evaluate(predicate, {key: value}) is True for value in (*column.values, None)]
                except NotEvaluable:
                    continue
                return np.array(truth, np.bool_)[column.codes]
        raise SkipstoneError(f"The sample does not show which rows satisfy {to_sql(predicate)}.")

    def bucket(self, dimension: Dimension | Clusters, rows: Rows) -> Numbers:
        if isinstance(dimension, Clusters):
            mine = self._entries(dimension.features, dimension.vectors, rows)
            # What is not among the vectors has the last entry.
            return np.append(dimension.bucket_of, np.int32(dimension.otherwise))[mine]
        return bucket_numbers(dimension, self.ranked(dimension.expr))[rows]

    def _grid(self, grid: Grid, rows: Rows) -> Numbers:
        cell = np.zeros(len(rows), np.int64)
        for dimension in grid.dimensions:
            cell = cell * dimension.buckets + self.bucket(dimension, rows)
        return grid.block_of[cell]

    def _entries(self, features: tuple[Expr, ...], vectors: Words, rows: Rows) -> Rows:
        """Each row's index among the vectors; -1 for a vector that is not among them."""
        bits = np.stack([self.cut(feature)[rows] for feature in features], axis=1)
        stacked = np.concatenate([vectors, pack(bits)])
        if stacked.shape[1] == 1:
            _, same = np.unique(stacked[:, 0], return_inverse=True)
        else:
            _, same = np.unique(stacked, axis=0, return_inverse=True)
        same = same.reshape(-1)
        entry = np.full(same.max(initial=-1) + 1, -1, np.int64)
        known = len(vectors)
        entry[same[:known]] = np.arange(known)
        return entry[same[known:]]

    def _vectors(self, vectors: VectorMap, rows: Rows) -> Numbers:
        mine = self._entries(vectors.features, vectors.vectors, rows)
        # What is not among the vectors has the last entries.
        ways = np.append(vectors.ways, 1)[mine].astype(np.int64)
        first = np.append(vectors.first, vectors.otherwise)[mine]
        # Any hash will do: rows only have to be spread evenly.
        inside = (rows.astype(np.uint64) * _MIX >> np.uint64(64 - _HASH_BITS)).astype(np.int64)
        if vectors.spread is None:
            way = inside * ways >> _HASH_BITS
        else:
            bucket, buckets = self.bucket(vectors.spread, rows).astype(np.int64), vectors.spread.buckets
            inside[ways <= buckets] = 0
            way = ((bucket << _HASH_BITS) + inside) * ways // (buckets << _HASH_BITS)
        numbers: Numbers = (first + way).astype(np.int32)
        return numbers

    def _partitions(self, assignment: Partitioned, rows: Rows) -> Numbers:
        sample = self.sample
        if sample.partition is None:
            raise SkipstoneError(f"The sample was drawn without the partition {to_sql(assignment.by)}.")
        index = {order_key(value): number for number, value in enumerate(sample.partition_values)}
        out: Numbers = np.full(len(rows), assignment.blocks - 1, np.int32)
        start = 0
        for value, part in zip(assignment.values, assignment.parts, strict=True):
            mine = np.flatnonzero(sample.partition[rows] == index.get(order_key(value), -1))
            out[mine] = start + self.numbers(part, rows[mine])
            start += blocks_of(part)
        return out

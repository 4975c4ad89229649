"""What layouts are fitted on: a reduced view of a table, and of the queries that it is fitted for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skipstone.catalog.logical_names import LogicalNames
from skipstone.layout.reconstruction import JOIN_CELLS
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.predicate.expr import Value
from skipstone.pruning.blocks import Feature

__all__ = ["ColumnReads", "FitWorkload", "TableView", "VectorCounts"]

Bits = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class VectorCounts:
    """Distinct feature vectors, how many rows have each, and the horizontal partition of each."""

    vectors: Bits
    counts: npt.NDArray[np.float64]
    partitions: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnReads:
    """Kinds of queries by what they read: ``columns[k, c]`` and the filter ``query[k]`` of the workload.

    ``names`` are the stored names of all columns. ``features[k, f]`` says whether feature f subsumes the
    kind, ``weights[k]`` how often it ran.
    """

    names: tuple[str, ...]
    columns: Bits
    query: Rows
    features: Bits
    weights: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TableView:
    """A table, reduced to sampled rows, and the size of the blocks that are wanted.

    ``block_rows`` and ``max_block_rows`` count rows of the table, not of the sample. ``vector_counts`` are
    those of the whole table, for layouts that need them; without them the sample's vectors have to do.
    ``names`` are what the columns are called in SQL, where that is not what they are stored as.
    ``join_cells`` is how many values are read in the time that putting one row of a column group together
    takes.
    """

    sample: Sample
    block_rows: int
    max_block_rows: int | None = None
    vector_counts: VectorCounts | None = None
    names: LogicalNames = field(default_factory=lambda: LogicalNames({}))
    seed: int = 0
    join_cells: float = JOIN_CELLS

    @property
    def blocks(self) -> int:
        """About how many blocks the table will have."""
        return max(1, round(len(self.sample) * self.sample.scale / self.block_rows))

    def of_rows(self, rows: Rows) -> TableView:
        """The view of some of the sampled rows, as one table without horizontal partitions."""
        chosen = pa.array(rows)
        sample = replace(
            self.sample,
            bits=self.sample.bits[rows],
            columns={key: column.take(chosen) for key, column in self.sample.columns.items()},
            partition=None,
            partition_values=(),
            partition_by=None,
        )
        return replace(self, sample=sample, vector_counts=None)


@dataclass(frozen=True, slots=True, eq=False)
class FitWorkload:
    """The queries that a layout is fitted for, and the features that were mined from them.

    The sample's bits are about the atoms of ``queries``. ``feature_weights`` are the numbers of queries that
    each feature subsumes. ``feature_bits[i, j]`` says whether sampled row i has feature j. ``reads`` is given
    to layouts that block columns separately.
    """

    queries: WorkloadView
    features: tuple[Feature, ...] = ()
    feature_weights: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    feature_bits: Bits = field(default_factory=lambda: np.zeros((0, 0), np.bool_))
    reads: ColumnReads | None = None

    def of_rows(self, rows: Rows) -> FitWorkload:
        """The same for some of the sampled rows."""
        return replace(self, feature_bits=self.feature_bits[rows]) if len(self.feature_bits) else self

"""Sampled rows of a table, and the queries of a workload as formulas over what is known of these rows.

Spark evaluates every atom of the workload on every sampled row, so fitting works on bits and columns and
never evaluates a predicate itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skipstone.predicate.expr import Expr, Value, type_of
from skipstone.pruning.blocks import MOST_VALUES, SET_KINDS

__all__ = ["Drawn", "Formula", "Sample", "WorkloadView"]

Formula = int | bool | tuple[str, tuple["Formula", ...]]
"""A filter over atoms: an atom's number, ``True`` for a part that is not understood (it may always hold),
``False`` for one that never holds, or ``("and", parts)`` / ``("or", parts)``. Atoms contain the negation."""


@dataclass(frozen=True, slots=True, eq=False)
class WorkloadView:
    """The queries that read one table: their filters as formulas over shared atoms, with weights.

    ``atoms`` are normalised predicates without AND and OR. ``filters`` are the same queries as normalised
    expressions. ``weights`` are how often each query ran.
    """

    atoms: tuple[Expr, ...]
    formulas: tuple[Formula, ...]
    filters: tuple[Expr, ...]
    weights: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Rows drawn from a table. ``scale`` is how many rows of the table one sampled row stands for.

    ``bits[i, j]`` says whether atom j is TRUE for row i. ``columns`` holds, for the columns and expressions
    that the workload filters on, and for all columns if a layout needs them, the rows' values in the Arrow
    types of block statistics. ``partition`` is the index of each row's value in ``partition_values``, when
    there are horizontal partitions by ``partition_by``; a row of none of these values has an index behind
    the last.
    """

    bits: npt.NDArray[np.bool_]
    columns: Mapping[Expr, pa.Array]
    scale: float
    partition: npt.NDArray[np.int32] | None = None
    partition_values: tuple[Value, ...] = ()
    partition_by: Expr | None = None

    def __len__(self) -> int:
        return len(self.bits)

    def few_values(self) -> dict[Expr, tuple[Value, ...]]:
        """The values of what has few enough for value sets."""
        kinds = {expr: column for expr, column in self.columns.items() if type_of(expr).kind in SET_KINDS}
        distinct = {expr: pc.unique(column).drop_null() for expr, column in kinds.items()}
        return {
            expr: tuple(found.to_pylist()) for expr, found in distinct.items() if len(found) <= MOST_VALUES
        }


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A sample, and the file that each of its rows lies in, as an index into ``file_paths``."""

    sample: Sample
    file_of: npt.NDArray[np.int32]
    file_paths: tuple[str, ...]

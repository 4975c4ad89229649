"""What it costs to put tuples together again from several column groups (GSOP, section 4.2, equation 2).

A cost is in data cells: reading one value of one row costs 1. It is asked for the rows that a query reads of
each of the groups that it needs, and only if these are more than one; one group needs no tuple ids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skipstone.layout.column_access import Floats

__all__ = ["JOIN_CELLS", "JOIN_SECONDS", "MeasuredJoin", "Reconstruction", "sort_merge"]

JOIN_SECONDS = 0.85e-6
"""Reading a tuple id and joining its row: 0.7 to 1 µs of processor time were measured in Spark."""
JOIN_CELLS = 85.0
"""The same in values read, of which each takes about 10 ns."""
Reconstruction = Callable[[Floats], Floats]
"""The cost of one group's part in the reconstruction, by the rows that are read of it."""


def sort_merge(rows: Floats) -> Floats:
    """The paper's: a tuple id is read for each row, and the rows are sorted by it.

    >>> sort_merge(np.array([0.0, 1.0, 8.0])).tolist()
    [0.0, 1.0, 32.0]
    """
    return np.asarray(rows + rows * np.log2(np.maximum(rows, 1.0)))


@dataclass(frozen=True, slots=True)
class MeasuredJoin:
    """As measured on a machine: seconds to read one value, and to read one tuple id and join its row.

    >>> MeasuredJoin(cell_seconds=1e-8, join_seconds=8e-7)(np.array([10.0])).round().tolist()
    [800.0]
    """

    cell_seconds: float
    join_seconds: float

    def __call__(self, rows: Floats) -> Floats:
        """The same number of cells for each row."""
        return np.asarray(rows * (self.join_seconds / self.cell_seconds))

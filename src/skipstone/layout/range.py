"""Range: blocks of consecutive values of one column, or of a composite of several.

By itself it takes the one column that the workload filters on most. Given several columns it makes a
composite range such as SIGMOD'14's range2 (month, region, segment, quantity): each column is cut into about
as many ranges as the others and a block is one combination of ranges.
"""

from __future__ import annotations

from collections.abc import Sequence

from skipstone.layout.grid import GridLayout
from skipstone.predicate.expr import Expr

__all__ = ["RANGE", "composite_range"]

RANGE = GridLayout("range", None, most_columns=1)


def composite_range(columns: Sequence[Expr]) -> GridLayout:
    """Ranges of one or several given columns."""
    return GridLayout("range", None, tuple(columns), cells_per_block=8 if len(columns) == 1 else 1)

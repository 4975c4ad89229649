"""Range: blocks of consecutive values of one column, or of a composite of several.

By itself it takes the one column that the workload filters on most. Given several columns it makes a
composite range such as SIGMOD'14's range2 (month, region, segment, quantity): each column is cut into about
as many ranges as the others and a block is one combination of ranges.
"""

from __future__ import annotations

from skipstone.layout.grid import GridLayout

__all__ = ["RANGE"]

RANGE = GridLayout("range", None, most_columns=1)

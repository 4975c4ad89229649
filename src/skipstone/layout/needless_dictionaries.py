"""Columns for which Parquet need not build dictionaries, because nearly all values of a block differ.

Parquet's writer looks every value up in a hash table, and gives the table up at the end of a column's first
page if it made nothing smaller. A plain write of large files learns that once. In blocks of some thousand
rows that page is the block, so keys, prices and comments are hashed in vain and then written again.

How many values of a block differ is estimated in the sample: among as many of its rows as a block has, drawn
from a window of neighbouring values that is as wide as the blocks' median span of the column. A dictionary
is worthless if ``distinct values >= 3/4 of the rows``: for numbers of eight bytes it then takes as much as it
saves, for texts a little more is saved, which compression finds as well. A window with fewer sampled rows
says nothing, for a sample is thin: rows of one order lie together in a block, and one of them in the sample.

Cost: ranks of the few columns that differ so much without a window; a pass over the sample for each.

Example: a block has 1,000 rows, an order 4. Blocks that span all of a million orders hold about 1,000
different ones; blocks of neighbouring orders hold 250, and keep their dictionaries.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skipstone.layout.assignment import Numbers
from skipstone.layout.ranks import rank
from skipstone.layout.sample import Sample
from skipstone.predicate.expr import Column, Expr

__all__ = ["needless_dictionaries"]

Indices = npt.NDArray[np.int64]
_DIFFER = 0.75
_FEWEST = 500
"""Fewer rows say little, and blocks as small are written quickly either way."""


def needless_dictionaries(
    sample: Sample, numbers: Callable[[], Numbers], block_rows: float
) -> tuple[Column, ...]:
    """The top-level columns of which nearly all values of a block differ.

    ``numbers`` finds the blocks of the sampled rows, if there are columns for which these matter.
    """
    rows = min(round(block_rows), len(sample))
    if rows < _FEWEST:
        return ()
    chosen = np.random.default_rng(0).permutation(len(sample))
    columns = {expr: values for expr, values in sample.columns.items() if _is_plain(expr)}
    candidates = [expr for expr, values in columns.items() if _differ(values, chosen[:rows])]
    if not candidates:
        return ()
    ordered = numbers()
    order = np.argsort(ordered, kind="stable")
    starts = np.flatnonzero(np.diff(ordered[order], prepend=-1))
    found = []
    for expr in candidates:
        place = np.empty(len(sample), np.int64)
        place[np.argsort(rank(columns[expr]).codes, kind="stable")] = np.arange(len(sample))
        window = _median_span(place[order], starts)
        if window < rows:
            continue
        begin = (len(sample) - window) // 2
        inside = chosen[(place[chosen] >= begin) & (place[chosen] < begin + window)]
        if _differ(columns[expr], inside[:rows]):
            found.append(expr)
    return tuple(expr for expr in found if isinstance(expr, Column))


def _is_plain(expr: Expr) -> bool:
    """Whether it is a column whose name Parquet's settings can hold."""
    return isinstance(expr, Column) and len(expr.path) == 1 and not set(".#") & set(expr.path[0])


def _differ(values: pa.Array, rows: Indices) -> bool:
    """Whether nearly all of these rows have a value of their own."""
    distinct = pc.count_distinct(values.take(pa.array(rows)), mode="only_valid").as_py()
    return int(distinct) >= _DIFFER * len(rows)


def _median_span(place: Indices, starts: Indices) -> int:
    """How many places lie between the least and the greatest of a block, at the median."""
    return int(np.median(np.maximum.reduceat(place, starts) - np.minimum.reduceat(place, starts)) + 1)

"""Grids: quantile buckets of some columns, gathered into blocks along a curve.

The columns are given, or those that the workload filters on most. Their buckets hold about equal numbers
of sampled rows; a cell is one bucket of each column. Cells in the order of the curve are cut into blocks
of about ``block_rows`` rows by the sampled weight before them, so a skewed cell never drags its
neighbours into its block. There are at least 8 cells per block where the columns have that many values,
and at most 2^18.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Dimension, Grid, Numbers
from skipstone.layout.contract import Fitted, in_partitions
from skipstone.layout.filtered import most_filtered
from skipstone.layout.quantiles import bucket_numbers, dimension
from skipstone.layout.ranks import rank
from skipstone.layout.sample import Fitting
from skipstone.layout.zcurve import affordable_bits
from skipstone.predicate.expr import Column, Expr
from skipstone.predicate.render import to_sql

__all__ = ["Curve", "GridLayout", "choose_columns", "cut_into_blocks", "share_buckets"]

Curve = Callable[[npt.NDArray[np.int64], int], npt.NDArray[np.uint64]]
"""Places of points along a curve, given their coordinates and the bits of each."""

MOST_CELLS = 1 << 18
_CELLS_PER_BLOCK = 8
_MOST_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class GridLayout:
    """A layout by a curve over buckets; without a curve cells stay in the order of the columns.

    ``columns`` are chosen from the workload when none are given. ``cells_per_block`` is 1 for composite
    ranges, whose cells are meant to be the blocks.
    """

    name: str
    curve: Curve | None
    columns: tuple[Expr, ...] = ()
    most_columns: int = _MOST_COLUMNS
    cells_per_block: int = _CELLS_PER_BLOCK

    def fit(self, fitting: Fitting) -> Fitted:
        """Choose columns once, and a grid inside each horizontal partition."""
        chosen = choose_columns(fitting, self.columns, self.most_columns)
        return in_partitions(fitting, lambda part: self._fit(part, chosen))

    def _fit(self, fitting: Fitting, columns: Sequence[Expr]) -> Fitted:
        sample = fitting.sample
        blocks = max(1, round(len(sample) * sample.scale / fitting.block_rows))
        ranked = [rank(sample.columns[column]) for column in columns]
        wanted = min(MOST_CELLS, self.cells_per_block * blocks)
        buckets = share_buckets(wanted, [max(1, len(column.array)) for column in ranked])
        dimensions = tuple(
            dimension(column, sample.columns[column], count)
            for column, count in zip(columns, buckets, strict=True)
        )
        numbers = [bucket_numbers(*pair) for pair in zip(dimensions, ranked, strict=True)]
        grid = _gathered(dimensions, numbers, blocks, self.curve)
        names = [to_sql(column) for column in columns]
        return Fitted(
            assignment=grid,
            sort=tuple(columns),
            expressions=tuple(column for column in columns if not isinstance(column, Column)),
            parameters={"columns": names, "buckets": [each.buckets for each in dimensions]},
            note=f"by {', '.join(names)}",
        )


def choose_columns(fitting: Fitting, columns: Sequence[Expr], most: int) -> tuple[Expr, ...]:
    """The given columns, else the most filtered ones."""
    for column in columns:
        if column not in fitting.sample.columns:
            raise SkipstoneError(f"{to_sql(column)} is not among the sampled columns, or has no order.")
    chosen = tuple(columns) or tuple(key for key, _ in most_filtered(fitting)[:most])
    if not chosen:
        raise SkipstoneError("No query of the workload compares an ordered column with a constant.")
    return chosen


def share_buckets(cells: int, values: Sequence[int]) -> list[int]:
    """Buckets per column: equal shares of the cells; what a column of few values leaves goes to the others.

    >>> share_buckets(1000, [5, 10_000, 10_000])
    [5, 14, 14]
    """
    buckets = [1] * len(values)
    left, room = list(range(len(values))), float(cells)
    for place in sorted(left, key=lambda place: values[place]):
        share = room ** (1 / len(left))
        buckets[place] = max(1, min(values[place], int(share + 1e-9)))
        room /= buckets[place]
        left.remove(place)
    return buckets


def _gathered(
    dimensions: tuple[Dimension, ...], numbers: list[Numbers], blocks: int, curve: Curve | None
) -> Grid:
    shape = tuple(dimension.buckets for dimension in dimensions)
    cell = np.ravel_multi_index([np.asarray(number, np.int64) for number in numbers], shape)
    weights = np.bincount(cell, minlength=int(np.prod(shape))).astype(np.float64)
    order = np.arange(len(weights)) if curve is None else _along(curve, shape)
    block_of: Numbers = np.empty(len(weights), np.int32)
    block_of[order] = cut_into_blocks(weights[order], blocks)
    return Grid(dimensions, block_of, int(block_of.max()) + 1)


def _along(curve: Curve, shape: tuple[int, ...]) -> npt.NDArray[np.intp]:
    """All cells in the order of the curve; NULL lies beside the lowest bucket."""
    finest = max(1, max(int(buckets - 2).bit_length() for buckets in shape))
    bits = affordable_bits(finest, len(shape))
    cells = np.stack(np.unravel_index(np.arange(int(np.prod(shape))), shape), axis=1).astype(np.int64)
    values = np.array([buckets - 1 for buckets in shape], np.int64)
    # Every column spans the whole range of coordinates, so that few values weigh as much as many.
    points = (np.maximum(cells - 1, 0) << bits) // values
    return np.argsort(curve(points, bits), kind="stable")


def cut_into_blocks(weights: npt.NDArray[np.float64], blocks: int) -> Numbers:
    """Blocks of consecutive cells with about equal weight, none of them without weight.

    >>> cut_into_blocks(np.array([1.0, 1, 0, 5, 1, 1]), 3).tolist()
    [0, 0, 0, 1, 2, 2]
    """
    total = weights.sum()
    if total <= 0:
        return np.zeros(len(weights), np.int32)
    middle = np.cumsum(weights) - weights / 2
    number = np.minimum((middle * blocks / total).astype(np.int64), blocks - 1)
    # Only cells with rows open a block; the others go with the cell before them.
    number = np.maximum.accumulate(np.where(weights > 0, number, 0))
    heavy = np.unique(number[weights > 0])
    return np.maximum(np.searchsorted(heavy, number, side="right") - 1, 0).astype(np.int32)

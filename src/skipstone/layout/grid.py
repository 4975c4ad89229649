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
from skipstone.layout.contract import ColumnGroup, Design, Needs, needed_workload
from skipstone.layout.filtered import most_filtered
from skipstone.layout.in_partitions import in_partitions
from skipstone.layout.named_columns import named_columns
from skipstone.layout.own_options import names, option, whole_number
from skipstone.layout.quantiles import bucket_numbers, dimension
from skipstone.layout.ranks import rank
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.layout.zcurve import affordable_bits
from skipstone.predicate.expr import Column, Expr
from skipstone.predicate.render import to_sql

__all__ = ["Curve", "GridLayout", "GridOptions", "cut_into_blocks", "share_buckets"]

Curve = Callable[[npt.NDArray[np.int64], int], npt.NDArray[np.uint64]]
"""Positions of points along a curve, given their coordinates and the bits of each."""

MOST_CELLS = 1 << 18
_CELLS_PER_BLOCK = 8
_MOST_COLUMNS = 4
_MOST_GIVEN = 6
"""With more columns there would be many more cells than are wanted, for each has buckets for NULL."""


@dataclass(frozen=True, slots=True)
class GridOptions:
    """``columns`` are those to cut by, as names or as expressions; without them those that the workload
    filters on most, at most ``most_columns``.
    """

    columns: tuple[str | Expr, ...] = option((), names)
    most_columns: int | None = option(None, whole_number)

    def __post_init__(self) -> None:
        """Refuse more columns than a grid can have."""
        if len(self.columns) > _MOST_GIVEN:
            raise SkipstoneError(
                f"A grid has at most {_MOST_GIVEN} columns, and {len(self.columns)} are named."
            )
        if self.most_columns is not None and not 1 <= self.most_columns <= _MOST_GIVEN:
            raise SkipstoneError(
                f"most_columns must be a number from 1 to {_MOST_GIVEN}, and it is {self.most_columns}."
            )


@dataclass(frozen=True, slots=True)
class GridLayout:
    """A layout by a curve over buckets; without a curve cells stay in the order of the columns."""

    name: str
    curve: Curve | None
    most_columns: int = _MOST_COLUMNS

    @property
    def options(self) -> type[GridOptions]:
        """Which columns to cut by."""
        return GridOptions

    def needs(self, options: GridOptions) -> Needs:
        """Queries, from which the columns are chosen, or the names of the columns."""
        return Needs(workload=not options.columns, all_columns=bool(options.columns))

    def fit(self, view: TableView, workload: FitWorkload | None, options: GridOptions) -> Design:
        """Choose columns once, and a grid inside each horizontal partition."""
        columns = named_columns(options.columns, view)
        if not columns:
            filtered = most_filtered(view.sample, needed_workload(workload, self.name).queries)
            columns = tuple(key for key, _ in filtered[: options.most_columns or self.most_columns])
        if not columns:
            raise SkipstoneError("No query of the workload compares an ordered column with a constant.")
        return in_partitions(view, lambda part, _: self._fit(part, columns))

    def _fit(self, view: TableView, columns: Sequence[Expr]) -> Design:
        sample = view.sample
        ranked = [rank(sample.columns[column]) for column in columns]
        # The cells of a composite range are meant to be the blocks.
        cells_per_block = 1 if self.curve is None and len(columns) > 1 else _CELLS_PER_BLOCK
        wanted = min(MOST_CELLS, cells_per_block * view.blocks)
        buckets = share_buckets(wanted, [max(1, len(column.array)) for column in ranked])
        dimensions = tuple(
            dimension(column, sample.columns[column], count)
            for column, count in zip(columns, buckets, strict=True)
        )
        numbers = [bucket_numbers(*pair) for pair in zip(dimensions, ranked, strict=True)]
        names = [to_sql(column) for column in columns]
        group = ColumnGroup(
            assignment=_gathered(dimensions, numbers, view.blocks, self.curve),
            sort=tuple(columns),
            expressions=tuple(column for column in columns if not isinstance(column, Column)),
        )
        return Design(
            (group,),
            parameters={"columns": names, "buckets": [each.buckets for each in dimensions]},
            note=f"by {', '.join(names)}",
        )


def share_buckets(cells: int, values: Sequence[int]) -> list[int]:
    """Buckets per column: equal shares of the cells; what a column of few values leaves goes to the others.

    >>> share_buckets(1000, [5, 10_000, 10_000])
    [5, 14, 14]
    """
    buckets = [1] * len(values)
    left, room = list(range(len(values))), float(cells)
    for index in sorted(left, key=lambda index: values[index]):
        share = room ** (1 / len(left))
        buckets[index] = max(1, min(values[index], int(share + 1e-9)))
        room /= buckets[index]
        left.remove(index)
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
    finest = max(1, *(int(buckets - 2).bit_length() for buckets in shape))
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

"""Fitting inside horizontal partitions (section 2.2 of SIGMOD'14's SOP): block numbers follow one another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Part, Partitioned, Tree
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.layout.sample import Sample
from skipstone.layout.table_view import TableView
from skipstone.predicate.expr import Expr
from skipstone.predicate.render import to_sql

__all__ = ["in_partitions", "partition_expression"]

T = TypeVar("T")
Fit = Callable[[TableView, npt.NDArray[np.int64]], Design]
"""From the view of some sampled rows, and the numbers of these rows, to a design of one column group."""


def in_partitions(view: TableView, fit: Fit) -> Design:
    """Fit inside each horizontal partition, or once when there are none.

    A partition of less than two blocks is one block.
    """
    sample = view.sample
    if sample.partition is None:
        return fit(view, np.arange(len(sample)))
    by = partition_expression(sample)
    designs: list[Design] = []
    for index in range(len(sample.partition_values)):
        rows = np.flatnonzero(sample.partition == index)
        few = len(rows) * sample.scale < 2 * view.block_rows
        designs.append(Design((ColumnGroup(Tree(0, 1)),)) if few else fit(view.of_rows(rows), rows))
    groups = [design.group for design in designs]
    # A view of some rows has no partitions of its own.
    parts = tuple(group.assignment for group in groups if isinstance(group.assignment, Part))
    group = ColumnGroup(
        assignment=Partitioned(by, sample.partition_values, parts),
        sort=next((group.sort for group in groups if group.sort), ()),
        features=_distinct(group.features for group in groups),
        expressions=_distinct((*[group.expressions for group in groups], (by,))),
    )
    return Design(
        (group,),
        parameters={"partitions": len(parts)}
        | next((dict(design.parameters) for design in designs if design.parameters), {}),
        note=next((design.note for design in designs if design.note), ""),
    )


def partition_expression(sample: Sample) -> Expr:
    """What the horizontal partitions of a sample are made by; there must be some."""
    if sample.partition_by is None:
        raise SkipstoneError("The sample has horizontal partitions but does not say by which expression.")
    if not sample.partition_values:
        raise SkipstoneError(
            f"{to_sql(sample.partition_by)} is NULL in all sampled rows, so it makes no partitions."
        )
    return sample.partition_by


def _distinct(groups: Iterable[Sequence[T]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(item for group in groups for item in group))

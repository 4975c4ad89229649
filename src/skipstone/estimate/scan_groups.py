"""What queries would read of column groups: data cells and tuple ids, simulated on a sample.

Each group is laid out in virtual blocks of its own. These have union vectors of the group's features and
statistics of its own columns only. A query reads its columns of each group that has any, and tuple ids too
if these groups are several (GSOP, VLDB 2016, section 4.2, equations 1 and 2); with a column outside all
groups it reads the table as it is. Cost: one simulation for each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skipstone.estimate.benefit import Scanned, scanned_blocks
from skipstone.estimate.prepared import Prepared
from skipstone.layout.column_reads import column_reads
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.layout.numbers import block_numbers
from skipstone.layout.sample import Sample
from skipstone.layout.table_view import ColumnReads
from skipstone.predicate.expr import Column

__all__ = ["GroupReads", "group_reads", "scanned_groups"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GroupReads:
    """Of each kind of query: cells and tuple ids that it reads, as shares of the table's rows, and blocks.

    ``asked`` is the number of its columns: so many cells of each row it reads at most. ``covered`` says
    whether the groups have all of them.
    """

    kinds: ColumnReads
    cells: Floats
    tuple_ids: Floats
    blocks: Floats
    asked: Floats
    covered: npt.NDArray[np.bool_]

    def percent(self, read: Floats) -> float:
        """What is read of all cells that the covered queries ask for."""
        weights = self.kinds.weights * self.covered
        return float(100.0 * (weights @ read) / max(float(weights @ self.asked), 1e-300))


def group_reads(prepared: Prepared, design: Design) -> GroupReads:
    """What the queries that layouts are judged by read of the groups of a design."""
    asked, names = prepared.asked, prepared.column_names
    kinds = column_reads(names, asked.entries, asked.view, ())
    widths = _widths(kinds, design.groups)
    found = [_scanned(prepared, group) for group in design.groups]
    rows, blocks = (
        np.array([values[kinds.query] for values in each])
        for each in ([one.share for one in found], [one.blocks for one in found])
    )
    several = (widths > 0).sum(axis=0) > 1
    wanted = np.asarray(kinds.columns.sum(axis=1), np.float64)
    return GroupReads(
        kinds=kinds,
        cells=np.asarray((widths * rows).sum(axis=0)),
        tuple_ids=np.where(several, ((widths > 0) * rows).sum(axis=0), 0.0),
        blocks=np.asarray(((widths > 0) * blocks).sum(axis=0)),
        asked=wanted,
        covered=(widths.sum(axis=0) == wanted) & (wanted > 0),
    )


def scanned_groups(reads: GroupReads, standing: Scanned) -> Scanned:
    """The same as shares of what each query asks for; ``standing`` is what others read of the table."""
    query, weights = reads.kinds.query, reads.kinds.weights
    covered, size = reads.covered, len(standing.share)
    share = (reads.cells + reads.tuple_ids) / np.maximum(reads.asked, 1.0)
    runs = np.maximum(np.bincount(query, weights, size), 1e-300)

    def mean(there: Floats, here: Floats) -> Floats:
        return np.asarray(np.bincount(query, weights * np.where(covered, there, here), size) / runs)

    return Scanned(
        mean(share, standing.share[query]),
        mean(reads.blocks, standing.blocks[query]),
        mean(reads.tuple_ids, np.zeros(len(query))),
    )


def _widths(kinds: ColumnReads, groups: Sequence[ColumnGroup]) -> Floats:
    """How many columns of each group a query reads."""
    index = {name: number for number, name in enumerate(kinds.names)}
    members = [[index[name] for name in group.columns or kinds.names] for group in groups]
    return np.array([kinds.columns[:, some].sum(axis=1) for some in members], np.float64)


def _scanned(prepared: Prepared, group: ColumnGroup) -> Scanned:
    sample, queries = prepared.view.sample, prepared.workload.queries
    numbers = block_numbers(group.assignment, sample, queries.atoms)
    own = _own_columns(sample, group)
    return scanned_blocks(numbers, own, queries, group.features, prepared.asked.view)


def _own_columns(sample: Sample, group: ColumnGroup) -> Sample:
    if group.columns is None:
        return sample
    names = set(group.columns)
    kept = {
        expr: column
        for expr, column in sample.columns.items()
        if (expr.path[0] in names if isinstance(expr, Column) else expr in group.expressions)
    }
    return replace(sample, columns=kept)

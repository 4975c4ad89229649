"""The blocks of a tree in its current layout: below which node, and what queries read of them in vain.

A *unit* is what is rewritten whole or left alone: a file. Right after a table was laid out by a tree, its
units are the leaves. Later some are not: files of appended rows, and files that an adaptation left alone,
have rows in several leaves. Such a unit belongs to the lowest node that all its sampled rows lie below, so
it is touched only by changes of that node or of one above.

What a query reads of a unit is judged as in growing (:mod:`~skipstone.layout.formulas`): a unit is skipped
if its filter cannot hold on the sampled rows there. Rows that are read but do not satisfy the filter are
read in vain; no layout saves more than that.

Cost: one pass over the bits of the sample by unit, and one over the rows of each query.

>>> from skipstone.predicate.expr import Column, IsNull
>>> from skipstone.predicate.types import LONG
>>> x, y = (IsNull(Column((name,), LONG)) for name in "xy")
>>> leaf_spans(Split(x, 1, Split(y, 0, 2)))[2], leaf_order(Split(x, 1, Split(y, 0, 2)))
(Span(first=1, last=3), [1, 0, 2])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.layout.assignment import Node, Numbers, Split
from skipstone.layout.formulas import compile_formulas, holds
from skipstone.layout.sample import Sample, WorkloadView

__all__ = ["Span", "Units", "leaf_order", "leaf_spans", "units_of"]

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Span:
    """The leaves below a node: from number ``first`` to before ``last``, counted from the yes side."""

    first: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Units with their sampled rows, the leaves that these lie in, and the rows that queries read in vain.

    ``rows[starts[u]:starts[u + 1]]`` are the sampled rows of unit u. ``reads`` says, for units and queries,
    what is read; ``wasted`` is, for each unit, the weight of all rows that are read in vain, and ``cost``
    what rewriting it costs.
    """

    rows: Indices
    starts: Indices
    first_leaf: Indices
    last_leaf: Indices
    reads: Bits
    wasted: Floats
    cost: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> Indices:
        """The sampled rows of each unit."""
        return np.diff(self.starts)

    def below(self, span: Span) -> Indices:
        """The units all of whose rows lie below a node."""
        return np.flatnonzero((self.first_leaf >= span.first) & (self.last_leaf < span.last))

    def rows_of(self, units: Indices) -> Indices:
        """The sampled rows of some units, in order."""
        return np.sort(np.concatenate([self.rows[self.starts[u] : self.starts[u + 1]] for u in units]))

    def each(self, units: Indices) -> list[Indices]:
        """The sampled rows of some units, unit by unit."""
        return [self.rows[self.starts[u] : self.starts[u + 1]] for u in units]


def units_of(
    unit_of: Numbers, leaf_of: Indices, sample: Sample, queries: WorkloadView, rewrite: float
) -> Units:
    """The units, by the number of the unit and of the leaf that every sampled row lies in.

    ``queries.weights`` are what one sampled row costs each query, and ``rewrite`` what rewriting it costs.
    """
    order = np.argsort(unit_of, kind="stable")
    begin = np.unique(unit_of[order], return_index=True)[1]
    starts = np.append(begin, len(order)).astype(np.int64)
    leaves = leaf_of[order]
    present = np.logical_or.reduceat(sample.bits[order], begin, axis=0)
    reads = ~compile_formulas(queries.formulas, len(queries.atoms)).skipped(~present.T).T
    wasted = reads @ queries.weights * np.diff(starts)
    for number, formula in enumerate(queries.formulas):
        matching = np.add.reduceat(holds(formula, sample.bits)[order].astype(np.float64), begin)
        wasted -= queries.weights[number] * matching * reads[:, number]
    return Units(
        rows=order.astype(np.int64),
        starts=starts,
        first_leaf=np.minimum.reduceat(leaves, begin),
        last_leaf=np.maximum.reduceat(leaves, begin),
        reads=reads,
        wasted=np.maximum(wasted, 0.0),
        cost=rewrite * np.diff(starts),
    )


def leaf_order(root: Node) -> list[int]:
    """The block numbers of the leaves, from the yes side to the no side."""
    found: list[int] = []
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Split):
            stack += [node.no, node.yes]
        else:
            found.append(node)
    return found


def leaf_spans(root: Node) -> Sequence[Span]:
    """The span of each node, parents before their children and the yes side before the no side."""
    spans: list[Span] = []

    def visit(node: Node, first: int) -> int:
        index = len(spans)
        spans.append(Span(first, first))
        last = first + 1
        if isinstance(node, Split):
            last = visit(node.no, visit(node.yes, first))
        spans[index] = Span(first, last)
        return last

    visit(root, 0)
    return spans

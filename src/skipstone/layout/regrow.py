"""Growing a part of a tree anew: the qd-tree's greedy cuts over the rows of some blocks.

The rows become as many blocks as they are worth, each from 0.3 to 2 times the wanted size, so that a part
which was grown anew cannot be grown into ever smaller blocks. The candidates are those of the qd-tree, which
are the atoms of the window's queries and ranges of the columns that they compare, and besides ranges of all
other attributes. Where no cut gains anything, nodes that are still too large are halved by the most even of
these latter cuts, so that blocks which no query reads remain partitioned by what nobody asks for now.

Candidates and their classes are computed once for the whole sample; a part only takes the classes of its
rows, so that hundreds of parts can be tried. Cost of a part: that of :mod:`~skipstone.layout.grow` on its
rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skipstone.layout.assignment import Node
from skipstone.layout.attributes import Attribute
from skipstone.layout.cooccurrence import Groups, group_predicates
from skipstone.layout.filtered import most_filtered, subjects
from skipstone.layout.formulas import Conjunctions, compile_formulas
from skipstone.layout.grow import Branch, Limits, grow
from skipstone.layout.qdtree import candidate_cuts, tree_of
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.predicate.expr import Expr, columns_of

__all__ = ["Regrower", "Regrown"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
_RANGES = 64
_OTHER_RANGES = 8
_SMALLEST, _LARGEST = 0.3, 2.0
"""Rows of a new block, in blocks: smaller ones would count as not laid out, larger ones serve nobody else."""


@dataclass(frozen=True, slots=True, eq=False)
class Regrown:
    """A tree whose leaves are numbered from the yes side on, the sampled rows of each, and what is scanned.

    ``scanned`` is the weight of all rows that the queries read.
    """

    root: Node
    leaves: tuple[Indices, ...]
    scanned: float


@dataclass(frozen=True, slots=True, eq=False)
class Regrower:
    """All candidate cuts of a sample, ready to grow trees over any of its rows."""

    cuts: Sequence[Expr]
    groups: Groups
    formulas: Conjunctions
    weights: Floats
    preferred: Indices
    block_rows: float

    @classmethod
    def of(
        cls, sample: Sample, queries: WorkloadView, others: Sequence[Attribute], block_rows: float
    ) -> Regrower:
        """Collect the candidates; ``others`` are attributes that no query is about.

        ``block_rows`` are the sampled rows of a block.
        """
        useful = tuple(key for key, _ in most_filtered(sample, queries))
        keys = tuple(dict.fromkeys([*useful, *subjects(sample, queries).values()]))
        cuts, bits, _ = candidate_cuts(sample, queries, keys, _RANGES)
        first = len(cuts)
        for attribute in others:
            for code in _quantile_codes(attribute, _OTHER_RANGES):
                cuts.append(attribute.cut(code))
                bits.append(attribute.codes <= code)
        groups = group_predicates(bits, [columns_of(cut) for cut in cuts])
        formulas = compile_formulas(queries.formulas, len(queries.atoms))
        return cls(cuts, groups, formulas, queries.weights, np.arange(first, len(cuts)), block_rows)

    def grow(self, rows: Indices) -> Regrown:
        """The tree over these sampled rows, of as many leaves as they are blocks, about."""
        part = replace(
            self.groups,
            groups=tuple(replace(group, classes=group.classes[rows]) for group in self.groups.groups),
        )
        size = self.block_rows
        limits = Limits(max(1.0, _SMALLEST * size), _LARGEST * size, max(1, round(len(rows) / size)))
        grown = grow(part, self.formulas, self.weights, limits, self.preferred)
        scanned = sum(
            len(leaf.rows) * float(self.weights @ reads)
            for leaf, reads in zip(grown.leaves, grown.reads, strict=True)
        )
        leaves = tuple(rows[leaf.rows] for leaf in _leaves(grown.root))
        return Regrown(tree_of(grown.root, self.cuts), leaves, scanned)


def _quantile_codes(attribute: Attribute, ranges: int) -> list[int]:
    """The last rank of each range of about equal numbers of rows, but for the highest range."""
    ordered = np.sort(attribute.codes)
    at = (np.arange(1, ranges) * len(ordered)) // ranges
    found = np.unique(ordered[at - 1])
    return [int(code) for code in found if code < min(int(ordered[-1]), attribute.null)]


def _leaves(root: Branch) -> list[Branch]:
    found: list[Branch] = []
    stack = [root]
    while stack:
        branch = stack.pop()
        if branch.yes is None or branch.no is None:
            found.append(branch)
        else:
            stack += [branch.no, branch.yes]
    return found

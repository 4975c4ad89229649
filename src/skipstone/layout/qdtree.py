"""qd-tree: nested cuts, chosen from the top down for the rows that the workload can then skip.

Candidate cuts are all atoms of the workload, ranges and unions. Ranges are quantiles of every column that
the workload compares with constants. They matter where queries look for single values: a cut at
``p_type < 'M'`` halves the rows for queries about any type, those not in the log included, which no cut at
one type does. Queries with lists of values are served by blocks of single values only: of a list of eight
most ranges have one. So where an IN list is about a column of few values, each of these bounds a range.
Unions do the same for patterns, which have no order: the rows that match any of the first 2,
4, 8, ... patterns on a column are parted from those that match none, which all these queries then skip.
Queries are judged with their full boolean structure (:mod:`~skipstone.layout.grow`).

The number of blocks is the budget, rows / ``block_rows``, and the cut that gains most is always made
next, so rows that many queries read end up in smaller blocks than rows that few do: from a quarter of
``block_rows`` to four times as much, or ``max_block_rows``. With ``balanced`` every cut
that gains anything is made as long as both sides keep half of ``block_rows``: the plain greedy qd-tree.

Bounds and value sets describe what the rows of a block have in common in single columns. Union vectors are
kept for cuts that need a feature bit: atoms over several columns, patterns, and equalities on columns with
many values.

Cost: for n rows and k blocks about n log k counts per pair of filtered columns; see
:mod:`~skipstone.layout.cooccurrence`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skipstone.errors import SkipstoneError
from skipstone.layout.additional import atoms_needing_bits, needs_feature_bit
from skipstone.layout.assignment import Assignment, Node, Partitioned, Split, Tree
from skipstone.layout.contract import ColumnGroup, Design, Needs, needed_workload
from skipstone.layout.cooccurrence import Bits, group_predicates
from skipstone.layout.filtered import most_filtered, subjects
from skipstone.layout.formulas import compile_formulas
from skipstone.layout.grow import Branch, Limits, grow
from skipstone.layout.in_partitions import in_partitions
from skipstone.layout.own_options import NoOptions
from skipstone.layout.quantiles import bounds, ranks_of
from skipstone.layout.ranks import rank
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.predicate.expr import (
    Column,
    Comparison,
    Expr,
    In,
    Like,
    Literal,
    Match,
    Or,
    columns_of,
    is_opaque,
    type_of,
)
from skipstone.predicate.partner import other_side
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import Feature

__all__ = ["QDTREE", "QdTree", "candidate_cuts", "cut_features", "tree_of"]

_RANGES = 16
_MOST_FEATURES = 128
_SORT_COLUMNS = 3
_MOST_UNITED = 32
_MOST_LISTED = 64


@dataclass(frozen=True, slots=True)
class QdTree:
    """The layout; ``ranges`` is the number of quantiles per column that may be cut at, 0 for atoms only."""

    name: str = "qdtree"
    ranges: int = _RANGES
    balanced: bool = False

    @property
    def options(self) -> type[NoOptions]:
        """None."""
        return NoOptions

    def needs(self, options: NoOptions) -> Needs:
        """Queries."""
        return Needs(workload=True)

    def fit(self, view: TableView, workload: FitWorkload | None, options: NoOptions) -> Design:
        """Fit a tree, or one inside each horizontal partition."""
        sample, queries = view.sample, needed_workload(workload, self.name).queries
        if not any(not is_opaque(atom) for atom in queries.atoms):
            raise SkipstoneError("No query of the workload has a filter that a qd-tree can cut by.")
        useful = tuple(key for key, _ in most_filtered(sample, queries))
        keys = tuple(dict.fromkeys([*useful, *subjects(sample, queries).values()]))
        design = in_partitions(view, lambda part, _: self._fit(part, queries, keys))
        cuts = list(_cuts(design.group.assignment))
        group = replace(
            design.group,
            sort=useful[:_SORT_COLUMNS],
            features=cut_features(sample, queries, cuts),
            expressions=tuple(key for key in keys if not isinstance(key, Column)),
        )
        candidates = design.parameters.get("candidates", 0)
        return Design(
            (group,),
            parameters={**design.parameters, "cuts": len(cuts)},
            note=f"{len(cuts):,} {'cut' if len(cuts) == 1 else 'cuts'} out of {candidates:,} candidates",
        )

    def _fit(self, view: TableView, queries: WorkloadView, keys: Sequence[Expr]) -> Design:
        cuts, bits, preferred = candidate_cuts(
            view.sample, queries, keys if self.ranges > 1 else (), self.ranges
        )
        groups = group_predicates(bits, [columns_of(cut) for cut in cuts])
        formulas = compile_formulas(queries.formulas, len(queries.atoms))
        grown = grow(groups, formulas, queries.weights, self._limits(view), np.array(preferred, np.int64))
        return Design(
            (ColumnGroup(Tree(tree_of(grown.root, cuts), len(grown.leaves))),),
            parameters={"candidates": len(cuts), "ranges": self.ranges, "balanced": self.balanced},
        )

    def _limits(self, view: TableView) -> Limits:
        scale = view.sample.scale
        rows = view.block_rows / scale
        largest = 4 * rows if view.max_block_rows is None else view.max_block_rows / scale
        if self.balanced:
            return Limits(max(1.0, rows / 2), largest)
        budget = max(1, round(len(view.sample) / max(rows, 1e-9)))
        return Limits(max(1.0, rows / 4), largest, budget)


QDTREE = QdTree()


def candidate_cuts(
    sample: Sample, queries: WorkloadView, keys: Sequence[Expr], ranges: int
) -> tuple[list[Expr], list[Bits], list[int]]:
    """Cuts, their bits, and the numbers of the ranges on the most filtered column."""
    cuts: list[Expr] = list(queries.atoms)
    bits = [np.ascontiguousarray(sample.bits[:, atom]) for atom in range(len(cuts))]
    known = set(cuts)
    preferred: list[int] = []
    about = subjects(sample, queries)
    listed = {key for atom, key in about.items() if isinstance(queries.atoms[atom], In)}
    for order, key in enumerate(keys):
        column = rank(sample.columns[key])
        few = key in listed and len(column.array) <= _MOST_LISTED
        values = bounds(column, max(ranges, len(column.array)) if few else ranges)
        for value, code in zip(values, ranks_of(values, column), strict=True):
            cut = Comparison("<", key, Literal(value, type_of(key)))
            if cut not in known:
                bits.append((column.codes >= 0) & (column.codes < code))
                cuts.append(cut)
                if order == 0:
                    preferred.append(len(cuts) - 1)
    for atoms in _unions(sample, queries):
        cuts.append(Or(tuple(cuts[atom] for atom in atoms)))
        bits.append(np.logical_or.reduce(sample.bits[:, atoms], axis=1, dtype=np.bool_))
    return cuts, bits, preferred


def _unions(sample: Sample, queries: WorkloadView) -> Iterator[list[int]]:
    """Of the patterns on a column that need a feature bit: the 2, 4, 8, ... most asked for."""
    groups: dict[frozenset[Column], list[int]] = {}
    for atom in atoms_needing_bits(sample, queries):
        if isinstance(queries.atoms[atom], Like | Match):
            groups.setdefault(columns_of(queries.atoms[atom]), []).append(atom)
    for group in groups.values():
        most = min(len(group), _MOST_UNITED)
        sizes = {min(1 << power, most) for power in range(1, _MOST_UNITED.bit_length())}
        yield from (group[:size] for size in sorted(sizes) if size > 1)


def tree_of(root: Branch, cuts: Sequence[Expr]) -> Node:
    """The grown tree with its leaves numbered from the yes side to the no side."""
    done: list[Node] = []
    number = 0
    stack: list[tuple[Branch, bool]] = [(root, False)]
    while stack:
        branch, seen = stack.pop()
        if branch.yes is None or branch.no is None:
            done.append(number)
            number += 1
        elif seen:
            no, yes = done.pop(), done.pop()
            done.append(Split(cuts[branch.cut], yes, no))
        else:
            stack += [(branch, True), (branch.no, False), (branch.yes, False)]
    return done[0]


def cut_features(sample: Sample, queries: WorkloadView, cuts: Sequence[Expr]) -> tuple[Feature, ...]:
    """Cuts that need a feature bit, the most used first."""
    needs_bit = needs_feature_bit(sample, queries)
    chosen = [cut for cut, _ in Counter(cuts).most_common() if needs_bit(cut)]
    # Only a feature bit says how two columns compare, so these atoms are kept even if unused.
    pairs = [atom for atom in queries.atoms if len(columns_of(atom)) > 1 and not is_opaque(atom)]
    every = dict.fromkeys([*chosen, *pairs])
    # Of a joined table either side of a range is known by a bit of its own.
    known = set(queries.atoms)
    sides = [side for cut in every if (side := other_side(cut)) in known]
    both = dict.fromkeys([*list(every)[:_MOST_FEATURES], *sides[:_MOST_FEATURES]])
    return tuple(Feature(cut, to_sql(cut)) for cut in both)


def _cuts(assignment: Assignment) -> Iterator[Expr]:
    stack: list[Assignment | Node] = [assignment]
    while stack:
        match stack.pop():
            case Partitioned(parts=parts):
                stack += parts
            case Tree(root=root):
                stack.append(root)
            case Split(cut=cut, yes=yes, no=no):
                yield cut
                stack += [yes, no]

"""Adapting a tree to the queries of a window, by rewriting only the blocks where that pays.

The hyper-partitioning thesis (Nguyen, MIT 2015, sections 1.3 and 5.1) leaves adaptation to its source [31],
Amoeba (Shanbhag, Jindal et al.), which changes a tree by three moves: a node's attribute is *swapped* for
one that queries ask for, a split is *pulled up* above its parent, and two nodes are *rotated*. Blocks below
are repartitioned where the queries of a window gain more than that costs.

Here a change replaces the part of the tree below one node. Some of the blocks there are pooled: those that
the queries read most in vain for their size. Their rows are cut anew into as many blocks by the qd-tree's
greedy choice (:mod:`~skipstone.layout.regrow`); blocks that are not pooled stay as they are.

* A swap is a pool of all blocks below the node, since any attribute may cut the new node.
* Amoeba pulls splits up so that blocks on one side of it need no rewriting. Blocks that are not pooled need
  none, whatever splits lead to them.
* A rotation keeps both cuts in another order, which is one of the trees that may be grown.

So the moves are special cases, and pools from all over a table end up in far fewer blocks than moves inside
small subtrees can make: a query that reads one new block in each of a hundred subtrees still reads a hundred.

Which nodes are changed is found by dynamic programming from the leaves up. At each node the best of three is
taken: leave it, do the best on either side, or change it. The value of a change is

    rows that queries skip more, by their weight - rows of the pooled blocks * the price of rewriting one

and what does not have a positive value, or saves less than ``least_gain`` of what its blocks are scanned, is
never done. A change gives up at most ``most_given_up`` of what ranges of any attribute that no query is about
skip below its node, or skipped before the first adaptation (:mod:`~skipstone.layout.given_up`), and it pools
less than ``most_rewritten`` of the rows there, so all changes together do. Savings are what queries save over
the window, so they hold if the window comes once more.

Horizontal partitions are kept apart: each has a tree of its own, and no pool has blocks of two.

Cost: for each level of the tree, growing over the sampled rows a few times. A change that saves nine tenths
of what its pool reads in vain is taken without looking further down, and in large trees nodes with less than
a sixteenth of the blocks are not looked at alone, so that most often the tree is grown once or twice.

Deviations: rows that are appended to a changed part follow the new tree, also those that would have come to
blocks which stayed; blocks that stayed belong to the lowest node above all their rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from skipstone.layout.assignment import Node, Numbers, Split, Tree
from skipstone.layout.attributes import Attribute, attributes
from skipstone.layout.given_up import RangeSkips
from skipstone.layout.numbers import block_numbers
from skipstone.layout.one_tree import partition_roots
from skipstone.layout.regrow import Regrower, Regrown
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.layout.tree_units import Span, Units, leaf_order, leaf_spans, units_of
from skipstone.predicate.expr import Expr, columns_of, type_of

__all__ = ["AdaptLimits", "Adaptation", "Change", "LaidOut", "Prices", "adapt_tree"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
_NEAR = 0.9
"""A change that saves so much of what is read in vain is taken without looking at the nodes below."""
_SAMPLED = 0.99
"""Rows are counted in a sample, so of those that may be rewritten a little is left."""
_MANY = 256
_PARTS = 16
"""Nodes with fewer than this part of a large tree's units are not changed alone, but in pools of others."""


@dataclass(frozen=True, slots=True, eq=False)
class LaidOut:
    """Rows as a tree laid them out: in files; without ``file_of``, that of each sampled row in its leaves.

    With ``by`` there is a tree inside each horizontal partition (:mod:`~skipstone.layout.one_tree`).
    """

    tree: Tree
    file_of: Numbers | None = None
    by: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """What a row of the table costs: to scan, for all runs of each query in the window, and to rewrite.

    ``fixed`` is what any rewrite costs besides. All in one unit, such as seconds.
    """

    scan: Floats
    rewrite: float
    fixed: float = 0.0


@dataclass(frozen=True, slots=True)
class AdaptLimits:
    """What changes must save and may give up, and the rows of a block.

    ``least_gain`` is a share of what the queries scan of the rewritten blocks. ``most_given_up`` is a share
    of what ranges of any attribute that no query is about skip; ``scanned_first`` are the shares that such
    ranges scanned before any adaptation, where there were some, so that many do not give up more than one.
    ``most_rewritten`` is a share of all rows, of which less is rewritten.
    """

    block_rows: float
    least_gain: float = 0.1
    most_given_up: float = 0.5
    most_rewritten: float = 0.5
    scanned_first: Mapping[Expr, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A node of the old tree whose part is replaced, by the span of its leaves.

    ``units`` are the blocks whose rows are cut anew, as indices of the distinct numbers of files. ``saved``
    and ``cost`` are in the unit of the prices.
    """

    span: Span
    units: Indices
    grown: Regrown
    saved: float
    cost: float


@dataclass(frozen=True, slots=True, eq=False)
class Adaptation:
    """The changes that pay, and the tree with all of them; the old one if there are none.

    Leaves are numbered from the yes side on. ``writing`` places the rows of rewritten blocks only: what lies
    outside all changes has the last block.
    """

    tree: Tree
    writing: Tree
    changes: tuple[Change, ...]
    before: dict[Expr, float]
    after: dict[Expr, float]
    queried: frozenset[Expr]


def adapt_tree(
    laid_out: LaidOut, sample: Sample, queries: WorkloadView, prices: Prices, limits: AdaptLimits
) -> Adaptation:
    """The changes of a tree by which the queries gain most."""
    tree = laid_out.tree
    numbers = block_numbers(tree, sample, queries.atoms)
    place = np.argsort(np.array(leaf_order(tree.root)), kind="stable")
    unit_of = numbers if laid_out.file_of is None else laid_out.file_of
    priced = replace(queries, weights=prices.scan * sample.scale)
    units = units_of(unit_of, place[numbers], sample, priced, prices.rewrite * sample.scale)
    known, _ = attributes(sample.columns, [expr for expr in sample.columns if type_of(expr).ordered])
    if not known:
        return Adaptation(tree, Tree(0, 1), (), {}, {}, frozenset())
    asked = {column for atom in queries.atoms for column in columns_of(atom)}
    others = [each for each in known if asked.isdisjoint(columns_of(each.expr))]
    skips = _bounded(RangeSkips.of(known), units, known, others, limits)
    best = _Best()
    if queries.formulas:
        regrower = Regrower.of(sample, priced, others, limits.block_rows / sample.scale)
        best = _Search(units, skips, regrower, limits).best(tree.root, laid_out.by)
    changes = best.changes if best.value > prices.fixed else ()
    queried = frozenset(each.expr for each in known) - {each.expr for each in others}
    return _adapted(tree, units, changes, skips, {each.expr: each.expr in queried for each in known})


def _bounded(
    skips: RangeSkips,
    units: Units,
    known: Sequence[Attribute],
    others: Sequence[Attribute],
    limits: AdaptLimits,
) -> RangeSkips:
    """Of what ranges of attributes that no query is about skip, or skipped at first, a share must remain."""
    now = skips.skipped(units.each(np.arange(len(units)))).sum(axis=0)
    unasked = {each.expr for each in others}
    rows = float(units.sizes.sum())
    least = np.zeros(len(known))
    for index, each in enumerate(known):
        if each.expr in unasked:
            first = limits.scanned_first.get(each.expr)
            at_first = now[index] if first is None else rows * (1.0 - first)
            least[index] = (1.0 - limits.most_given_up) * at_first
    return skips.keeping(now, least)


@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    value: float = 0.0
    changes: tuple[Change, ...] = ()

    def with_other(self, other: _Best) -> _Best:
        return _Best(self.value + other.value, self.changes + other.changes)


class _Search:
    """The dynamic programme over the nodes of a tree."""

    def __init__(self, units: Units, skips: RangeSkips, regrower: Regrower, limits: AdaptLimits) -> None:
        self._units = units
        self._skips = skips
        self._regrower = regrower
        self._limits = limits
        self._fewest = max(2, len(units) // _PARTS if len(units) > _MANY else 0)
        self._scanned = units.reads @ regrower.weights * units.sizes
        self._skipped = skips.skipped(units.each(np.arange(len(units))))

    def best(self, root: Node, by: Expr | None) -> _Best:
        """The best of all changes below a node, or below the top of each horizontal partition."""
        spans = {id(node): span for node, span in zip(_preorder(root), leaf_spans(root), strict=True)}

        def visit(node: Split) -> _Best:
            changed, near = self._changed(spans[id(node)])
            if near:
                return changed
            below = _Best()
            for side in (node.yes, node.no):
                if isinstance(side, Split):
                    below = below.with_other(visit(side))
            return max(changed, below, key=lambda each: each.value)

        found = _Best()
        for top in partition_roots(root, by):
            if isinstance(top, Split):
                found = found.with_other(visit(top))
        return found

    def _changed(self, span: Span) -> tuple[_Best, bool]:
        """The best change of one node, and whether none below it can be much better."""
        below = self._units.below(span)
        most = self._units.wasted[below] - self._units.cost[below]
        worth = below[most > 0]
        if len(worth) < self._fewest:
            return _Best(), True
        density = self._units.wasted[worth] / self._units.sizes[worth]
        order = worth[np.argsort(-density, kind="stable")]
        order = order[: self._affordable(order, below)]
        before = self._skipped[below].sum(axis=0)
        found = _Best()
        for pool in self._pools(order, before):
            possible = float((self._units.wasted[pool] - self._units.cost[pool]).sum())
            if possible <= found.value:
                break
            change = self._change(span, pool, before)
            if change is None:
                continue
            if change.saved - change.cost > found.value:
                found = _Best(change.saved - change.cost, (change,))
            if found.value >= _NEAR * possible:
                return found, True
        return found, False

    def _affordable(self, order: Indices, below: Indices) -> int:
        """How many units, in this order, have less than the share of the rows that may be rewritten."""
        sizes = self._units.sizes
        if self._limits.most_rewritten >= 1.0:
            return len(order)
        most = _SAMPLED * self._limits.most_rewritten * float(sizes[below].sum())
        return int(np.count_nonzero(np.cumsum(sizes[order]) < most))

    def _pools(self, order: Indices, before: Floats) -> list[Indices]:
        """Which units to pool: all, half as many more as may give up all that they skip, and these."""
        certain = self._skips.certainly_allowed(before, self._skipped[order])
        counts = {len(order), (len(order) + certain) // 2, certain}
        return [np.sort(order[:each]) for each in sorted(counts, reverse=True) if each >= self._fewest]

    def _change(self, span: Span, pool: Indices, before: Floats) -> Change | None:
        grown = self._regrower.grow(self._units.rows_of(pool))
        scanned = float(self._scanned[pool].sum())
        saved = scanned - grown.scanned
        if saved < self._limits.least_gain * scanned:
            return None
        after = self._skips.skipped(grown.leaves).sum(axis=0)
        if not self._skips.allows(before, self._skipped[pool].sum(axis=0), after):
            return None
        return Change(span, pool, grown, saved, float(self._units.cost[pool].sum()))


def _adapted(
    tree: Tree, units: Units, changes: Sequence[Change], skips: RangeSkips, queried: Mapping[Expr, bool]
) -> Adaptation:
    every = np.arange(len(units))
    touched = np.concatenate([every[:0], *(change.units for change in changes)])
    new = [leaf for change in changes for leaf in change.grown.leaves]
    kept = units.each(np.setdiff1d(every, touched))
    return Adaptation(
        tree=_replaced(tree, changes, keep=True) if changes else tree,
        writing=_replaced(tree, changes, keep=False),
        changes=tuple(changes),
        before=_shares(skips, queried, units.each(every)),
        after=_shares(skips, queried, [*kept, *new]),
        queried=frozenset(expr for expr, is_queried in queried.items() if is_queried),
    )


def _shares(skips: RangeSkips, exprs: Mapping[Expr, bool], blocks: Sequence[Indices]) -> dict[Expr, float]:
    rows = sum(len(block) for block in blocks)
    return dict(zip(exprs, (1.0 - skips.skipped(blocks).sum(axis=0) / rows).tolist(), strict=True))


def _replaced(tree: Tree, changes: Sequence[Change], keep: bool) -> Tree:
    """The tree with the new parts; without ``keep`` all that is not new is one block, the last."""
    by_span = {(change.span.first, change.span.last): change.grown for change in changes}
    rest = sum(len(change.grown.leaves) for change in changes)
    spans = iter(leaf_spans(tree.root))
    number = 0

    def visit(node: Node, new: bool) -> Node:
        nonlocal number
        if not new:
            span = next(spans)
            grown = by_span.get((span.first, span.last))
            if grown is not None:
                for _ in range(_nodes(node) - 1):
                    next(spans)
                return visit(grown.root, new=True)
        if isinstance(node, Split):
            return Split(node.cut, visit(node.yes, new), visit(node.no, new))
        if not (new or keep):
            return rest
        number += 1
        return number - 1

    root = visit(tree.root, new=False)
    return Tree(root, number if keep else rest + 1)


def _preorder(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Split):
            stack += [node.no, node.yes]


def _nodes(node: Node) -> int:
    return 1 + _nodes(node.yes) + _nodes(node.no) if isinstance(node, Split) else 1

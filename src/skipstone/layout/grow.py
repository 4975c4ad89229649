"""Growing a qd-tree: cut where the workload gains most, from the top down.

Every node holds rows. A candidate cut sends the rows for which it is TRUE one way and the others the
other way. A query can skip a child when its filter cannot hold on the rows there, judged by which atoms
vanish (:mod:`~skipstone.layout.formulas`); the gain of a cut is the rows of the children that can be
skipped, by the weight of the queries that do. Only queries that still read the node count. The best cut
is taken, until no cut with two children of at least ``smallest`` rows gains anything. A node above
``largest`` rows that gains nothing is halved along the first preferred cuts that can.

What vanishes under every cut at once comes from the co-occurrence counts of
:mod:`~skipstone.layout.cooccurrence`. The counts of one child are those of the parent less those of the
other, so only the smaller child is counted. Deeper nodes need ever fewer columns: atoms that all or no
rows of a node have cannot change below it, and queries that skip it are forgotten.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.layout.assignment import MOST_DEPTH
from skipstone.layout.cooccurrence import Bits, Counted, Groups, Indices
from skipstone.layout.formulas import Conjunctions

__all__ = ["Branch", "Grown", "Limits", "grow"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Leaves have at least ``smallest`` rows, and at most ``largest`` as far as cuts allow; no path is
    longer than ``depth``. There are about ``leaves`` of them, or as many as gain anything.
    """

    smallest: float
    largest: float
    leaves: int = 1 << 30
    depth: int = MOST_DEPTH


@dataclass(slots=True)
class Branch:
    """A node of the grown tree: a cut with two children, or the rows of a leaf."""

    rows: Indices
    cut: int = -1
    yes: Branch | None = None
    no: Branch | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """The tree, its leaves from the yes side to the no side, and which queries read each leaf."""

    root: Branch
    leaves: tuple[Branch, ...]
    reads: Bits


@dataclass(frozen=True, slots=True, eq=False)
class _Open:
    """A node to be judged: the queries that read it and the counts of cuts and atoms that may change."""

    node: Branch
    alive: Indices
    cuts: Indices
    atoms: Indices
    gone: Bits
    counts: Counted
    depth: int


@dataclass(frozen=True, slots=True)
class _Cut:
    number: int
    gain: float
    forced: bool
    yes_alive: Indices
    no_alive: Indices


def grow(
    groups: Groups,
    queries: Conjunctions,
    weights: npt.NDArray[np.float64],
    limits: Limits,
    preferred: Indices,
) -> Grown:
    """Grow the tree over all predicates of ``groups`` as cuts.

    The first ``queries.count`` predicates are the queries' atoms. ``preferred`` are cuts, best first, for
    nodes that are too large and gain nothing.
    """
    rows = np.arange(len(groups.groups[0].classes))
    cuts = np.arange(len(groups.home))
    atoms = queries.used()
    root = Branch(rows)
    start = _Open(
        root,
        np.arange(len(queries)),
        cuts,
        atoms,
        np.zeros(queries.count, np.bool_),
        groups.together(rows, cuts, atoms),
        0,
    )
    heap: list[tuple[bool, float, int, _Open, _Cut]] = []
    born = 0
    leaves: list[tuple[int, _Open]] = []
    fresh = [_trimmed(start, queries, limits.smallest)]
    while fresh or heap:
        for node in fresh:
            born += 1
            cut = _choose(node, queries, weights, limits, preferred)
            if cut is None:
                leaves.append((born, node))
            else:
                heapq.heappush(heap, (not cut.forced, -cut.gain, born, node, cut))
        fresh = []
        if not heap:
            break
        _, _, number, node, cut = heapq.heappop(heap)
        if len(leaves) + len(heap) + 1 >= limits.leaves and not cut.forced:
            leaves.append((number, node))
        else:
            fresh = _split(node, cut, groups, queries, limits)
    table = np.zeros((len(leaves), len(queries)), np.bool_)
    for index, (_, node) in enumerate(leaves):
        table[index, node.alive] = True
    return Grown(root, tuple(node.node for _, node in leaves), table)


def _choose(
    node: _Open, queries: Conjunctions, weights: npt.NDArray[np.float64], limits: Limits, preferred: Indices
) -> _Cut | None:
    total = len(node.node.rows)
    if not len(node.cuts) or node.depth >= limits.depth:
        return None
    size = node.counts[:-1, -1].astype(np.float64)
    if len(node.alive):
        yes, no = _judged(node, queries)
        weight = weights[node.alive]
        gain = (weight @ yes) * size + (weight @ no) * (total - size)
        best = int(np.argmax(gain))
        if gain[best] > 0:
            return _Cut(
                int(node.cuts[best]),
                float(gain[best]),
                total > limits.largest,
                node.alive[~yes[:, best]],
                node.alive[~no[:, best]],
            )
    if total <= limits.largest:
        return None
    for few in (preferred, node.cuts):
        usable = few[np.isin(few, node.cuts)]
        if len(usable):
            index = np.searchsorted(node.cuts, usable)
            # Among cuts of one column, which follow one another, the most even is as good as any.
            best = int(np.argmin(np.abs(size[index] - total / 2)))
            return _Cut(int(usable[best]), 0.0, True, node.alive, node.alive)
    return None


def _judged(node: _Open, queries: Conjunctions) -> tuple[Bits, Bits]:
    """For every living query and cut, whether the query can skip the yes side, and the no side."""
    inside = node.counts[:-1, :-1].T
    outside = node.counts[-1, :-1, None] - inside
    living = queries.take(node.alive)
    sides = []
    for counts in (inside, outside):
        vanished = np.repeat(node.gone[:, None], len(node.cuts), axis=1)
        vanished[node.atoms] = counts == 0
        sides.append(living.skipped(vanished))
    return sides[0], sides[1]


def _split(node: _Open, cut: _Cut, groups: Groups, queries: Conjunctions, limits: Limits) -> list[_Open]:
    rows = node.node.rows
    true = groups.bits(rows, cut.number)
    node.node.cut = cut.number
    node.node.yes, node.node.no = Branch(rows[true]), Branch(rows[~true])
    node.node.rows = rows[:0]
    sides = [(node.node.yes, cut.yes_alive), (node.node.no, cut.no_alive)]
    small, large = (0, 1) if len(sides[0][0].rows) <= len(sides[1][0].rows) else (1, 0)
    counts: list[Counted | None] = [None, None]
    if len(sides[large][0].rows) >= 2 * limits.smallest:
        found = groups.together(sides[small][0].rows, node.cuts, node.atoms)
        counts[small], counts[large] = found, node.counts - found
    children = []
    for (branch, alive), counted in zip(sides, counts, strict=True):
        if counted is None or len(branch.rows) < 2 * limits.smallest:
            none = np.zeros(0, np.int64)
            children.append(_Open(branch, alive, none, none, node.gone, np.zeros((1, 1), np.float32), 0))
        else:
            child = _Open(branch, alive, node.cuts, node.atoms, node.gone, counted, node.depth + 1)
            children.append(_trimmed(child, queries, limits.smallest))
    return children[::-1]


def _trimmed(node: _Open, queries: Conjunctions, smallest: float = 1) -> _Open:
    """The node without cuts that are too uneven and without atoms that cannot change any more."""
    total = len(node.node.rows)
    size, held = node.counts[:-1, -1], node.counts[-1, :-1]
    cuts = np.flatnonzero((size >= smallest) & (total - size >= smallest))
    used = np.isin(node.atoms, queries.take(node.alive).used())
    atoms = np.flatnonzero(used & (held > 0) & (held < total))
    gone = node.gone.copy()
    gone[node.atoms[held == 0]] = True
    counts = node.counts[np.ix_(np.append(cuts, len(size)), np.append(atoms, len(held)))]
    return _Open(node.node, node.alive, node.cuts[cuts], node.atoms[atoms], gone, counts, node.depth)

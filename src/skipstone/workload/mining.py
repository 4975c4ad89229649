"""Frequent sets of predicates, closed ones only (002 section 3.2), by LCM with one matrix product per set.

A set of predicates is *closed* if every further predicate would lose a query, that is, if it is all that
its queries have in common. The other frequent sets are never needed:

    Let C be the closure of F: same queries, more predicates, so C is stricter and is examined before F in
    the elimination of section 3.3. If C is kept, its queries are covered and I(F) = 0 < T. If C is removed,
    I(C) < T, and since covered queries only grow, I(F) <= I(C) < T. Either way F is removed, and a removed
    set changes nothing for those after it.

So the 2^40 subsets of a query of 40 predicates are one set here. The search is LCM (Uno et al., FIMI'04):
from a closed set P reached by item ``core``, each item i > core that is frequent among P's queries is tried;
the closure of P + i is a child if it adds no item below i. Every closed set is so reached exactly once, and
nothing has to be remembered. With B the bits of the frequent items on P's queries and W their weights,
B·W·Bᵀ holds the support of P + i + j for all i and j: row i is the support of every grandchild, and the
entries equal to the diagonal are the closure. Cost: f²·n multiplications per closed set with f items on n
queries, both of which shrink on the way down.

Even closed sets can be exponentially many (all intersections of queries). ``most_sets`` bounds the search:
beyond it, it starts again with a higher threshold, and the sets that every query and every predicate spans
are added from the threshold that was asked for. :attr:`Mined.threshold` says what is complete.

>>> example_1 = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 1, 0, 1, 1]], np.bool_)
>>> found = mine(example_1, np.ones(3), 2.0)
>>> found.sets, found.support.tolist()
(((1, 3), (1,)), [2.0, 3.0])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.workload.predicates import Bits

__all__ = ["MOST_SETS", "Mined", "mine"]

MOST_SETS = 20_000

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A closed set, its queries, the items that are frequent among them, and the item that led here."""

    queries: Numbers
    items: Numbers
    closed: Numbers
    core: int


@dataclass(frozen=True, slots=True, eq=False)
class Mined:
    """Closed sets from the strictest to the most general.

    ``queries[s, q]`` says whether set s subsumes query q; ``support`` is the weight of those queries.
    All closed sets with a support of at least ``threshold`` are here.
    """

    sets: tuple[tuple[int, ...], ...]
    queries: Bits
    support: Floats
    threshold: float


def mine(has: Bits, weights: Floats, threshold: float, most_sets: int = MOST_SETS) -> Mined:
    """All closed sets of predicates that queries of at least this weight have.

    ``has[q, p]`` says whether query q has predicate p; queries without weight do not count.
    """
    rows, row_of = np.unique(has[weights > 0], axis=0, return_inverse=True)
    # Multiples of 1/1024 have exact sums in any order, so that equal sets of queries have equal supports.
    merged = np.ceil(np.bincount(row_of.ravel(), weights[weights > 0], len(rows)) * 1024.0) / 1024.0
    reached = max(threshold, np.finfo(float).tiny)
    while (found := _search(rows, merged, reached, most_sets)) is None:
        reached = max(reached * 1.5, reached + 1.0)
    if reached > threshold:
        found |= _spanned(rows, merged, threshold)
    return _ordered(found, has, weights, reached)


def _ordered(found: set[tuple[int, ...]], has: Bits, weights: Floats, threshold: float) -> Mined:
    """By increasing generality: a stricter set has fewer queries, so ascending support is such an order."""
    sets = sorted(found)
    queries = np.zeros((len(sets), len(has)), np.bool_)
    for index, items in enumerate(sets):
        queries[index] = has[:, items].all(axis=1)
    support = queries @ weights
    order = sorted(range(len(sets)), key=lambda s: (support[s], -len(sets[s]), sets[s]))
    return Mined(tuple(sets[s] for s in order), queries[order], support[order], threshold)


def _spanned(rows: Bits, weights: Floats, threshold: float) -> set[tuple[int, ...]]:
    """The closures of every single predicate and of every query."""
    spans: list[Bits] = [rows[:, item] for item in range(rows.shape[1])]
    spans.extend(np.all(rows[:, row], axis=1) for row in rows)
    closures = (rows[span].all(axis=0) for span in spans if weights[span].sum() >= threshold and span.any())
    return {tuple(np.flatnonzero(closure).tolist()) for closure in closures} - {()}


def _search(rows: Bits, weights: Floats, threshold: float, most_sets: int) -> set[tuple[int, ...]] | None:
    """LCM; None when there are more than ``most_sets``."""
    found: set[tuple[int, ...]] = set()
    everywhere = rows.all(axis=0) if len(rows) else np.zeros(rows.shape[1], np.bool_)
    if everywhere.any() and weights.sum() >= threshold:
        found.add(tuple(np.flatnonzero(everywhere).tolist()))
    frequent = np.flatnonzero((weights @ rows >= threshold) & ~everywhere)
    stack = [_Node(np.arange(len(rows)), frequent, np.flatnonzero(everywhere), -1)]
    while stack:
        for child in _children(weights, rows, threshold, stack.pop()):
            found.add(tuple(sorted(child.closed.tolist())))
            if (child.items > child.core).any():
                stack.append(child)
        if len(found) > most_sets:
            return None
    return found


def _children(exact: Floats, rows: Bits, threshold: float, node: _Node) -> list[_Node]:
    """The closed sets one step below."""
    here = rows[np.ix_(node.queries, node.items)].T.astype(np.float64)
    tried = np.flatnonzero(node.items > node.core)
    support = (here[tried] * exact[node.queries]) @ here.T
    shared = support == support[np.arange(len(tried)), tried][:, None]
    # An item below i in the closure of P + i: the same set is found from that item.
    below = np.arange(len(node.items)) < tried[:, None]
    children = []
    for index in np.flatnonzero(~(shared & below).any(axis=1)).tolist():
        i = tried[index]
        frequent = node.items[(support[index] >= threshold) & ~shared[index]]
        closed = np.concatenate((node.closed, node.items[shared[index]]))
        children.append(_Node(node.queries[here[i] > 0], frequent, closed, int(node.items[i])))
    return children

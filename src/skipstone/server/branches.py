"""Which blocks lie in a branch of a tree, and in which branch a block lies.

A file does not say which leaf its rows were placed by, and later writers place theirs elsewhere. But what is
known of a block often rules a side of a cut out, as it does for a query: no row of it satisfies the cut, or
every row does. So a branch has the blocks that may hold rows of it, and a block is followed down for as long
as only one side is possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from skipstone.catalog.decide import decide
from skipstone.catalog.merge import Catalog
from skipstone.layout.assignment import Assignment, Node, Split
from skipstone.predicate.expr import And, Expr, IsNull, Literal, Not, Or
from skipstone.predicate.limits import within_limits
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.types import BOOLEAN
from skipstone.pruning.blocks import BlockSet, Statistics
from skipstone.pruning.prune import prune
from skipstone.server.problems import MissingError
from skipstone.server.seen import Seen
from skipstone.server.tree_nodes import numbered

__all__ = ["branch_of_block", "branch_rows", "in_branch"]


def branch_rows(assignment: Assignment, number: int) -> Expr:
    """What the rows of a node satisfy: every cut above it, or not. A cut that is NULL sends a row to no.

    >>> from skipstone.layout.assignment import Tree
    >>> from skipstone.predicate.expr import Column
    >>> from skipstone.predicate.types import INT
    >>> cut = IsNull(Column(("x",), INT))
    >>> branch_rows(Tree(Split(cut, 0, 1), 2), 1) == cut
    True
    >>> branch_rows(Tree(Split(cut, 0, 1), 2), 2) == Or((Not(cut), IsNull(cut)))
    True
    """
    nodes = list(numbered(assignment))
    if not 0 <= number < len(nodes):
        raise MissingError(f"There is no node {number} in this tree; it has {len(nodes):,}.")
    cuts: list[Expr] = []
    while nodes[number].parent >= 0:
        above = nodes[nodes[number].parent]
        assert isinstance(above.node, Split)
        cuts.append(_side(above.node.cut, nodes[number].side == "yes"))
        number = nodes[number].parent
    if not cuts:
        return Literal(True, BOOLEAN)
    return cuts[0] if len(cuts) == 1 else And(tuple(reversed(cuts)))


def _side(cut: Expr, yes: bool) -> Expr:
    return cut if yes else Or((Not(cut), IsNull(cut)))


def in_branch(seen: Seen, assignment: Assignment, number: int, settings: Mapping[str, str]) -> list[int]:
    """The blocks that may hold rows of a node, by their place in the table; those without an entry may."""
    skip = decide(branch_rows(assignment, number), seen.catalog, settings).skip
    # The last place is that of files without an entry.
    found: list[int] = np.flatnonzero(~np.append(skip, False)[seen.entries]).tolist()
    return found


def branch_of_block(seen: Seen, assignment: Assignment, index: int) -> list[int]:
    """The nodes that a block lies in, the root first, as far down as all of its rows lie on one side."""
    if not 0 <= index < len(seen):
        raise MissingError(f"There is no block {index}; the table has {len(seen):,}.")
    nodes = {each.number: each for each in numbered(assignment)}
    below = {(each.parent, each.side): each.number for each in nodes.values()}
    found, entry = [0], int(seen.entries[index])
    if entry < 0:
        return found
    block = _only(seen.catalog, entry)
    node: Node = nodes[0].node
    while isinstance(node, Split):
        sides = [side for side in ("yes", "no") if _may_be(block, _side(node.cut, side == "yes"))]
        if len(sides) != 1:
            break
        found.append(below[found[-1], sides[0]])
        node = nodes[found[-1]].node
    return found


def _may_be(block: BlockSet, rows: Expr) -> bool:
    return not bool(prune(normalize_filter(within_limits(rows)), block).skip[0])


def _only(catalog: Catalog, entry: int) -> BlockSet:
    """One block of a catalog, which is judged faster than all of them."""
    blocks, here = catalog.blocks, slice(entry, entry + 1)

    def of(each: Statistics) -> Statistics:
        values = each.values
        if values is not None:
            values = replace(values, words=values.words[here], known=values.known[here])
        low, high = (bound.slice(entry, 1) for bound in (each.low, each.high))
        return replace(each, low=low, high=high, nulls=each.nulls[here], nans=each.nans[here], values=values)

    statistics = {key: of(each) for key, each in blocks.statistics.items()}
    union, known = blocks.unions[here], blocks.union_known[here]
    return BlockSet(blocks.rows[here], statistics, blocks.features, union, known)

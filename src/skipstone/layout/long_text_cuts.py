"""Cuts of a tree that the blocks' bounds do not show, as features.

A cut leads to blocks whose minima and maxima are on its one side, so bounds rule out all that the tree would.
There is one exception. Of texts at most 64 characters are kept in bounds, and where these agree, as in long
addresses of one site, the bounds of all blocks do too. For a cut at a longer text every block gets two bits:
does it have a row on either side? A query whose filter implies one side then skips the blocks of the other.
"""

from __future__ import annotations

from collections import deque

from skipstone.layout.assignment import Node, Split, Tree
from skipstone.predicate.expr import Comparison, Expr, Literal
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import Feature

__all__ = ["long_text_cuts"]

_KEPT = 64
_MOST = 64
"""Cuts at most; those nearer to the root part more blocks."""


def long_text_cuts(tree: Tree) -> tuple[Feature, ...]:
    """Both sides of the cuts at texts that are longer than bounds, those nearest to the root."""
    found: dict[Expr, None] = {}
    waiting: deque[Node] = deque([tree.root])
    while waiting:
        node = waiting.popleft()
        if not isinstance(node, Split):
            continue
        waiting += (node.yes, node.no)
        match node.cut:
            case Comparison("<", _, Literal(str() | bytes() as text)) if len(text) > _KEPT:
                found.setdefault(node.cut)
    sides = [side for cut in list(found)[:_MOST] for side in (cut, _other_side(cut))]
    return tuple(Feature(side, to_sql(side)) for side in sides)


def _other_side(cut: Expr) -> Expr:
    assert isinstance(cut, Comparison)
    return Comparison(">=", cut.left, cut.right)

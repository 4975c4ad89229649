"""The predicates that rows are placed by."""

from __future__ import annotations

from skipstone.layout.assignment import Assignment, Grid, Node, Partitioned, Split, Tree, VectorMap
from skipstone.predicate.expr import Expr

__all__ = ["placing_predicates"]


def placing_predicates(assignment: Assignment) -> tuple[Expr, ...]:
    """The cuts of trees, and the features of vectors and clusters, each once."""
    found: dict[Expr, None] = {}
    stack: list[Assignment | Node] = [assignment]
    while stack:
        match stack.pop():
            case Partitioned(parts=parts):
                stack += parts
            case Tree(root=root):
                stack.append(root)
            case Split(cut=cut, yes=yes, no=no):
                found.setdefault(cut)
                stack += [yes, no]
            case VectorMap(features=features):
                found.update(dict.fromkeys(features))
            case Grid(clusters=clusters) if clusters is not None:
                found.update(dict.fromkeys(clusters.features))
    return tuple(found)

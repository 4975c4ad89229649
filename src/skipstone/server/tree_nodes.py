"""The tree of a qd-tree or hyper layout as a list of nodes, the root first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from skipstone.layout.assignment import Assignment, Node, Partitioned, Split, Tree
from skipstone.predicate.expr import Comparison, Literal, type_of
from skipstone.predicate.readable import readable

__all__ = ["Numbered", "has_tree", "numbered", "tree_nodes"]


def has_tree(assignment: Assignment) -> bool:
    """Whether rows are placed by cuts, in the whole table or inside each horizontal partition."""
    if isinstance(assignment, Partitioned):
        return all(isinstance(part, Tree) for part in assignment.parts)
    return isinstance(assignment, Tree)


def tree_nodes(assignment: Assignment) -> list[dict[str, object]]:
    """Every node with its cut and its children; ``blocks`` is how many leaves lie below it.

    Horizontal partitions are a chain of cuts above their trees.

    >>> from skipstone.predicate.expr import Column
    >>> from skipstone.predicate.types import INT
    >>> cut = Comparison("<", Column(("x",), INT), Literal(5, INT))
    >>> for node in tree_nodes(Tree(Split(cut, 0, 1), 2)):
    ...     print(node)
    {'id': 0, 'cut': 'x < 5', 'yes': 1, 'no': 2, 'block': None, 'blocks': 2}
    {'id': 1, 'cut': None, 'yes': None, 'no': None, 'block': 0, 'blocks': 1}
    {'id': 2, 'cut': None, 'yes': None, 'no': None, 'block': 1, 'blocks': 1}
    """
    nodes: list[dict[str, object]] = []
    counts: list[int] = []
    parents: list[int] = []
    for number, node, side, parent in numbered(assignment):
        nodes.append({"id": number, "cut": None, "yes": None, "no": None, "block": None, "blocks": 0})
        counts.append(0 if isinstance(node, Split) else 1)
        parents.append(parent)
        if parent >= 0:
            nodes[parent][side] = number
        nodes[number]["cut" if isinstance(node, Split) else "block"] = (
            readable(node.cut) if isinstance(node, Split) else node
        )
    for number in range(len(nodes) - 1, 0, -1):
        counts[parents[number]] += counts[number]
    for number, below in enumerate(counts):
        nodes[number]["blocks"] = below
    return nodes


class Numbered(NamedTuple):
    """A node with its number, on which side of which parent it is; the root has -1 for a parent."""

    number: int
    node: Node
    side: str
    parent: int


def numbered(assignment: Assignment) -> Iterator[Numbered]:
    """Every node, those above before those below."""
    stack: list[tuple[Node, str, int]] = [(_root(assignment), "", -1)]
    numbers = count()
    while stack:
        node, side, parent = stack.pop()
        number = next(numbers)
        yield Numbered(number, node, side, parent)
        if isinstance(node, Split):
            stack += [(node.no, "no", number), (node.yes, "yes", number)]


def _root(assignment: Assignment) -> Node:
    if isinstance(assignment, Tree):
        return assignment.root
    assert isinstance(assignment, Partitioned)
    first = sum(part.blocks for part in assignment.parts)
    root: Node = first
    for value, part in reversed(list(zip(assignment.values, assignment.parts, strict=True))):
        assert isinstance(part, Tree)
        first -= part.blocks
        cut = Comparison("=", assignment.by, Literal(value, type_of(assignment.by)))
        root = Split(cut, _shifted(part.root, first), root)
    return root


def _shifted(node: Node, first: int) -> Node:
    if isinstance(node, Split):
        return Split(node.cut, _shifted(node.yes, first), _shifted(node.no, first))
    return node + first

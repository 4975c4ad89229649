"""A tree for each horizontal partition, as one tree, so that what is done with trees can be done with it.

The trees of the partitions hang on a chain of cuts ``by = value``. Rows of a value that is not listed, NULL
included, satisfy none of them and come to the last block, as they do in the partitioned assignment, and block
numbers stay what they were. :func:`partition_roots` finds the trees again, for what must not go beyond one.

>>> from skipstone.predicate.expr import Column
>>> from skipstone.predicate.types import LONG
>>> year, day = (Column((name,), LONG) for name in ("year", "day"))
>>> halves = Tree(Split(Comparison("<=", day, Literal(180, LONG)), 0, 1), 2)
>>> tree = one_tree(Partitioned(year, (1998, 1999), (halves, Tree(0, 1))))
>>> tree.blocks, [type(root).__name__ for root in partition_roots(tree.root, year)]
(4, ['Split', 'int', 'int'])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from skipstone.layout.assignment import Assignment, Node, Partitioned, Split, Tree
from skipstone.layout.sample import Sample
from skipstone.predicate.expr import Comparison, Expr, Literal, type_of

__all__ = ["one_tree", "partition_roots", "with_partition_values"]


def one_tree(assignment: Assignment) -> Tree | None:
    """The same assignment as one tree; None if it is neither a tree nor one for each partition."""
    if isinstance(assignment, Tree):
        return assignment
    if not isinstance(assignment, Partitioned):
        return None
    root: Node = assignment.blocks - 1
    start = assignment.blocks - 1
    for value, part in zip(reversed(assignment.values), reversed(assignment.parts), strict=True):
        if not isinstance(part, Tree):
            return None
        start -= part.blocks
        cut = Comparison("=", assignment.by, Literal(value, type_of(assignment.by)))
        root = Split(cut, _numbered_from(part.root, start), root)
    return Tree(root, assignment.blocks)


def _numbered_from(node: Node, start: int) -> Node:
    if isinstance(node, Split):
        return Split(node.cut, _numbered_from(node.yes, start), _numbered_from(node.no, start))
    return node + start


def partition_roots(root: Node, by: Expr | None) -> Iterator[Node]:
    """The tops of the trees that hang on cuts of an expression, and what is left; the root itself without."""
    while isinstance(root, Split) and by is not None:
        match root.cut:
            case Comparison("=", left, Literal()) if left == by:
                yield root.yes
                root = root.no
            case _:
                break
    yield root


def with_partition_values(sample: Sample, by: Expr) -> Sample:
    """The sample with a column of what its horizontal partitions are made by."""
    if by in sample.columns or sample.partition is None:
        return sample
    # Rows whose value is NULL have the number behind all values.
    values = pa.array([*sample.partition_values, None])
    return replace(sample, columns={**sample.columns, by: values.take(pa.array(sample.partition))})

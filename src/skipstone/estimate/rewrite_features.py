"""What an assignment computes for every row: the counts that the cost model is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skipstone.catalog.column_sizes import ColumnSizes, PerRow
from skipstone.estimate.cost import Extent, RewriteFeatures
from skipstone.layout.assignment import Assignment, Clusters, Grid, Node, Partitioned, Tree, VectorMap
from skipstone.layout.contract import ColumnGroup
from skipstone.predicate.expr import Expr

__all__ = ["features_of_groups", "placed_by", "rewrite_features"]

_TUPLE_ID_BYTES = 1.0
"""What a tuple id takes, sorted inside its block and delta-encoded."""


def placed_by(assignment: Assignment) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """The ordered expressions and the predicates that rows are placed by."""
    ordered: dict[Expr, None] = {}
    predicates: dict[Expr, None] = {}
    match assignment:
        case Grid(dimensions):
            for dimension in dimensions:
                if isinstance(dimension, Clusters):
                    predicates.update(dict.fromkeys(dimension.features))
                else:
                    ordered[dimension.expr] = None
        case VectorMap():
            predicates.update(dict.fromkeys(assignment.features))
            if assignment.spread is not None:
                ordered[assignment.spread.expr] = None
        case Tree(root):
            predicates.update(dict.fromkeys(_cuts(root)))
        case Partitioned():
            ordered[assignment.by] = None
            for part in assignment.parts:
                more_ordered, more_predicates = placed_by(part)
                ordered.update(dict.fromkeys(more_ordered))
                predicates.update(dict.fromkeys(more_predicates))
    return tuple(ordered), tuple(predicates)


def _cuts(root: Node) -> Iterable[Expr]:
    stack = [root]
    while stack:
        node = stack.pop()
        if not isinstance(node, int):
            yield node.cut
            stack += [node.no, node.yes]


def rewrite_features(assignment: Assignment, tracked: Iterable[Expr], extent: Extent) -> RewriteFeatures:
    """What a rewrite by an assignment computes; ``tracked`` are the features and expressions with statistics.

    A row passes only the cuts on its way down a tree, so rows are placed by as many as the tree is deep; the
    other cuts are computed for their statistics only.
    """
    ordered, predicates = placed_by(assignment)
    with_statistics = {*tracked}
    beside = with_statistics - {*ordered, *predicates}
    placing = _evaluated(assignment)
    off_the_way = max(0, len(with_statistics & {*predicates}) - placing)
    return RewriteFeatures(extent, len(ordered), placing, len(beside) + off_the_way)


def features_of_groups(groups: Sequence[ColumnGroup], rows: float, sizes: ColumnSizes) -> RewriteFeatures:
    """What it takes to write column groups one after the other, each with its tuple ids."""
    every = []
    for group in groups:
        own = sizes.of(group.columns or ())
        extent = Extent.of(rows, PerRow(own.bytes + _TUPLE_ID_BYTES, own.values + 1.0))
        tracked = (*(feature.predicate for feature in group.features), *group.expressions)
        every.append(rewrite_features(group.assignment, tracked, extent))
    return RewriteFeatures(
        extent=Extent(
            bytes=sum(each.extent.bytes for each in every),
            rows=sum(each.extent.rows for each in every),
            values=sum(each.extent.values for each in every),
        ),
        z=sum(each.z for each in every),
        sop=sum(each.sop for each in every),
        additional=sum(each.additional for each in every),
    )


def _evaluated(assignment: Assignment) -> int:
    match assignment:
        case Tree(root):
            return _depth(root)
        case Partitioned(parts=parts):
            return max((_evaluated(part) for part in parts), default=0)
        case _:
            return len(placed_by(assignment)[1])


def _depth(root: Node) -> int:
    deepest, stack = 0, [(root, 0)]
    while stack:
        node, depth = stack.pop()
        deepest = max(deepest, depth)
        if not isinstance(node, int):
            stack += [(node.no, depth + 1), (node.yes, depth + 1)]
    return deepest

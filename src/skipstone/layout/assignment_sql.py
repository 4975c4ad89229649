"""Assignments as SQL text, as far as a single expression can say them.

Decision trees and binary searches become nested IFs. Feature vectors are looked up in a table instead, by a
join of whoever applies the assignment (:mod:`skipstone.spark.engine.assign`).
"""

from __future__ import annotations

from skipstone.catalog.logical_names import LogicalNames
from skipstone.layout.assignment import Clusters, Dimension, Grid, Node, Partitioned, Split, Tree
from skipstone.predicate.expr import Literal, type_of
from skipstone.predicate.literals import literal_sql

__all__ = ["CLUSTER", "block_sql", "bucket_sql", "leaves", "partition_sql", "tree_sql"]

CLUSTER = "__skipstone_cluster"
"""The column that holds a row's bucket among the clusters of a grid."""


def block_sql(assignment: Tree | Grid, names: LogicalNames) -> str:
    """The number of a row's block; a grid with clusters reads the column :data:`CLUSTER`."""
    if isinstance(assignment, Tree):
        return tree_sql(assignment.root, names)
    cell = "0"
    for dimension in assignment.dimensions:
        bucket = CLUSTER if isinstance(dimension, Clusters) else bucket_sql(dimension, names)
        cell = f"({cell} * {dimension.buckets} + {bucket})"
    # The optimizer folds the text to one array literal; looking a cell up then takes constant time.
    blocks = ",".join(map(str, assignment.block_of.tolist()))
    return f"element_at(CAST(split('{blocks}', ',') AS ARRAY<INT>), {cell} + 1)"


def tree_sql(node: Node, names: LogicalNames) -> str:
    """The number of the leaf that a row comes to."""
    if not isinstance(node, Split):
        return str(node)
    return f"IF({names.sql(node.cut)}, {tree_sql(node.yes, names)}, {tree_sql(node.no, names)})"


def leaves(node: Node) -> int:
    """How many leaves there are below a node."""
    return leaves(node.yes) + leaves(node.no) if isinstance(node, Split) else 1


def bucket_sql(dimension: Dimension, names: LogicalNames) -> str:
    """0 for NULL, else 1 + the number of bounds that are <= the value, by binary search."""
    value = f"({names.sql(dimension.expr)})"
    bounds = [literal_sql(Literal(bound, type_of(dimension.expr))) for bound in dimension.bounds]

    def search(low: int, high: int) -> str:
        if low == high:
            return str(low + 1)
        middle = (low + high) // 2
        return f"IF({value} < {bounds[middle]}, {search(low, middle)}, {search(middle + 1, high)})"

    return f"IF({value} IS NULL, 0, {search(0, len(bounds))})"


def partition_sql(assignment: Partitioned, names: LogicalNames) -> str:
    """The index of a row's horizontal partition, as a text; that of an unlisted value is -1."""
    type_ = type_of(assignment.by)
    indexes = "".join(
        f" WHEN {literal_sql(Literal(value, type_))} THEN '{index}'"
        for index, value in enumerate(assignment.values)
    )
    return f"CASE {names.sql(assignment.by)}{indexes} ELSE '-1' END"

"""The inner joins of logged SQL, as Catalyst optimises them."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import SparkSession

from skipstone.predicate.expr import And, Expr, Literal
from skipstone.predicate.types import BOOLEAN
from skipstone.progress import Progress
from skipstone.spark.bridge.catalyst import expr_from_catalyst
from skipstone.spark.bridge.parse_sql import QueryParser, TreeOfJoinsJson, TreesJson
from skipstone.workload.join_trees import JoinTree
from skipstone.workload.queries import BrokenQuery, LeftOut, Query, TableScan, Workload

__all__ = ["parse_joins"]


def parse_joins(
    spark: SparkSession, workload: Workload, progress: Progress | None = None
) -> tuple[tuple[JoinTree, ...], tuple[BrokenQuery, ...]]:
    """The inner joins of a workload over tables that the session knows, and the statements without any."""
    parser = QueryParser(spark, {})
    trees: list[JoinTree] = []
    unusable = list(workload.broken)
    for index, query in enumerate(workload.queries):
        if progress is not None:
            progress("parsing queries", index, len(workload.queries))
        found = parser.joins(query.sql)
        if isinstance(found, str):
            unusable.append(BrokenQuery(query.sql, found, query.position, query.line, query.file))
        elif not found["trees"]:
            reason = "it joins no tables by inner joins alone"
            unusable.append(LeftOut(query.sql, reason, query.position, query.line, query.file))
        else:
            trees += _trees(query, found)
    return tuple(trees), tuple(sorted(unusable, key=lambda each: each.position))


def _trees(query: Query, found: TreesJson) -> Iterator[JoinTree]:
    roots = found["tables"]
    true = Literal(True, BOOLEAN)
    for tree in found["trees"]:
        scans = zip(tree["tables"], tree["columns"], strict=True)
        yield JoinTree(
            query,
            tuple(TableScan(roots[number], true, tuple(columns)) for number, columns in scans),
            tuple(((roots[a], one), (roots[b], other)) for a, one, b, other in tree["equal"]),
            _filter(tree),
            tuple(roots),
        )


def _filter(tree: TreeOfJoinsJson) -> Expr:
    parts = [expr_from_catalyst(each) for each in tree["filters"]]
    flat = [arg for part in parts for arg in (part.args if isinstance(part, And) else (part,))]
    return Literal(True, BOOLEAN) if not flat else flat[0] if len(flat) == 1 else And(tuple(flat))

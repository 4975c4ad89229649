"""Assignments as native Spark: every row of a frame gets the number of its block.

Decision trees and binary searches become nested IFs in SQL text, since one parsed text costs the driver
far less than thousands of calls. Large trees are cut into groups, found first and searched second: each
piece of generated code then stays small enough to be compiled. SOP's blocking map is a broadcast join, and so
are the clusters of a grid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skipstone.catalog.logical_names import LogicalNames
from skipstone.layout.assignment import (
    Assignment,
    Clusters,
    Dimension,
    Grid,
    Node,
    Partitioned,
    Split,
    Tree,
    VectorMap,
)
from skipstone.predicate.expr import Expr, Literal, type_of
from skipstone.predicate.literals import literal_sql
from skipstone.predicate.types import LONG
from skipstone.spark.engine.row_hash import hashed_row
from skipstone.spark.engine.session_copy import in_session, lenient

__all__ = ["BLOCK", "arranged", "with_block"]

BLOCK = "__skipstone_block"
_GROUP_LEAVES = 48
_FINE = 1 << 20
_WORD = "__skipstone_word"
_KEY = "__skipstone_key"
_FIRST = "__skipstone_first"
_WAYS = "__skipstone_ways"
_CLUSTER = "__skipstone_cluster"


def with_block(frame: DataFrame, assignment: Assignment, names: LogicalNames) -> DataFrame:
    """The frame with a column :data:`BLOCK`, which is never NULL.

    A row for which an expression of the layout fails has a place too: that of NULL.
    """
    return in_session(frame.sparkSession, _with_block(lenient(frame), assignment, names))


def arranged(frame: DataFrame, blocks: int, sort: Sequence[str]) -> DataFrame:
    """One partition per block of a frame that has them, sorted by these expressions, and no :data:`BLOCK`."""
    placed = lenient(frame).repartitionById(blocks, BLOCK)
    if sort:
        placed = placed.sortWithinPartitions(*map(F.expr, sort))
    return in_session(frame.sparkSession, placed.drop(BLOCK))


def _with_block(frame: DataFrame, assignment: Assignment, names: LogicalNames) -> DataFrame:
    match assignment:
        case Tree(root):
            return _with_tree(frame, root, names)
        case Grid():
            clustered = _with_clusters(frame, [assignment], names)
            return clustered.withColumn(BLOCK, F.expr(_grid_sql(assignment, names))).drop(_CLUSTER)
        case VectorMap():
            keyed = frame.withColumn(_KEY, F.lit("0"))
            return _with_vectors(keyed, [_Part("0", 0, assignment)], 0, names).drop(_KEY)
        case Partitioned():
            return _with_partitions(frame, assignment, names)


# ------------------------------------------------------------------ trees


def _with_tree(frame: DataFrame, root: Node, names: LogicalNames) -> DataFrame:
    """Nested IFs; a large tree level by level, each level a column of its own."""
    groups: list[Node] = []

    def top(node: Node) -> Node:
        if isinstance(node, int) or _leaves(node) <= _GROUP_LEAVES:
            groups.append(node)
            return len(groups) - 1
        return Split(node.cut, top(node.yes), top(node.no))

    if _leaves(root) <= _GROUP_LEAVES:
        return frame.withColumn(BLOCK, F.expr(_tree_sql(root, names.sql)))
    head = top(root)
    group = f"{BLOCK}_group"
    branches = "".join(
        f" WHEN {place} THEN {_tree_sql(node, names.sql)}" for place, node in enumerate(groups)
    )
    grouped = frame.withColumn(group, F.expr(_tree_sql(head, names.sql)))
    return grouped.withColumn(BLOCK, F.expr(f"CASE {group}{branches} ELSE 0 END")).drop(group)


def _leaves(node: Node) -> int:
    return 1 if isinstance(node, int) else _leaves(node.yes) + _leaves(node.no)


def _tree_sql(node: Node, sql: Callable[[Expr], str]) -> str:
    if isinstance(node, int):
        return str(node)
    return f"IF({sql(node.cut)}, {_tree_sql(node.yes, sql)}, {_tree_sql(node.no, sql)})"


# ------------------------------------------------------------------ grids


def _grid_sql(grid: Grid, names: LogicalNames) -> str:
    cell = "0"
    for dimension in grid.dimensions:
        bucket = _CLUSTER if isinstance(dimension, Clusters) else _bucket_sql(dimension, names)
        cell = f"({cell} * {dimension.buckets} + {bucket})"
    # The optimizer folds the text to one array literal; looking a cell up then takes constant time.
    blocks = ",".join(map(str, grid.block_of.tolist()))
    return f"element_at(CAST(split('{blocks}', ',') AS ARRAY<INT>), {cell} + 1)"


def _bucket_sql(dimension: Dimension, names: LogicalNames) -> str:
    """0 for NULL, else 1 + the number of bounds that are <= the value, by binary search."""
    value = f"({names.sql(dimension.expr)})"
    bounds = [literal_sql(Literal(bound, type_of(dimension.expr))) for bound in dimension.bounds]

    def search(low: int, high: int) -> str:
        if low == high:
            return str(low + 1)
        middle = (low + high) // 2
        return f"IF({value} < {bounds[middle]}, {search(low, middle)}, {search(middle + 1, high)})"

    return f"IF({value} IS NULL, 0, {search(0, len(bounds))})"


def _with_clusters(frame: DataFrame, assignments: Sequence[Assignment], names: LogicalNames) -> DataFrame:
    """The frame with the cluster of each row, if any of the grids has clusters; all of them share these."""
    found = [
        axis
        for grid in assignments
        if isinstance(grid, Grid)
        for axis in grid.dimensions
        if isinstance(axis, Clusters)
    ]
    if not found:
        return frame
    one = found[0]
    if not all(_same_clusters(one, other) for other in found[1:]):
        raise TypeError("horizontal partitions cannot have clusters of their own")
    keyed, words = _with_words(frame, one.features, names)
    columns: dict[str, object] = {
        word: one.vectors[:, place].view(np.int64) for place, word in enumerate(words)
    }
    columns[_CLUSTER] = one.bucket_of
    table = frame.sparkSession.createDataFrame(pa.table(columns))
    joined = keyed.join(F.broadcast(table), words, "left").drop(*words)
    return joined.withColumn(_CLUSTER, F.coalesce(F.col(_CLUSTER), F.lit(one.otherwise)))


def _same_clusters(one: Clusters, other: Clusters) -> bool:
    return one is other or (
        one.features == other.features
        and (one.otherwise, one.buckets) == (other.otherwise, other.buckets)
        and np.array_equal(one.vectors, other.vectors)
        and np.array_equal(one.bucket_of, other.bucket_of)
    )


def _with_words(
    frame: DataFrame, features: Sequence[Expr], names: LogicalNames
) -> tuple[DataFrame, list[str]]:
    """The frame with each row's feature vector as words, and what their columns are called."""
    words = [f"{_WORD}{place}" for place in range((len(features) + 63) // 64)]
    out = frame
    for place, word in enumerate(words):
        bits = [
            f"IF(coalesce({names.sql(feature)}, false), {_bit_sql(bit)}, 0L)"
            for bit, feature in enumerate(features[place * 64 : place * 64 + 64])
        ]
        out = out.withColumn(word, F.expr(" | ".join(bits)))
    return out, words


# ------------------------------------------------------------ vector maps


@dataclass(frozen=True, slots=True)
class _Part:
    """One horizontal partition: its place, the number of its first block, its own assignment."""

    key: str
    start: int
    assignment: Assignment


def _with_vectors(frame: DataFrame, parts: Sequence[_Part], last: int, names: LogicalNames) -> DataFrame:
    """Join the blocking maps of all partitions, which are over the same features.

    Partitions with an assignment of another kind, unseen vectors and, in block ``last``, unlisted
    partitions find nothing in the join and are placed by a CASE.
    """
    maps = [(part, part.assignment) for part in parts if isinstance(part.assignment, VectorMap)]
    first = maps[0][1]
    out, words = _with_words(frame, first.features, names)
    table = frame.sparkSession.createDataFrame(_vector_table(maps, words))
    joined = out.join(F.broadcast(table), [*words, _KEY], "left")
    block = F.coalesce(_place(frame, first, names), F.expr(_otherwise_sql(parts, last, names)))
    return joined.withColumn(BLOCK, block).select(*frame.columns, BLOCK)


def _place(frame: DataFrame, vectors: VectorMap, names: LogicalNames) -> SparkColumn:
    first, ways = F.col(_FIRST), F.col(_WAYS)
    if vectors.spread is None:
        return first + F.pmod(hashed_row(frame.schema), ways).cast("int")
    bucket, buckets = F.expr(_bucket_sql(vectors.spread, names)), vectors.spread.buckets
    inside = F.when(ways > buckets, F.pmod(hashed_row(frame.schema), F.lit(_FINE)) / _FINE).otherwise(0.0)
    return first + F.floor((bucket + inside) * ways / buckets).cast("int")


def _bit_sql(bit: int) -> str:
    """The word with only this bit; a long has a sign, so the last one is the smallest long."""
    return literal_sql(Literal(-(1 << 63) if bit == 63 else 1 << bit, LONG))


def _vector_table(maps: Sequence[tuple[_Part, VectorMap]], words: Sequence[str]) -> pa.Table:
    def joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(arrays)

    columns: dict[str, object] = {
        word: joined([vectors.vectors[:, place].view(np.int64) for _, vectors in maps])
        for place, word in enumerate(words)
    }
    columns[_FIRST] = joined([(vectors.first + part.start).astype(np.int32) for part, vectors in maps])
    columns[_WAYS] = joined([vectors.ways.astype(np.int32) for _, vectors in maps])
    columns[_KEY] = [part.key for part, vectors in maps for _ in vectors.first]
    return pa.table(columns)


def _otherwise_sql(parts: Sequence[_Part], last: int, names: LogicalNames) -> str:
    branches = "".join(f" WHEN '{part.key}' THEN {_elsewhere(part, names)}" for part in parts)
    return f"CASE {_KEY}{branches} ELSE {last} END"


def _elsewhere(part: _Part, names: LogicalNames) -> str:
    if isinstance(part.assignment, VectorMap):
        return str(part.start + part.assignment.otherwise)
    return f"{part.start} + {_scalar_sql(part.assignment, names)}"


# --------------------------------------------------- horizontal partitions


def _with_partitions(frame: DataFrame, assignment: Partitioned, names: LogicalNames) -> DataFrame:
    parts, number = [], 0
    for place, part in enumerate(assignment.parts):
        parts.append(_Part(str(place), number, part))
        number += part.blocks
    type_ = type_of(assignment.by)
    places = "".join(
        f" WHEN {literal_sql(Literal(value, type_))} THEN '{place}'"
        for place, value in enumerate(assignment.values)
    )
    keyed = frame.withColumn(_KEY, F.expr(f"CASE {names.sql(assignment.by)}{places} ELSE '-1' END"))
    keyed = _with_clusters(keyed, assignment.parts, names)
    if any(isinstance(part, VectorMap) for part in assignment.parts):
        return _with_vectors(keyed, parts, number, names).drop(_KEY, _CLUSTER)
    return keyed.withColumn(BLOCK, F.expr(_otherwise_sql(parts, number, names))).drop(_KEY, _CLUSTER)


def _scalar_sql(assignment: Assignment, names: LogicalNames) -> str:
    match assignment:
        case Tree(root):
            return _tree_sql(root, names.sql)
        case Grid():
            return _grid_sql(assignment, names)
        case _:
            raise TypeError(f"{type(assignment).__name__} cannot be nested in a horizontal partition")

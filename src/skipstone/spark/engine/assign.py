"""Assignments as native Spark: every row of a frame gets the number of its block.

One parsed SQL text costs the driver far less than thousands of calls, so most of an assignment is such a text
(:mod:`~skipstone.layout.assignment_sql`). Large trees are cut into groups, found first and searched second:
each piece of generated code then stays small enough to be compiled. SOP's blocking map is a broadcast join,
and so are the clusters of a grid.

Where a block is one expression, rows are dealt out by this expression itself. They need no further column,
and code can be generated for whole stages: Spark evaluates what rows are dealt out by outside of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skipstone.catalog.column_names import quoted
from skipstone.catalog.logical_names import LogicalNames
from skipstone.layout.assignment import (
    Assignment,
    Clusters,
    Grid,
    Node,
    Part,
    Partitioned,
    Split,
    Tree,
    VectorMap,
    blocks_of,
)
from skipstone.layout.assignment_sql import CLUSTER, block_sql, bucket_sql, leaves, partition_sql, tree_sql
from skipstone.layout.placing_predicates import placing_predicates
from skipstone.predicate.expr import Expr, Literal
from skipstone.predicate.literals import literal_sql
from skipstone.predicate.partner import partners_in
from skipstone.predicate.types import LONG
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.partners import JoinedTables
from skipstone.spark.engine.row_hash import hashed_row
from skipstone.spark.engine.session_copy import in_session, lenient

__all__ = ["BLOCK", "Placing", "arranged", "assigned", "coarsened", "with_block"]

BLOCK = "__skipstone_block"
_GROUP_LEAVES = 48
_FINE = 1 << 20
_SIGN_BIT = 63
_WORD = "__skipstone_word"
_KEY = "__skipstone_key"
_FIRST = "__skipstone_first"
_WAYS = "__skipstone_ways"


@dataclass(frozen=True, slots=True, eq=False)
class Placing:
    """Which block rows go to: that of an assignment, or one of fewer, each of some neighbouring ones."""

    assignment: Assignment
    names: LogicalNames
    blocks: int
    joined: JoinedTables | None = None
    """The tables that rows may be placed by as well, besides their own."""

    @classmethod
    def of(cls, table: OpenTable, assignment: Assignment) -> Placing:
        """All blocks of the assignment."""
        by_others = any(partners_in(each) for each in placing_predicates(assignment))
        joined = JoinedTables(table.engine) if by_others else None
        return cls(assignment, table.snapshot.logical_names, blocks_of(assignment), joined)

    @property
    def expression(self) -> str | None:
        """The number of a row's block in SQL; None if it takes more than an expression."""
        assignment, blocks = self.assignment, blocks_of(self.assignment)
        if self.joined is not None:
            return None
        if isinstance(assignment, Tree) or (isinstance(assignment, Grid) and assignment.clusters is None):
            block = block_sql(assignment, self.names)
            return block if self.blocks == blocks else _coarse(block, blocks, self.blocks)
        return None

    def arranged(self, frame: DataFrame, sort: Sequence[str]) -> DataFrame:
        """One partition per block, sorted by these expressions."""
        block = self.expression
        if block is not None:
            return _dealt(frame, self.blocks, F.expr(block), sort)
        numbered = self.numbered(frame)
        return arranged(coarsened(numbered, blocks_of(self.assignment), self.blocks), self.blocks, sort)

    def numbered(self, frame: DataFrame) -> DataFrame:
        """The frame with the block of each row in the assignment."""
        if self.joined is None:
            return with_block(frame, self.assignment, self.names)
        known = [each for each in placing_predicates(self.assignment) if not self.names.lacks(each)]
        flagged = self.joined.with_flags(frame, self.names, known)
        placed = with_block(flagged, self.assignment, self.names)
        return placed.select(*map(quoted, frame.columns), BLOCK)


def with_block(frame: DataFrame, assignment: Assignment, names: LogicalNames) -> DataFrame:
    """The frame with a column :data:`BLOCK`, which is never NULL.

    A row for which an expression of the layout fails is assigned as if the expression were NULL.
    """
    return in_session(frame.sparkSession, _with_block(lenient(frame), assignment, names))


def assigned(table: OpenTable, frame: DataFrame, assignment: Assignment) -> DataFrame:
    """The rows of a table with their blocks; the assignment may go by what other tables hold for them."""
    return Placing.of(table, assignment).numbered(frame)


def coarsened(frame: DataFrame, blocks: int, wanted: int) -> DataFrame:
    """The frame in so many blocks only: each is some neighbouring ones of those that it has."""
    if wanted >= blocks:
        return frame
    return frame.withColumn(BLOCK, F.expr(_coarse(BLOCK, blocks, wanted)))


def _coarse(block: str, blocks: int, wanted: int) -> str:
    return f"CAST(CAST({block} AS BIGINT) * {wanted} div {blocks} AS INT)"


def arranged(frame: DataFrame, blocks: int, sort: Sequence[str]) -> DataFrame:
    """One partition per block of a frame that has them, sorted by these expressions, and no :data:`BLOCK`."""
    return _dealt(frame, blocks, F.col(BLOCK), sort).drop(BLOCK)


def _dealt(frame: DataFrame, blocks: int, block: SparkColumn, sort: Sequence[str]) -> DataFrame:
    placed = lenient(frame).repartitionById(blocks, block)
    if sort:
        placed = placed.sortWithinPartitions(*map(F.expr, sort))
    return in_session(frame.sparkSession, placed)


def _with_block(frame: DataFrame, assignment: Assignment, names: LogicalNames) -> DataFrame:
    match assignment:
        case Tree(root):
            return _with_tree(frame, root, names)
        case Grid():
            clustered = _with_clusters(frame, assignment.clusters, names)
            return clustered.withColumn(BLOCK, F.expr(block_sql(assignment, names))).drop(CLUSTER)
        case VectorMap():
            keyed = frame.withColumn(_KEY, F.lit("0"))
            return _with_vectors(keyed, [_Numbered("0", 0, assignment)], 0, names).drop(_KEY)
        case Partitioned():
            return _with_partitions(frame, assignment, names)


# ------------------------------------------------------------------ trees


def _with_tree(frame: DataFrame, root: Node, names: LogicalNames) -> DataFrame:
    """Nested IFs; a large tree level by level, each level a column of its own."""
    groups: list[Node] = []

    def top(node: Node) -> Node:
        if isinstance(node, Split) and leaves(node) > _GROUP_LEAVES:
            return Split(node.cut, top(node.yes), top(node.no))
        groups.append(node)
        return len(groups) - 1

    if leaves(root) <= _GROUP_LEAVES:
        return frame.withColumn(BLOCK, F.expr(tree_sql(root, names)))
    head = top(root)
    group = f"{BLOCK}_group"
    branches = "".join(f" WHEN {index} THEN {tree_sql(node, names)}" for index, node in enumerate(groups))
    grouped = frame.withColumn(group, F.expr(tree_sql(head, names)))
    return grouped.withColumn(BLOCK, F.expr(f"CASE {group}{branches} ELSE 0 END")).drop(group)


# --------------------------------------------------------- feature vectors


def _with_clusters(frame: DataFrame, clusters: Clusters | None, names: LogicalNames) -> DataFrame:
    """The frame with the bucket of each row among the clusters, if there are any."""
    if clusters is None:
        return frame
    keyed, words = _with_words(frame, clusters.features, names)
    columns: dict[str, object] = {
        word: clusters.vectors[:, index].view(np.int64) for index, word in enumerate(words)
    }
    columns[CLUSTER] = clusters.bucket_of
    table = frame.sparkSession.createDataFrame(pa.table(columns))
    joined = keyed.join(F.broadcast(table), words, "left").drop(*words)
    return joined.withColumn(CLUSTER, F.coalesce(F.col(CLUSTER), F.lit(clusters.otherwise)))


def _with_words(
    frame: DataFrame, features: Sequence[Expr], names: LogicalNames
) -> tuple[DataFrame, list[str]]:
    """The frame with each row's feature vector as words, and what their columns are called."""
    words = [f"{_WORD}{index}" for index in range((len(features) + 63) // 64)]
    out = frame
    for index, word in enumerate(words):
        bits = [
            f"IF(coalesce({names.sql(feature)}, false), {_bit_sql(bit)}, 0L)"
            for bit, feature in enumerate(features[index * 64 : index * 64 + 64])
        ]
        out = out.withColumn(word, F.expr(" | ".join(bits)))
    return out, words


@dataclass(frozen=True, slots=True)
class _Numbered:
    """One horizontal partition: its key, the number of its first block, its own assignment."""

    key: str
    start: int
    assignment: Part


def _with_vectors(frame: DataFrame, parts: Sequence[_Numbered], last: int, names: LogicalNames) -> DataFrame:
    """Join the blocking maps of all partitions, which are over the same features.

    Partitions with an assignment of another kind, unseen vectors and, in block ``last``, unlisted
    partitions find nothing in the join and are placed by a CASE.
    """
    maps = [(part, part.assignment) for part in parts if isinstance(part.assignment, VectorMap)]
    first = maps[0][1]
    out, words = _with_words(frame, first.features, names)
    table = frame.sparkSession.createDataFrame(_vector_table(maps, words))
    joined = out.join(F.broadcast(table), [*words, _KEY], "left")
    block = F.coalesce(_found(frame, first, names), F.expr(_otherwise_sql(parts, last, names)))
    return joined.withColumn(BLOCK, block).select(*frame.columns, BLOCK)


def _found(frame: DataFrame, vectors: VectorMap, names: LogicalNames) -> SparkColumn:
    """The block of a row whose vector was found in the join."""
    first, ways = F.col(_FIRST), F.col(_WAYS)
    if vectors.spread is None:
        return first + F.pmod(hashed_row(frame.schema), ways).cast("int")
    bucket, buckets = F.expr(bucket_sql(vectors.spread, names)), vectors.spread.buckets
    inside = F.when(ways > buckets, F.pmod(hashed_row(frame.schema), F.lit(_FINE)) / _FINE).otherwise(0.0)
    return first + F.floor((bucket + inside) * ways / buckets).cast("int")


def _bit_sql(bit: int) -> str:
    """The word with only this bit; a long has a sign, so the last one is the smallest long."""
    return literal_sql(Literal(-(1 << bit) if bit == _SIGN_BIT else 1 << bit, LONG))


def _vector_table(maps: Sequence[tuple[_Numbered, VectorMap]], words: Sequence[str]) -> pa.Table:
    def joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(arrays)

    columns: dict[str, object] = {
        word: joined([vectors.vectors[:, index].view(np.int64) for _, vectors in maps])
        for index, word in enumerate(words)
    }
    columns[_FIRST] = joined([(vectors.first + part.start).astype(np.int32) for part, vectors in maps])
    columns[_WAYS] = joined([vectors.ways.astype(np.int32) for _, vectors in maps])
    columns[_KEY] = pa.array([part.key for part, vectors in maps for _ in vectors.first], pa.string())
    return pa.table(columns)


def _otherwise_sql(parts: Sequence[_Numbered], last: int, names: LogicalNames) -> str:
    branches = "".join(f" WHEN '{part.key}' THEN {_elsewhere(part, names)}" for part in parts)
    return f"CASE {_KEY}{branches} ELSE {last} END"


def _elsewhere(part: _Numbered, names: LogicalNames) -> str:
    if isinstance(part.assignment, VectorMap):
        return str(part.start + part.assignment.otherwise)
    return f"{part.start} + {block_sql(part.assignment, names)}"


# --------------------------------------------------- horizontal partitions


def _with_partitions(frame: DataFrame, assignment: Partitioned, names: LogicalNames) -> DataFrame:
    parts, number = [], 0
    for index, part in enumerate(assignment.parts):
        parts.append(_Numbered(str(index), number, part))
        number += part.blocks
    keyed = frame.withColumn(_KEY, F.expr(partition_sql(assignment, names)))
    # All parts have the same clusters.
    keyed = _with_clusters(keyed, next(iter(assignment.clusters), None), names)
    if any(isinstance(part, VectorMap) for part in assignment.parts):
        return _with_vectors(keyed, parts, number, names).drop(_KEY, CLUSTER)
    return keyed.withColumn(BLOCK, F.expr(_otherwise_sql(parts, number, names))).drop(_KEY, CLUSTER)

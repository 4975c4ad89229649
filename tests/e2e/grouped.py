"""Small tables with a replica by column groups, whose design is made by hand."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pyspark.sql import SparkSession

import skipstone
from skipstone.actions.context import Context
from skipstone.actions.lay_out import grouped_records
from skipstone.actions.make_partitions import PARTITION_ROWS, groups_plan
from skipstone.actions.replicate import copy_rows
from skipstone.catalog.layout_records import LayoutRecord
from skipstone.catalog.replicas import HorizontalPartition
from skipstone.layout.assignment import Node, Split, Tree
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.predicate.expr import Column, Comparison, Expr, Literal
from skipstone.predicate.types import INT
from skipstone.pruning.blocks import Feature

ROWS, FILES = 800, 4
COLUMNS = (
    "id",
    "CAST(pmod(xxhash64(id), 1000) AS INT) AS k",
    "IF(id % 7 = 0, NULL, concat('n', id)) AS name",
    "date_add(DATE'2020-01-01', CAST(id % 90 AS INT)) AS day",
    "named_struct('a', id * 2, 'b', IF(id % 5 = 0, NULL, named_struct('c', concat('x', id)))) AS st",
    "CAST(pmod(xxhash64(id, 1), 1000) AS INT) AS g",
    "CAST(id / 7 AS DECIMAL(20, 5)) AS price",
    "IF(id % 13 = 0, double('NaN'), id * -0.5D) AS weight",
    "IF(id % 11 = 0, NULL, map('c', CAST(id % 10 AS STRING))) AS attrs",
    "array(id, NULL, id + 1) AS many",
    "encode(CAST(id AS STRING), 'utf-8') AS raw",
    "id % 2 = 0 AS even",
    "timestamp_micros(id * 86400000000) AS moment",
    "CAST(id % 100 AS TINYINT) AS tiny",
    "IF(id % 3 = 0, NULL, CAST(id AS SMALLINT)) AS small",
    "IF(id % 19 = 0, float('-Infinity'), CAST(id / 3 AS FLOAT)) AS single",
    "CAST(timestamp_micros(id * 3600000000) AS TIMESTAMP_NTZ) AS wall",
    "id % 17 AS alone",
)
K, G = Column(("k",), INT), Column(("g",), INT)
FIRST = ("id", "k", "name", "day", "st")
SECOND = ("g", "price", "weight", "attrs")
THIRD = ("many", "raw", "even", "moment", "tiny", "small", "single", "wall")


def below(column: Column, value: int) -> Expr:
    """A comparison with a number."""
    return Comparison("<", column, Literal(value, INT))


def tree(column: Column, blocks: int) -> Tree:
    """Ranges of numbers up to 1,000, each a block."""

    def node(low: int, high: int) -> Node:
        if high - low == 1:
            return low
        middle = (low + high) // 2
        return Split(below(column, 1000 * middle // blocks), node(low, middle), node(middle, high))

    return Tree(node(0, blocks), blocks)


def groups(blocks: int = 10) -> tuple[ColumnGroup, ...]:
    """Two groups in orders of their own, and one that is blocked like the first by a feature of it."""
    local = (Feature(below(K, 100), "k < 100"),)
    return (
        ColumnGroup(tree(K, blocks), columns=FIRST),
        ColumnGroup(tree(G, blocks), columns=SECOND, features=local),
        ColumnGroup(Tree(Split(below(K, 100), 0, 1), 2), columns=THIRD, features=local),
    )


@dataclass(frozen=True, slots=True)
class CopyGroups:
    """Copies a table by column groups."""

    name: ClassVar[str] = "replicate"

    groups: Sequence[ColumnGroup]
    part_rows: int = ROWS // 2

    def validate(self, context: Context) -> None:
        """Anything goes."""

    def run(self, context: Context) -> list[HorizontalPartition]:
        """The horizontal partitions that were made."""
        table, design, created = context.table, Design(tuple(self.groups)), context.clock().isoformat()
        plan = groups_plan(table, design, uuid.uuid4().hex[:12], created)
        record = LayoutRecord(
            id=plan.layout,
            strategy="gsop",
            created=created,
            table_version=table.snapshot.version,
            block_rows=1,
            partition_by=None,
            options={},
            parameters={PARTITION_ROWS: self.part_rows},
            fingerprint="",
            workload=(),
            groups=grouped_records(design, table.snapshot.logical_names),
        )
        made = copy_rows(context, plan, record, ROWS)
        context.table.refresh()
        return made


def write_grouped(spark: SparkSession, path: Path) -> skipstone.Table:
    """800 rows in 4 files of consecutive ids; no statistics, two horizontal partitions of three groups."""
    frame = spark.range(0, ROWS, 1, FILES).selectExpr(*COLUMNS)
    frame.write.format("delta").option("delta.enableDeletionVectors", "true").save(str(path))
    table = skipstone.table(spark, str(path))
    assert len(table.perform(CopyGroups(groups()))) == 2
    return table

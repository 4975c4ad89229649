"""Rows for several copies at once: read once, and dealt out to the blocks of all copies by one shuffle.

"Robust Data Partitioning for Ad-hoc Query Processing" (Nguyen, MIT 2015), section 5.2.3: for each record the
partitioner finds a partition in each tree. Here a row becomes as many rows as there are copies, each with the
number of its block among the blocks of all copies. Each copy is then written from its own partitions of that
shuffle, by a write of its own, so that its files go to its own place and are checked by themselves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.bridge.jvm import JavaObject
from skipstone.spark.engine.assign import BLOCK
from skipstone.spark.engine.row_hash import HASH, RowHash, row_hash, total_hash, with_hash
from skipstone.spark.engine.session_copy import in_session, lenient

__all__ = ["CopyBlocks", "DealtRows", "deal_rows"]

_READ = "skipstone_read"
"""What the figures of the rows that are read are called; they are read off the plan, not waited for."""


@dataclass(frozen=True, slots=True, eq=False)
class CopyBlocks:
    """How the rows of one copy are placed: ``assign`` adds each row's block number, of so many blocks."""

    assign: Callable[[DataFrame], DataFrame]
    blocks: int


@dataclass(frozen=True, slots=True, eq=False)
class DealtRows:
    """The rows of one copy, a block in each partition."""

    frame: DataFrame
    jvm_dealt: JavaObject

    def read(self) -> RowHash:
        """What the rows that were read were found to be; known once some copy was written."""
        return total_hash(json.loads(self.jvm_dealt.observed()))


def deal_rows(source: DataFrame, copies: Sequence[CopyBlocks]) -> list[DealtRows]:
    """The rows of a frame for each of the copies; nothing is read yet."""
    session = source.sparkSession
    placed = with_hash(source).observe(_READ, *row_hash()).drop(HASH)
    numbers: list[str] = []
    total = 0
    for copy in copies:
        numbers.append(f"{BLOCK}_{len(numbers)}")
        placed = copy.assign(placed).withColumn(numbers[-1], F.col(BLOCK) + F.lit(total)).drop(BLOCK)
        total += copy.blocks
    each = F.explode(F.array(*numbers)).alias(BLOCK)
    dealt = lenient(placed.select(*(F.col(f"`{name}`") for name in source.columns), each))
    shuffled = in_session(session, dealt.repartitionById(total, BLOCK))
    jvm_dealt = new_instance(session, "SkipstoneDealt")
    jvm_dealt.of(shuffled._jdf)
    found, first = [], 0
    for copy in copies:
        part = jvm_dealt.part(session._jsparkSession, first, first + copy.blocks)
        found.append(DealtRows(DataFrame(part, session).drop(BLOCK), jvm_dealt))
        first += copy.blocks
    return found

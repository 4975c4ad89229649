"""A hash of rows that does not depend on their order: the check that nothing was lost."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

__all__ = ["RowHash", "hash_of", "hashed_row", "row_hash"]


@dataclass(frozen=True, slots=True)
class RowHash:
    """Number of rows and the sum of their hashes: the same for the same rows in any order."""

    rows: int
    total: int


def hash_of(frame: DataFrame) -> RowHash:
    """Count and hash the rows of a frame."""
    seen = frame.agg(*row_hash(frame.schema)).first()
    assert seen is not None
    return RowHash(int(seen["rows"]), int(seen["total"]))


def row_hash(schema: StructType) -> tuple[Column, Column]:
    """The aggregates behind :class:`RowHash`, called ``rows`` and ``total``."""
    total = F.sum(hashed_row(schema).cast("decimal(20,0)"))
    return F.count(F.lit(1)).alias("rows"), F.coalesce(total, F.lit(0)).alias("total")


def hashed_row(schema: StructType) -> Column:
    """64 bits that depend on all columns of a row."""
    return F.xxhash64(*[_hashable(field) for field in schema.fields])


def _hashable(field: StructField) -> Column:
    """The column; as text where it holds a map or a variant, which Spark does not hash."""
    column = F.col(f"`{field.name.replace('`', '``')}`")
    kind = field.dataType.simpleString()
    return column.cast("string") if "map<" in kind or "variant" in kind else column

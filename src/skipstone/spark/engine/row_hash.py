"""A hash of rows that does not depend on their order: the check that nothing was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from skipstone.catalog.column_names import quoted

__all__ = [
    "HASH",
    "MOST_HASHED",
    "RowHash",
    "hash_of",
    "hash_sums",
    "hashed_row",
    "hashes_of",
    "leaves",
    "row_hash",
    "total_hash",
    "with_hash",
]

HASH = "__skipstone_hash"
MOST_HASHED = 40
"""Columns of plain values that code for a whole stage may hash; the JVM does not compile longer methods."""
# Hashes are summed in three pieces, each of which stays within a long up to 2^39 rows.
_SHIFTS = (0, 24, 48)
_PIECE = (1 << 24) - 1
_WORD_BITS = 62


@dataclass(frozen=True, slots=True)
class RowHash:
    """Number of rows and the sum of their hashes: the same for the same rows in any order."""

    rows: int
    total: int


def hash_of(frame: DataFrame) -> RowHash:
    """Count and hash the rows of a frame."""
    seen = with_hash(frame).agg(*row_hash()).first()
    assert seen is not None
    return total_hash(seen.asDict())


def with_hash(frame: DataFrame) -> DataFrame:
    """The frame and, in a last column, each row's hash."""
    return frame.withColumn(HASH, hashed_row(frame.schema))


def hashes_of(frame: DataFrame, columns: Sequence[Sequence[str]]) -> tuple[RowHash, ...]:
    """Count the rows of a frame and hash them by each of several lists of columns, in one pass."""
    names = [f"{HASH}{n}" for n in range(len(columns))]
    hashed = frame.select(
        *(
            hashed_row(StructType([frame.schema[column] for column in some])).alias(name)
            for name, some in zip(names, columns, strict=True)
        )
    )
    sums = [column for name in names for column in _named(hash_sums(name, name))]
    seen = hashed.agg(F.count(F.lit(1)).alias("rows"), *sums).first()
    assert seen is not None
    return tuple(_total(seen.asDict(), name) for name in names)


def row_hash() -> tuple[Column, ...]:
    """The aggregates behind :class:`RowHash`, over a frame that has its hashes."""
    return F.count(F.lit(1)).alias("rows"), *_named(hash_sums(HASH))


def hash_sums(column: str, prefix: str = "hash") -> list[tuple[str, str]]:
    """The names and the SQL of the aggregates over a column of hashes."""
    pieces = [f"shiftrightunsigned({column}, {shift}) & {_PIECE}L" for shift in _SHIFTS]
    return [(f"{prefix}{number}", f"coalesce(sum({piece}), 0L)") for number, piece in enumerate(pieces)]


def _named(sums: Sequence[tuple[str, str]]) -> list[Column]:
    return [F.expr(sql).alias(name) for name, sql in sums]


def total_hash(seen: Mapping[str, int]) -> RowHash:
    """What the aggregates found."""
    return _total(seen, "hash")


def _total(seen: Mapping[str, int], prefix: str) -> RowHash:
    pieces = (int(seen[f"{prefix}{n}"]) << shift for n, shift in enumerate(_SHIFTS))
    return RowHash(int(seen["rows"]), sum(pieces))


def leaves(kind: DataType) -> int:
    """How many columns of plain values there are in a type, so about how long the code is that hashes it."""
    match kind:
        case StructType():
            return sum(leaves(field.dataType) for field in kind.fields)
        case ArrayType():
            return leaves(kind.elementType)
        case MapType():
            return leaves(kind.keyType) + leaves(kind.valueType)
        case _:
            return 1


def hashed_row(schema: StructType) -> Column:
    """64 bits that depend on all columns of a row, and on which of them are NULL: hashes pass over NULL."""
    return F.xxhash64(*_nulls(schema.names), *map(_hashable, schema.fields))


def _nulls(names: Sequence[str]) -> list[Column]:
    """Words of one bit per column."""
    words = [names[start : start + _WORD_BITS] for start in range(0, len(names), _WORD_BITS)]
    return [
        F.expr(" | ".join(f"if({quoted(name)} IS NULL, {1 << bit}L, 0L)" for bit, name in enumerate(word)))
        for word in words
    ]


def _hashable(field: StructField) -> Column:
    """The column, or what stands for it where it holds a map or a variant, which Spark does not hash."""
    column, kind = F.col(quoted(field.name)), field.dataType
    if isinstance(kind, MapType) and not _unhashable(kind.keyType) and not _unhashable(kind.valueType):
        return F.map_entries(column)  # faster than their text
    return column.cast("string") if _unhashable(kind) else column


def _unhashable(kind: DataType) -> bool:
    name = kind.simpleString()
    return "map<" in name or "variant" in name

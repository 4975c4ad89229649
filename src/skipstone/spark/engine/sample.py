"""Samples for fitting: some rows of a table with the workload's atoms already evaluated.

Spark draws the rows and evaluates every atom natively; the driver gets packed bits and the columns that the
workload filters on. That takes two steps. The rows are drawn by generated code that reads no value of a row
that it does not draw. The hundreds of atoms of a log would make such code too long to be compiled, so they
are evaluated, in pieces, on the drawn rows, which Spark keeps meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skipstone.catalog.column_names import quoted
from skipstone.layout.sample import Sample
from skipstone.predicate.expr import Call, Column, Expr, Value, columns_of, type_of, walk
from skipstone.predicate.types import Kind
from skipstone.spark.engine.assign import LogicalNames
from skipstone.spark.engine.job_settings import WIDE
from skipstone.spark.engine.session_copy import lenient
from skipstone.spark.engine.stored_bounds import canonical_array

__all__ = ["Drawn", "draw", "ordered_inputs", "packed_bits_sql", "vector_counts"]

_WORD_BITS = 62
_FILE = "__skipstone_file"
_TEXT_LENGTH = 256
_MOST_VECTORS = 1_000_000
_NO_RANK = (Kind.BOOLEAN, Kind.YEAR_MONTH_INTERVAL, Kind.TIME)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A sample, and the file that each of its rows lies in, as a place in ``file_paths``."""

    sample: Sample
    file_of: npt.NDArray[np.int32]
    file_paths: tuple[str, ...]


def ordered_inputs(atoms: Sequence[Expr]) -> tuple[Expr, ...]:
    """The columns and computed expressions that atoms compare, as far as their values have an order."""
    found: dict[Expr, None] = {}
    for atom in atoms:
        for node in walk(atom):
            if (
                isinstance(node, Column | Call)
                # A computed constant is one that the session's optimizer was told to leave.
                and columns_of(node)
                and type_of(node).ordered
                and type_of(node).kind not in _NO_RANK
            ):
                found.setdefault(node)
    return tuple(found)


def packed_bits_sql(texts: Sequence[str]) -> list[str]:
    """SQL of 64-bit words with one bit per condition, set where it is TRUE."""
    words = []
    for start in range(0, len(texts), _WORD_BITS):
        bits = [
            f"IF(coalesce({text}, false), {1 << bit}L, 0L)"
            for bit, text in enumerate(texts[start : start + _WORD_BITS])
        ]
        words.append(" | ".join(bits))
    return words


def draw(
    frame: DataFrame,
    total_rows: int,
    rows: int,
    atoms: Sequence[Expr],
    columns: Sequence[Expr],
    names: LogicalNames,
    partition: Expr | None = None,
    seed: int = 0,
) -> Drawn:
    """Draw about ``rows`` rows of a frame; an atom is not TRUE, and a value NULL, where evaluation fails."""
    fraction = min(1.0, rows / max(total_rows, 1))
    read = [*atoms, *columns, *([] if partition is None else [partition])]
    needed = dict.fromkeys(name for expr in read for name in names.top_level(expr))
    some = frame.sample(False, fraction, seed) if fraction < 1.0 else frame
    file = some.metadataColumn("_metadata")["file_path"]
    kept = some.select(*map(quoted, needed), file.alias(_FILE)).persist()
    words = packed_bits_sql([names.sql(atom) for atom in atoms])
    wanted: list[SparkColumn] = [F.expr(word).alias(f"b{place}") for place, word in enumerate(words)]
    wanted += [_value(names.sql(expr), expr).alias(f"c{place}") for place, expr in enumerate(columns)]
    if partition is not None:
        wanted.append(_value(names.sql(partition), partition).alias("p"))
    try:
        table: pa.Table = lenient(kept, WIDE).select(*wanted, F.col(_FILE)).toArrow().combine_chunks()
    finally:
        kept.unpersist()
    size = table.num_rows
    values = {
        expr: canonical_array(_flat(table, f"c{place}"), type_of(expr)) for place, expr in enumerate(columns)
    }
    part, part_values = _partition(table, partition)
    scale = total_rows / size if size else 1.0
    bits = _unpack([_flat(table, f"b{place}") for place in range(len(words))], len(atoms), size)
    files = _flat(table, _FILE).dictionary_encode()
    return Drawn(
        Sample(bits, values, scale, part, part_values, partition),
        files.indices.to_numpy(zero_copy_only=False).astype(np.int32),
        tuple(files.dictionary.to_pylist()),
    )


def _value(sql: str, expr: Expr) -> SparkColumn:
    """A value for the driver; of a long text the beginning, for only its order counts there."""
    kind = type_of(expr).kind
    value = F.expr(sql)
    if kind not in (Kind.STRING, Kind.BINARY):
        return value
    return F.substring(value, 1, _TEXT_LENGTH).cast("binary")


def _flat(table: pa.Table, name: str) -> pa.Array:
    column = table[name].combine_chunks()
    return column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)


def _unpack(words: Sequence[pa.Array], count: int, size: int) -> npt.NDArray[np.bool_]:
    bits = np.zeros((size, count), np.bool_, order="F")
    for place in range(count):
        word = words[place // _WORD_BITS].to_numpy(zero_copy_only=False)
        bits[:, place] = (word >> (place % _WORD_BITS)) & 1
    return bits


def _partition(table: pa.Table, by: Expr | None) -> tuple[npt.NDArray[np.int32] | None, tuple[Value, ...]]:
    if by is None:
        return None, ()
    column = canonical_array(_flat(table, "p"), type_of(by))
    values = tuple(sorted({value for value in column.to_pylist() if value is not None}))
    places = {value: place for place, value in enumerate(values)}
    numbers = np.array([places.get(value, len(values)) for value in column.to_pylist()], np.int32)
    return numbers, values


def vector_counts(
    frame: DataFrame, features: Sequence[str], partition: Expr | None, names: LogicalNames
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64], list[Value]]:
    """The distinct feature vectors of a whole frame, how many rows have each, and their partitions.

    Of more vectors than a driver should hold, those that most rows have.
    """
    frame = lenient(frame)
    words = [F.expr(word).alias(f"b{place}") for place, word in enumerate(packed_bits_sql(features))]
    key = [] if partition is None else [_value(names.sql(partition), partition).alias("p")]
    keys = [*[f"b{place}" for place in range(len(words))], *(["p"] if key else [])]
    counted = frame.select(*words, *key).groupBy(*keys).agg(F.count(F.lit(1)).alias("n"))
    table: pa.Table = counted.orderBy(F.desc("n")).limit(_MOST_VECTORS).toArrow().combine_chunks()
    bits = _unpack([_flat(table, f"b{place}") for place in range(len(words))], len(features), table.num_rows)
    counts = _flat(table, "n").to_numpy(zero_copy_only=False).astype(np.int64)
    parts: list[Value] = [None] * table.num_rows
    if partition is not None:
        parts = canonical_array(_flat(table, "p"), type_of(partition)).to_pylist()
    order = np.lexsort(bits.T) if len(features) else np.arange(len(counts))
    return bits[order], counts[order], [parts[place] for place in order]

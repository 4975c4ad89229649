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
from skipstone.layout.sample import Drawn, Sample
from skipstone.layout.table_view import VectorCounts
from skipstone.predicate.evaluate import order_key
from skipstone.predicate.expr import Call, Column, Expr, Value, columns_of, type_of, walk
from skipstone.predicate.types import Kind
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.read_back import unevaluable
from skipstone.spark.engine.job_settings import DRAWN, WIDE
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.partners import JoinedTables, packed_bits_sql
from skipstone.spark.engine.session_copy import lenient
from skipstone.spark.engine.stored_bounds import canonical_array

__all__ = [
    "Request",
    "count_rows",
    "count_vectors",
    "draw",
    "ordered_inputs",
]

_WORD_BITS = 62
_FILE = "__skipstone_file"
_TEXT_LENGTH = 256
_MOST_VECTORS = 1_000_000
_PROBED_ROWS = 300_000
_NO_RANK = (Kind.BOOLEAN, Kind.YEAR_MONTH_INTERVAL, Kind.TIME)


def ordered_inputs(atoms: Sequence[Expr]) -> tuple[Expr, ...]:
    """The columns and computed expressions that atoms compare, as far as their values have an order."""
    found: dict[Expr, None] = {}
    for atom in atoms:
        for node in walk(atom):
            if (
                isinstance(node, Column | Call)
                # A computed constant is one that the session's optimizer is set to leave.
                and columns_of(node)
                and type_of(node).ordered
                and type_of(node).kind not in _NO_RANK
            ):
                found.setdefault(node)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Request:
    """Which rows to draw, and what to evaluate on them.

    About ``rows`` of the ``total_rows`` in the files at ``file_indices`` are drawn. ``atoms`` become bits and
    ``columns`` values; ``partition`` is the expression of the horizontal partitions.
    """

    file_indices: Counts
    total_rows: int
    rows: int
    atoms: tuple[Expr, ...]
    columns: tuple[Expr, ...]
    partition: Expr | None = None
    seed: int = 0


def count_rows(table: OpenTable, indices: Counts) -> int:
    """How many rows the table has in the files at these indices."""
    known = table.rows_in_log(indices)
    return _rows_of(table, indices).count() if known is None else known


def _rows_of(table: OpenTable, indices: Counts) -> DataFrame:
    return table.live(indices, table.engine.session(DRAWN))


def unevaluable_in(table: OpenTable, texts: Sequence[str]) -> dict[int, str]:
    """The indices of the texts that cannot be evaluated on some of the table's rows, and why."""
    rows = table.live(table.file_indices)
    fraction = min(1.0, _PROBED_ROWS / max(rows.count(), 1))
    return unevaluable(rows.sample(False, fraction, 0) if fraction < 1.0 else rows, texts)


def draw(table: OpenTable, request: Request) -> Drawn:
    """Draw rows; an atom is not TRUE, and a value NULL, where evaluation fails."""
    names = table.snapshot.logical_names
    atoms, columns, partition = request.atoms, request.columns, request.partition
    words = packed_bits_sql([names.sql(atom) for atom in atoms])
    wanted: list[SparkColumn] = [F.expr(word).alias(f"b{index}") for index, word in enumerate(words)]
    wanted += [_value(names.sql(expr), expr).alias(f"c{index}") for index, expr in enumerate(columns)]
    if partition is not None:
        wanted.append(_value(names.sql(partition), partition).alias("p"))
    found = _evaluated(_drawn_rows(table, request), [*wanted, F.col(_FILE)], many=bool(atoms))
    size = found.num_rows
    values = {
        expr: canonical_array(_flat(found, f"c{index}"), type_of(expr)) for index, expr in enumerate(columns)
    }
    part, part_values = _partition(found, partition)
    scale = request.total_rows / size if size else 1.0
    bits = _unpack([_flat(found, f"b{index}") for index in range(len(words))], len(atoms), size)
    files = _flat(found, _FILE).dictionary_encode()
    return Drawn(
        Sample(bits, values, scale, part, part_values, partition),
        files.indices.to_numpy(zero_copy_only=False).astype(np.int32),
        tuple(files.dictionary.to_pylist()),
    )


def _evaluated(rows: DataFrame, wanted: Sequence[SparkColumn], many: bool) -> pa.Table:
    """What is wanted of the drawn rows, which Spark keeps if these are many expressions."""
    if not many:
        return lenient(rows).select(*wanted).toArrow().combine_chunks()
    kept = rows.persist()
    try:
        return lenient(kept, WIDE).select(*wanted).toArrow().combine_chunks()
    finally:
        kept.unpersist()


def _drawn_rows(table: OpenTable, request: Request) -> DataFrame:
    """The rows, with the columns that are read of them and the file that each lies in."""
    names, partition = table.snapshot.logical_names, request.partition
    read = [*request.atoms, *request.columns, *([] if partition is None else [partition])]
    needed = dict.fromkeys(name for expr in read for name in names.top_level(expr))
    frame = _rows_of(table, request.file_indices)
    fraction = min(1.0, request.rows / max(request.total_rows, 1))
    some = frame.sample(False, fraction, request.seed) if fraction < 1.0 else frame
    file = some.metadataColumn("_metadata")["file_path"]
    drawn = some.select(*map(quoted, needed), file.alias(_FILE))
    return JoinedTables(table.engine).with_flags(drawn, names, read)


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
    for index in range(count):
        word = words[index // _WORD_BITS].to_numpy(zero_copy_only=False)
        bits[:, index] = (word >> (index % _WORD_BITS)) & 1
    return bits


def _partition(table: pa.Table, by: Expr | None) -> tuple[npt.NDArray[np.int32] | None, tuple[Value, ...]]:
    if by is None:
        return None, ()
    column = canonical_array(_flat(table, "p"), type_of(by))
    # NaN is one value, though Python's are not equal.
    found = {order_key(value): value for value in column.to_pylist() if value is not None}
    keys = sorted(found)
    indexes = {key: index for index, key in enumerate(keys)}
    numbers = np.array([indexes.get(order_key(value), len(keys)) for value in column.to_pylist()], np.int32)
    return numbers, tuple(found[key] for key in keys)


def count_vectors(
    table: OpenTable,
    indices: Counts,
    features: Sequence[str],
    partition: Expr | None,
    joined: Sequence[Expr] = (),
) -> VectorCounts:
    """The feature vectors of all rows in the files at these indices, by the SQL of the features.

    ``joined`` are those of them that need other tables.
    Of more vectors than a driver should hold, those that most rows have.
    """
    names = table.snapshot.logical_names
    rows = JoinedTables(table.engine).with_flags(_rows_of(table, indices), names, joined)
    frame = lenient(rows)
    words = [F.expr(word).alias(f"b{index}") for index, word in enumerate(packed_bits_sql(features))]
    key = [] if partition is None else [_value(names.sql(partition), partition).alias("p")]
    keys = [*[f"b{index}" for index in range(len(words))], *(["p"] if key else [])]
    counted = frame.select(*words, *key).groupBy(*keys).agg(F.count(F.lit(1)).alias("n"))
    found: pa.Table = counted.orderBy(F.desc("n")).limit(_MOST_VECTORS).toArrow().combine_chunks()
    bits = _unpack([_flat(found, f"b{index}") for index in range(len(words))], len(features), found.num_rows)
    counts = _flat(found, "n").to_numpy(zero_copy_only=False).astype(np.float64)
    parts: list[Value] = [None] * found.num_rows
    if partition is not None:
        parts = canonical_array(_flat(found, "p"), type_of(partition)).to_pylist()
    order = np.lexsort(bits.T) if len(features) else np.arange(len(counts))
    return VectorCounts(bits[order], counts[order], tuple(parts[index] for index in order))

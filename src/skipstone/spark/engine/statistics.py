"""Block statistics, by one native Spark job that reads each column of each file once.

Every file is one partition, and an aggregate without grouping keys is kept per partition (see
``SkipstoneFiles.perFile``): generated code, no hash table, no sort, no shuffle, one row per file for the
driver. Three things keep that path fast:

* Texts enter the aggregates as short copies of their first bytes, which is all that stored bounds keep.
* A column of few values gets a value set: its values are looked up in a dictionary found on a small
  sample, and their bits are OR-ed into one 64-bit word (see :mod:`~skipstone.spark.engine.dictionaries`). A
  value that the dictionary lacks makes the set of that block unknown. Texts with a complete set have
  their minimum and maximum from it; only for incomplete sets is their column read again.
* A feature that is the OR of others is not evaluated: some row of a block satisfies it if and only if some
  row satisfies one of them.

Files that were just written are verified in the same scan: it also counts and hashes their rows. A table of
many columns is hashed by a scan of its own, because so much generated code would not be compiled.

Rows behind deletion vectors are counted in, since a restored table may bring them back; evaluation
errors count as NULL, since a filter that fails on a row never returns that row.

Cost: one scan of the tracked columns; the driver sees one row per file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from skipstone.catalog.tracked import Tracked, TrackedSet
from skipstone.layout.pack import pack
from skipstone.predicate.expr import Column, Expr, Or, Value
from skipstone.predicate.partner import partners_in
from skipstone.predicate.types import Kind
from skipstone.pruning.blocks import BlockSet, Counts, Feature, Statistics
from skipstone.pruning.masks import Flags
from skipstone.spark.engine.dictionaries import Dictionary, find_dictionaries, value_sets
from skipstone.spark.engine.job_settings import PER_FILE, WIDE, Settings
from skipstone.spark.engine.joined_bits import joined_bits
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.row_hash import (
    HASH,
    MOST_HASHED,
    RowHash,
    hash_sums,
    hashed_row,
    leaves,
    total_hash,
)
from skipstone.spark.engine.session_copy import copied_session
from skipstone.spark.engine.stored_bounds import TEXT_BYTES, bounds_array

__all__ = ["Measured", "compute", "measure", "scans_of"]

_TEXT = (Kind.STRING, Kind.BINARY)
_COLUMNS_AT_ONCE = 40
# Larger words make methods so long that the JVM leaves them to its interpreter.
_FEATURES_A_WORD = 16
# A shared part of two expressions would be evaluated ahead of both, outside of what catches its errors.
_GUARDED: dict[str, str | None] = {"spark.sql.subexpressionElimination.enabled": "false"}
# Guarded expressions stay in a projection of their own: inside an aggregate, that setting has no effect.
_EXCLUDED = "spark.sql.optimizer.excludedRules"
_COLLAPSE = "org.apache.spark.sql.catalyst.optimizer.CollapseProject"
_OTHER = "other"
_NONE: Mapping[Expr, Sequence[Value]] = {}
Named = tuple[str, str]
"""The name of an aggregate and its SQL."""


def compute(
    table: OpenTable,
    chosen: Counts,
    tracked: TrackedSet,
    values: Mapping[Expr, Sequence[Value]] = _NONE,
) -> BlockSet:
    """Statistics of the files at the chosen indices, in that order.

    ``values`` are what columns of few values are known to have, for their value sets.
    """
    return _measured(_whole_job(table, chosen, tracked), tracked, values).blocks


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Statistics of files, their rows if these were hashed, and for each file what else was asked for."""

    blocks: BlockSet
    rows: RowHash | None = None
    others: tuple[str, ...] = ()


def measure(
    table: OpenTable,
    tracked: TrackedSet,
    values: Mapping[Expr, Sequence[Value]],
    other: SparkColumn | None = None,
) -> Measured:
    """Statistics of all files of a table, and its rows if one scan can do both.

    ``other`` is a further aggregate, a text.
    """
    job = _whole_job(table, table.file_indices, tracked)
    schema = table.no_rows().schema
    if leaves(schema) <= MOST_HASHED:
        job = replace(job, computed={**job.computed, HASH: hashed_row(schema)}, hashed=True)
    return _measured(replace(job, other=other), tracked, values)


def _whole_job(table: OpenTable, chosen: Counts, tracked: TrackedSet) -> _Job:
    """The job by which all that is tracked is found, but for features that are the OR of others."""
    features = _own(tracked.features)
    computes = bool(features) or any(not isinstance(item.expr, Column) for item in tracked.expressions)
    session = _session_with(table.engine.spark, PER_FILE | (_GUARDED if computes else {}))
    conditions = [features[index].text for index in _evaluated(features)]
    return _job(session, table, chosen, tracked.expressions, conditions)


def _own(features: Sequence[Feature]) -> list[Feature]:
    """The features that a row satisfies by its own columns, not by what other tables hold for it."""
    return [each for each in features if not partners_in(each.predicate)]


def _evaluated(features: Sequence[Feature]) -> list[int]:
    united = _united(features)
    return [index for index in range(len(features)) if index not in united]


def _measured(job: _Job, tracked: TrackedSet, values: Mapping[Expr, Sequence[Value]]) -> Measured:
    expressions, features = tracked.expressions, _own(tracked.features)
    through = [each for each in tracked.features if partners_in(each.predicate)]
    # Code for a limit is never found among what was compiled before, and not worth compiling for few rows.
    sampling = replace(job, session=copied_session(job.session, WIDE))
    dictionaries = find_dictionaries(
        sampling.frame(_some(job.table, job.chosen)), job.table, expressions, job.values, values
    )
    numbers: dict[str, pa.Array] = {}
    first = [("rows", "count(1)"), *_feature_words(job.conditions), *job.hash_sums]
    other = job.other
    for part in _parts(expressions):
        found = (
            _aggregates(index, expressions[index], job.values[index], dictionaries.get(index))
            for index in part
        )
        numbers |= job.run([*first, *(named for some in found for named in some)], other=other)
        first, other = [], None
    numbers |= _text_bounds(job, expressions, dictionaries, numbers)
    rows = numbers["rows"].to_numpy()
    statistics = {
        item.expr: _statistics(item, index, rows, numbers, dictionaries.get(index))
        for index, item in enumerate(expressions)
    }
    bits = _bits(numbers, _evaluated(features), _united(features), len(job.chosen))
    joined = joined_bits(job.table, job.chosen, through, tracked.joined_columns)
    unions = pack(np.hstack((bits, joined.bits)))
    known = pack(np.hstack((np.ones_like(bits), joined.known)))
    return Measured(
        BlockSet(rows, {**statistics, **joined.statistics}, (*features, *joined.features), unions, known),
        _rows_of(numbers) if job.hashed else None,
        tuple(numbers[_OTHER].to_pylist()) if job.other is not None else (),
    )


def _rows_of(numbers: Mapping[str, pa.Array]) -> RowHash:
    """The rows of all files together."""
    names = ["rows", *dict(hash_sums(HASH))]
    return total_hash({name: sum(numbers[name].to_pylist()) for name in names})


def _session_with(spark: SparkSession, settings: Settings) -> SparkSession:
    session = copied_session(spark, settings)
    excluded = session.conf.get(_EXCLUDED, None)
    session.conf.set(_EXCLUDED, f"{excluded},{_COLLAPSE}" if excluded else _COLLAPSE)
    return session


def _some(table: OpenTable, chosen: Counts) -> Counts:
    """A few files to sample, from all over the table.

    They are taken in the order of their names, which begin with the number of the task that wrote them:
    the order in which Delta lists files is that of random identifiers.
    """
    ordered = sorted(chosen.tolist(), key=lambda index: table.files.paths[index].rpartition("/")[2])
    count = min(3 + len(chosen) // 64, 8)
    indices = np.unique(np.linspace(0, len(chosen) - 1, count).astype(np.int64))
    return np.array(ordered, np.int64)[indices]


@dataclass(frozen=True, slots=True)
class _Job:
    """Aggregates over some files of a table, one row per file.

    ``values`` is the SQL of what is tracked, ``conditions`` that of the features. Both are columns of the
    frame: their own, or ones of ``computed``, in which an evaluation error is NULL. With ``hashed``,
    the frame has a column of hashes too. ``other`` is one more aggregate, which is no SQL.
    """

    session: SparkSession
    table: OpenTable
    chosen: Counts
    values: tuple[str, ...]
    conditions: tuple[str, ...]
    computed: Mapping[str, SparkColumn]
    hashed: bool = False
    other: SparkColumn | None = None

    @property
    def hash_sums(self) -> Sequence[Named]:
        return hash_sums(HASH) if self.hashed else ()

    def frame(self, chosen: Counts) -> DataFrame:
        frame = self.table.frame(chosen, self.session)
        return frame.withColumns(dict(self.computed)) if self.computed else frame

    def run(
        self,
        aggregates: Sequence[Named],
        chosen: Counts | None = None,
        other: SparkColumn | None = None,
    ) -> dict[str, pa.Array]:
        """The named aggregates for each chosen file, in the order of ``chosen``."""
        wanted = self.chosen if chosen is None else chosen
        if not aggregates or not len(wanted):
            return {}
        columns = [F.expr(sql).alias(name) for name, sql in aggregates]
        columns += [] if other is None else [other.alias(_OTHER)]
        aggregate = self.frame(wanted).select(*columns)
        rows, indices = self.table.per_file(self.session, aggregate)
        found: pa.Table = rows.toArrow().combine_chunks()
        order = np.argsort(indices, kind="stable")[
            np.argsort(np.argsort(wanted, kind="stable"), kind="stable")
        ]
        return {name: _flat(found[name]).take(pa.array(order)) for name in found.column_names}


def _job(
    session: SparkSession,
    table: OpenTable,
    chosen: Counts,
    expressions: Sequence[Tracked],
    features: Sequence[str],
) -> _Job:
    none = table.no_rows(session)
    prefix = "_skipstone"
    while any(name.lower().startswith(prefix) for name in none.columns):
        prefix += "_"
    texts: dict[str, str] = {}
    values = tuple(
        # Reading a column cannot fail; only what is computed needs a guard.
        item.sql if isinstance(item.expr, Column) else texts.setdefault(item.sql, f"{prefix}{len(texts)}")
        for item in expressions
    )
    conditions = tuple(
        texts.setdefault(f"coalesce(({feature}), false)", f"{prefix}{len(texts)}") for feature in features
    )
    computed = {name: table.guarded(F.expr(text)) for text, name in texts.items()}
    return _Job(session, table, chosen, values, conditions, computed)


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _parts(expressions: Sequence[Tracked]) -> Iterator[range]:
    for start in range(0, max(len(expressions), 1), _COLUMNS_AT_ONCE):
        yield range(start, min(start + _COLUMNS_AT_ONCE, len(expressions)))


def scans_of(expressions: Sequence[Tracked]) -> int:
    """How often every file is read, each time by a task of its own."""
    return len(list(_parts(expressions)))


def _aggregates(index: int, item: Tracked, value: str, dictionary: Dictionary | None) -> Iterator[Named]:
    yield f"count{index}", f"count({value})"
    if dictionary is not None:
        yield f"set{index}", f"bit_or({dictionary.bits(value)})"
    if item.type.kind in _TEXT:
        if dictionary is None:
            yield from _text_extremes(index, value)
        return
    if item.type.floating:
        yield f"nans{index}", f"count(if(isnan({value}), 1, NULL))"
        value = f"if(isnan({value}), NULL, {value})"
    yield f"low{index}", f"min({value})"
    yield f"high{index}", f"max({value})"


def _text_extremes(index: int, value: str) -> Iterator[Named]:
    # As bytes, for a string may be no valid UTF-8; and cut, which copies: buffers of generated
    # aggregates may hold nothing that points into a batch.
    value = f"substring(CAST({value} AS BINARY), 1, {TEXT_BYTES})"
    yield f"low{index}", f"min({value})"
    yield f"high{index}", f"max({value})"


def _text_bounds(
    job: _Job,
    expressions: Sequence[Tracked],
    dictionaries: dict[int, Dictionary],
    numbers: dict[str, pa.Array],
) -> dict[str, pa.Array]:
    """Bounds of the texts whose value sets are incomplete, by another look at just those files."""
    out: dict[str, pa.Array] = {}
    for index, dictionary in dictionaries.items():
        if expressions[index].type.kind in _TEXT:
            incomplete = np.flatnonzero(~dictionary.complete(numbers[f"set{index}"]))
            found = job.run(list(_text_extremes(index, job.values[index])), job.chosen[incomplete])
            out |= {name: _scatter(column, incomplete, len(job.chosen)) for name, column in found.items()}
    return out


def _scatter(column: pa.Array, indices: Counts, size: int) -> pa.Array:
    index = np.full(size, -1, np.int64)
    index[indices] = np.arange(len(indices))
    return column.take(pa.array(index, mask=index < 0))


def _feature_words(conditions: Sequence[str]) -> Iterator[Named]:
    for start in range(0, len(conditions), _FEATURES_A_WORD):
        some = conditions[start : start + _FEATURES_A_WORD]
        # Where evaluation fails the bit is set: a filter that implies the feature may not reach the failure.
        word = " | ".join(
            f"if(coalesce({condition}, true), {1 << bit}L, 0L)" for bit, condition in enumerate(some)
        )
        yield f"features{start // _FEATURES_A_WORD}", f"bit_or({word})"


def _united(features: Sequence[Feature]) -> dict[int, list[int]]:
    """The features that are the OR of other features, and the indices of these."""
    indices = {feature.predicate: index for index, feature in enumerate(features)}
    return {
        index: [indices[part] for part in feature.predicate.args]
        for index, feature in enumerate(features)
        if isinstance(feature.predicate, Or) and all(part in indices for part in feature.predicate.args)
    }


def _bits(
    numbers: dict[str, pa.Array], evaluated: Sequence[int], united: Mapping[int, Sequence[int]], blocks: int
) -> Flags:
    features = len(evaluated) + len(united)
    bits = np.zeros((blocks, features), np.bool_)
    for bit, index in enumerate(evaluated):
        word = numbers[f"features{bit // _FEATURES_A_WORD}"].fill_null(0).to_numpy(zero_copy_only=False)
        bits[:, index] = (word >> (bit % _FEATURES_A_WORD)) & 1
    for index, parts in united.items():
        bits[:, index] = bits[:, parts].any(axis=1)
    return bits


def _statistics(
    item: Tracked, index: int, rows: Counts, found: dict[str, pa.Array], dictionary: Dictionary | None
) -> Statistics:
    counts = found[f"count{index}"].to_numpy()
    nans = found[f"nans{index}"].to_numpy() if item.type.floating else np.zeros(len(rows), np.int64)
    values = None if dictionary is None else value_sets(dictionary, found[f"set{index}"])
    low, high = (
        bounds_array(found.get(f"{side}{index}"), item.type, side == "high", values)
        for side in ("low", "high")
    )
    return Statistics(item.type, low, high, rows - counts, nans, values)

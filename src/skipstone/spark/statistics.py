"""Block statistics, by native Spark aggregates that read each column of each file once.

Every file is one partition, and an aggregate without grouping keys is kept per partition (see
``SkipstoneFiles.perFile``): generated code, no hash table, no sort, no shuffle, one row per file for the
driver. Two things keep that path fast:

* Minimum and maximum of strings cannot live in generated aggregates, so they are computed apart from the
  numbers, for string columns only.
* A column of few values gets a value set: its values are looked up in a dictionary found on a small
  sample, and their positions are OR-ed into one 64-bit word. A value that the dictionary lacks sets the
  last bit, which makes the set of that block unknown. Strings with a complete set have their minimum and
  maximum from it.

Rows behind deletion vectors are counted in, since a restored table may bring them back; evaluation
errors count as NULL, since a filter that fails on a row never returns that row.

Cost: one scan of the kept columns; the driver sees one row per file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from skipstone.predicate.blocks import BlockSet, Counts, Feature, Statistics, Words
from skipstone.predicate.types import Kind
from skipstone.spark.dictionaries import Dictionary, find_dictionaries, value_sets
from skipstone.spark.kept import Kept
from skipstone.spark.stored_bounds import bounds_array
from skipstone.spark.table_files import TableFiles

__all__ = ["compute"]

_TEXT = (Kind.STRING, Kind.BINARY)
_COLUMNS_AT_ONCE = 40
_FEATURES_A_WORD = 62
_MIGHTY = str(1 << 42)
_SETTINGS = {
    # One partition per file, whatever its size.
    "spark.sql.files.maxPartitionBytes": _MIGHTY,
    "spark.sql.files.openCostInBytes": _MIGHTY,
    "spark.sql.sources.bucketing.enabled": "false",
    # A row left out for a broken file would be a row lost to skipping.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.maxFields": "100000",
}
Named = tuple[str, SparkColumn]


def compute(
    spark: SparkSession, files: TableFiles, chosen: Counts, kept: Sequence[Kept], features: Sequence[Feature]
) -> BlockSet:
    """Statistics of the files at the chosen places, in that order."""
    job = _Job(_session_for_statistics(spark), files, chosen)
    dictionaries = find_dictionaries(job.session, files, chosen, kept)
    numbers: dict[str, pa.Array] = {}
    for part in _parts(kept):
        numbers |= job.run(
            [named for place in part for named in _numbers(job, place, kept[place], dictionaries.get(place))]
        )
    numbers |= job.run([("rows", F.count(F.lit(1))), *_feature_words(job, features)])
    texts = _text_bounds(job, kept, dictionaries, numbers)
    rows = numbers["rows"].to_numpy()
    statistics = {
        item.expr: _statistics(item, place, rows, numbers | texts, dictionaries.get(place))
        for place, item in enumerate(kept)
    }
    unions, known = _unions(numbers, len(features), len(chosen))
    return BlockSet(rows, statistics, tuple(features), unions, known)


def _session_for_statistics(spark: SparkSession) -> SparkSession:
    session = SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())
    for key, value in _SETTINGS.items():
        session.conf.set(key, value)
    return session


@dataclass(frozen=True, slots=True)
class _Job:
    """Aggregates over some files of a table, one row per file."""

    session: SparkSession
    files: TableFiles
    chosen: Counts

    def column(self, sql: str) -> SparkColumn:
        return SparkColumn(self.files.opener.guarded(F.expr(sql)._jc))

    def run(self, aggregates: Sequence[Named], chosen: Counts | None = None) -> dict[str, pa.Array]:
        """The named aggregates for each chosen file, in the order of ``chosen``."""
        wanted = self.chosen if chosen is None else chosen
        if not aggregates or not len(wanted):
            return {}
        frame = self.files.frame(self.session, wanted)
        columns = [column.alias(name) for name, column in aggregates]
        rows, places = self.files.per_file(self.session, frame.agg(*columns))
        table: pa.Table = rows.toArrow().combine_chunks()
        order = np.argsort(places, kind="stable")[
            np.argsort(np.argsort(wanted, kind="stable"), kind="stable")
        ]
        return {name: _flat(table[name]).take(pa.array(order)) for name in table.column_names}


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _parts(kept: Sequence[Kept]) -> Iterator[range]:
    for start in range(0, len(kept), _COLUMNS_AT_ONCE):
        yield range(start, min(start + _COLUMNS_AT_ONCE, len(kept)))


def _numbers(job: _Job, place: int, item: Kept, dictionary: Dictionary | None) -> Iterator[Named]:
    value = job.column(item.sql)
    yield f"count{place}", F.count(value)
    if item.type.floating:
        yield f"nans{place}", F.count(F.when(F.isnan(value), F.lit(1)))
        value = F.when(~F.isnan(value), value)
    if item.type.kind not in _TEXT:
        yield f"low{place}", F.min(value)
        yield f"high{place}", F.max(value)
    if dictionary is not None:
        yield f"set{place}", F.bit_or(dictionary.position_bit(value))


def _text_bounds(
    job: _Job, kept: Sequence[Kept], dictionaries: dict[int, Dictionary], numbers: dict[str, pa.Array]
) -> dict[str, pa.Array]:
    """Bounds of the texts whose value sets do not give them, by a scan of just those columns."""
    plain = [p for p, item in enumerate(kept) if item.type.kind in _TEXT and p not in dictionaries]
    out = job.run([named for place in plain for named in _text_extremes(job, place, kept[place])])
    for place, dictionary in dictionaries.items():
        if kept[place].type.kind in _TEXT:
            incomplete = np.flatnonzero(~dictionary.complete(numbers[f"set{place}"]))
            if len(incomplete):
                found = job.run(list(_text_extremes(job, place, kept[place])), job.chosen[incomplete])
                out |= {name: _scatter(column, incomplete, len(job.chosen)) for name, column in found.items()}
    return out


def _text_extremes(job: _Job, place: int, item: Kept) -> Iterator[Named]:
    value = job.column(item.sql)
    # As bytes, for a string column may hold what is no valid UTF-8.
    yield f"low{place}", F.min(value).cast("binary")
    yield f"high{place}", F.max(value).cast("binary")


def _scatter(column: pa.Array, places: Counts, size: int) -> pa.Array:
    index = np.full(size, -1, np.int64)
    index[places] = np.arange(len(places))
    return column.take(pa.array(index, mask=index < 0))


def _feature_words(job: _Job, features: Sequence[Feature]) -> Iterator[Named]:
    for start in range(0, len(features), _FEATURES_A_WORD):
        word = F.lit(0).cast("bigint")
        for bit, feature in enumerate(features[start : start + _FEATURES_A_WORD]):
            # Where evaluation fails the bit is set: a filter that implies the feature may not get that far.
            holds = F.coalesce(job.column(f"coalesce(({feature.text}), false)"), F.lit(True))
            word = word.bitwiseOR(
                F.when(holds, F.lit(1 << bit).cast("bigint")).otherwise(F.lit(0).cast("bigint"))
            )
        yield f"features{start // _FEATURES_A_WORD}", F.bit_or(word)


def _unions(numbers: dict[str, pa.Array], features: int, blocks: int) -> tuple[Words, Words]:
    width = (features + 63) // 64
    bits = np.zeros((blocks, width * 64), np.bool_)
    for bit in range(features):
        word = numbers[f"features{bit // _FEATURES_A_WORD}"].fill_null(0).to_numpy(zero_copy_only=False)
        bits[:, bit] = (word >> (bit % _FEATURES_A_WORD)) & 1
    known = np.zeros_like(bits)
    known[:, :features] = True
    return _pack(bits), _pack(known)


def _pack(bits: np.ndarray) -> Words:
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64).reshape(len(bits), -1)


def _statistics(
    item: Kept, place: int, rows: Counts, found: dict[str, pa.Array], dictionary: Dictionary | None
) -> Statistics:
    counts = found[f"count{place}"].to_numpy()
    nans = found[f"nans{place}"].to_numpy() if item.type.floating else np.zeros(len(rows), np.int64)
    values = None if dictionary is None else value_sets(dictionary, found[f"set{place}"])
    low, high = (
        bounds_array(found.get(f"{side}{place}"), item.type, side == "high", values)
        for side in ("low", "high")
    )
    return Statistics(item.type, low, high, rows - counts, nans, values)

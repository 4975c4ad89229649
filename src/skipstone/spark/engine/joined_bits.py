"""What files hold through joins: bits of join-induced features, and value sets of joined columns.

Both are columns of each row after the joins (:mod:`~skipstone.spark.engine.partners`); here they are OR-ed
file by file. Nothing depends on how Spark joins, for rows are grouped by the file that they come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from skipstone.catalog.column_names import quoted
from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import Expr, type_of
from skipstone.predicate.partner import unbound
from skipstone.pruning.blocks import Counts, Feature, Statistics, ValueSets, Words
from skipstone.pruning.masks import Flags
from skipstone.spark.engine.column_ranges import ColumnRanges, word_names
from skipstone.spark.engine.job_settings import DRAWN, WIDE
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.partners import WORD_BITS, JoinedTables, packed_bits_sql
from skipstone.spark.engine.stored_bounds import arrow_type

__all__ = ["JoinedFound", "joined_bits"]

_FILE = "__skipstone_file"


@dataclass(frozen=True, slots=True, eq=False)
class JoinedFound:
    """The features about the joined tables as they are now, which files have each, and if that is known.

    ``statistics`` are those of the joined columns.
    """

    features: tuple[Feature, ...]
    bits: Flags
    known: Flags
    statistics: Mapping[Expr, Statistics]


def joined_bits(
    table: OpenTable, chosen: Counts, features: Sequence[Feature], columns: Sequence[Expr] = ()
) -> JoinedFound:
    """What files hold through joins: bits of features, and value sets of joined columns.

    Rows behind deletion vectors are counted in, as for all statistics.
    """
    if not (features or columns) or not len(chosen):
        none = np.zeros((len(chosen), 0), np.bool_)
        return JoinedFound((), none, none, {})
    joined = JoinedTables(table.engine)
    ranges = joined.ranges(columns)
    if not features and not ranges:
        none = np.zeros((len(chosen), 0), np.bool_)
        unsure = np.zeros(len(chosen), np.bool_)
        empty = {joined.column_bound(each): _statistics(each, None, {}, unsure) for each in columns}
        return JoinedFound((), none, none, empty)
    for feature in features:
        for why in joined.problems([feature.predicate]).values():
            raise SkipstoneError(f"The feature {feature.text} cannot be kept: {why}.")
    wanted = [unbound(feature.predicate) for feature in features]
    names = table.snapshot.logical_names
    session = table.engine.session({**DRAWN, **WIDE, "spark.skipstone.enabled": "false"})
    frame = table.frame(chosen, session)
    needed = dict.fromkeys(name for expr in (*wanted, *ranges) for name in names.top_level(expr))
    file = frame.metadataColumn("_metadata")["file_path"].alias(_FILE)
    rows = joined.with_flags(frame.select(*map(quoted, needed), file), names, wanted, ranges)
    flags = packed_bits_sql([names.sql(expr) for expr in wanted])
    values = [name for column, known in ranges.items() for name in word_names(column, known)]
    words = [*(f"w{index}" for index in range(len(flags))), *values]
    found: pa.Table = (
        rows.select(_FILE, *(F.expr(text).alias(f"w{i}") for i, text in enumerate(flags)), *values)
        .groupBy(_FILE)
        .agg(*(F.bit_or(word).alias(word) for word in words))
        .toArrow()
    )
    held, sure = _by_file(table, chosen, found, words)
    bits = [
        (held[f"w{index // WORD_BITS}"] >> np.uint64(index % WORD_BITS)) & np.uint64(1)
        for index in range(len(features))
    ]
    now = tuple(
        Feature(joined.bound(expr), feature.text) for expr, feature in zip(wanted, features, strict=True)
    )
    return JoinedFound(
        now,
        np.array(bits, np.bool_).reshape(len(features), len(chosen)).T,
        np.repeat(sure[:, None], len(features), axis=1),
        {joined.column_bound(each): _statistics(each, ranges.get(each), held, sure) for each in columns},
    )


def _statistics(
    column: Expr, ranges: ColumnRanges | None, held: Mapping[str, Words], known: Flags
) -> Statistics:
    """The value sets of a joined column; nothing is known of one without ranges."""
    type_, size = type_of(column), len(known)
    none, nulls = pa.nulls(size, arrow_type(type_)), np.full(size, -1, np.int64)
    sets = None
    if ranges is not None:
        words: Words = np.stack([held[name] for name in word_names(column, ranges)], axis=1)
        count = len(ranges.first)
        null = (words[:, count // 64] >> np.uint64(count % 64)) & np.uint64(1)
        nulls = np.where(known & (null == 0), 0, -1)
        last = None if ranges.last == ranges.first else ranges.last
        sets = ValueSets(ranges.first, words[:, : (count + 63) // 64], known, last)
    return Statistics(type_, none, none, nulls, np.zeros(size, np.int64), sets)


def _by_file(
    table: OpenTable, chosen: Counts, found: pa.Table, names: Sequence[str]
) -> tuple[dict[str, Words], Flags]:
    """The words in the order of the files; of a file that is not found for sure none is known."""
    places: dict[str, list[int]] = {}
    for place, index in enumerate(chosen.tolist()):
        places.setdefault(_plain(table.snapshot.locations[index]), []).append(place)
    held = {name: np.zeros(len(chosen), np.uint64) for name in names}
    times = np.zeros(len(chosen), np.int64)
    words = {
        name: _flat(found, name).fill_null(0).to_numpy(zero_copy_only=False).view(np.uint64) for name in names
    }
    for row, path in enumerate(found[_FILE].to_pylist()):
        for place in places.get(_plain(path), ()):
            times[place] += 1
            for name in names:
                held[name][place] |= words[name][row]
    alone = np.array([len(places[_plain(table.snapshot.locations[index])]) == 1 for index in chosen.tolist()])
    return held, (times == 1) & alone


def _flat(table: pa.Table, name: str) -> pa.Array:
    column = table[name].combine_chunks()
    return column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)


def _plain(path: str) -> str:
    """A path whatever way it is written in."""
    plain = unquote(path)
    return "/" + plain.removeprefix("file:").lstrip("/") if plain.startswith("file:") else plain

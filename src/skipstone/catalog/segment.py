"""One stored piece of the block catalog: some files, what is known about them, and how it was found.

A segment is immutable. On disk it is a Parquet file with one row per block and a JSON header in its
metadata; ``docs/catalog-format.md`` describes it. Segments of one table may keep different statistics
and features: what a segment does not have is unknown for its blocks.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from skipstone.catalog.files import Files
from skipstone.errors import SkipstoneError
from skipstone.json_types import JsonObject, json_int, json_list, json_object, json_text
from skipstone.predicate.codec import from_json, to_json, value_from_json, value_to_json
from skipstone.predicate.expr import Expr, Opaque, Value
from skipstone.predicate.joined_column import joined_column_of, text_of
from skipstone.predicate.types import Type
from skipstone.pruning.blocks import BlockSet, Counts, Feature, Statistics, ValueSets, Words

__all__ = ["FORMAT", "Segment", "decode", "encode"]

LOG = logging.getLogger("skipstone")
FORMAT = 3
_WITHOUT_RANGES = 2
_HEADER = b"skipstone"


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Blocks with the reader settings under which their statistics were computed.

    ``texts`` is the SQL that computes the tracked expressions that are no plain columns. ``layout`` is
    the id of the layout that placed the rows, and ``group`` the number of the column group of it that the
    files hold; None if they hold all columns.
    """

    files: Files
    blocks: BlockSet
    settings: Mapping[str, str]
    created: str
    texts: Mapping[Expr, str] = field(default_factory=dict)
    layout: str = ""
    group: int | None = None

    @property
    def joined_columns(self) -> tuple[Expr, ...]:
        """The columns of joined tables that are tracked."""
        return tuple(expr for expr in self.blocks.statistics if joined_column_of(expr) is not None)

    @property
    def expression_texts(self) -> tuple[str, ...]:
        """The SQL of the tracked expressions of the table's own columns."""
        return tuple(text for expr, text in self.texts.items() if joined_column_of(expr) is None)


def encode(segment: Segment) -> bytes:
    """The segment as the bytes of a Parquet file."""
    columns: dict[str, pa.Array] = {
        "path": pa.array(segment.files.paths, pa.string()),
        "size": pa.array(segment.files.sizes),
        "modified": pa.array(segment.files.times),
        "rows": pa.array(segment.blocks.rows),
    }
    described = []
    for index, (expr, statistics) in enumerate(segment.blocks.statistics.items()):
        text = text_of(expr) if joined_column_of(expr) is not None else segment.texts.get(expr)
        described.append(_describe(expr, statistics, text))
        columns.update(_columns(f"c{index}", statistics))
    columns.update(_words("union", segment.blocks.unions))
    columns.update(_words("known", segment.blocks.union_known))
    ranges = any(each["last"] is not None for each in described)
    header = {
        "format": FORMAT if ranges else _WITHOUT_RANGES,
        "created": segment.created,
        "layout": segment.layout,
        "group": segment.group,
        "settings": dict(segment.settings),
        "statistics": described,
        "features": [{"sql": f.text, "expr": to_json(f.predicate)} for f in segment.blocks.features],
    }
    table = pa.table(columns).replace_schema_metadata({_HEADER: json.dumps(header).encode()})
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


def decode(data: bytes, name: str = "the catalog") -> Segment:
    """Read a segment; a damaged or newer one is a :class:`SkipstoneError`."""
    try:
        table = pq.read_table(io.BytesIO(data))
        header = json.loads(table.schema.metadata[_HEADER])
        if header["format"] > FORMAT:
            raise SkipstoneError(
                f"{name} was written by a newer skipstone (format {header['format']}, this one reads up to "
                f"{FORMAT}); upgrade skipstone, or delete it and index again."
            )
        return _segment(table.combine_chunks(), header)
    except SkipstoneError:
        raise
    except Exception as problem:
        reason = " ".join(str(problem).split())
        raise SkipstoneError(f"{name} is damaged ({reason}); delete it and index again.") from problem


def _describe(expr: Expr, statistics: Statistics, sql: str | None) -> dict[str, object]:
    values = statistics.values
    dictionary = last = None
    if values is not None:
        dictionary = [value_to_json(value, statistics.type) for value in values.dictionary]
        if values.last is not None:
            last = [value_to_json(value, statistics.type) for value in values.last]
    type_ = statistics.type.text
    return {"expr": to_json(expr), "sql": sql, "type": type_, "dictionary": dictionary, "last": last}


def _columns(prefix: str, statistics: Statistics) -> Iterator[tuple[str, pa.Array]]:
    yield f"{prefix}.low", statistics.low
    yield f"{prefix}.high", statistics.high
    yield f"{prefix}.nulls", pa.array(statistics.nulls)
    yield f"{prefix}.nans", pa.array(statistics.nans)
    if statistics.values is not None:
        yield f"{prefix}.known", pa.array(statistics.values.known)
        yield from _words(f"{prefix}.set", statistics.values.words)


def _words(prefix: str, words: Words) -> Iterator[tuple[str, pa.Array]]:
    for index in range(words.shape[1]):
        yield f"{prefix}{index}", pa.array(np.ascontiguousarray(words[:, index]).view(np.int64))


def _segment(table: pa.Table, header: JsonObject) -> Segment:
    count = table.num_rows
    files = Files(tuple(table["path"].to_pylist()), _counts(table, "size"), _counts(table, "modified"))
    if len(set(files.paths)) != count:
        raise ValueError("a path occurs twice")
    described = [json_object(each) for each in json_list(header["statistics"])]
    read = [(_read_expr(each), each) for each in described]
    statistics: dict[Expr, Statistics] = {
        expr: _read_statistics(table, f"c{index}", each)
        for index, (expr, each) in enumerate(read)
        if not isinstance(expr, Opaque)
    }
    bits = [json_object(each) for each in json_list(header["features"])]
    features = tuple(Feature(_read_expr(each), json_text(each["sql"])) for each in bits)
    words = (len(features) + 63) // 64
    blocks = BlockSet(
        rows=_counts(table, "rows"),
        statistics=statistics,
        features=features,
        unions=_read_words(table, "union", words),
        union_known=_read_words(table, "known", words),
    )
    texts = {
        expr: json_text(each["sql"]) for expr, each in read if each["sql"] is not None and expr in statistics
    }
    group = header.get("group")  # format 1 has none
    if group is not None and json_int(group) < 0:
        raise ValueError(f"{group!r} is no column group")
    settings = {key: json_text(text) for key, text in json_object(header["settings"]).items()}
    return Segment(
        files,
        blocks,
        settings,
        json_text(header["created"]),
        texts,
        json_text(header["layout"]),
        None if group is None else json_int(group),
    )


def _read_statistics(table: pa.Table, prefix: str, described: JsonObject) -> Statistics:
    type_ = Type.parse(json_text(described["type"]))
    values = None
    if described["dictionary"] is not None:
        dictionary = tuple(value_from_json(value, type_) for value in json_list(described["dictionary"]))
        words = _read_words(table, f"{prefix}.set", (len(dictionary) + 63) // 64)
        known = table[f"{prefix}.known"].to_numpy(zero_copy_only=False).astype(np.bool_)
        values = ValueSets(dictionary, words, known, _last(described.get("last"), type_, len(dictionary)))
    return Statistics(
        type=type_,
        low=_array(table, f"{prefix}.low"),
        high=_array(table, f"{prefix}.high"),
        nulls=_counts(table, f"{prefix}.nulls"),
        nans=_counts(table, f"{prefix}.nans"),
        values=values,
    )


def _last(described: object, type_: Type, size: int) -> tuple[Value, ...] | None:
    """The ends of ranges, which formats 1 and 2 have none of."""
    if described is None:
        return None
    found = tuple(value_from_json(value, type_) for value in json_list(described))
    if len(found) != size:
        raise ValueError("not every range has an end")
    return found


def _array(table: pa.Table, name: str) -> pa.Array:
    combined = table[name].combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)


def _read_expr(described: JsonObject) -> Expr:
    """The expression; one that cannot be read is opaque, so that nothing is concluded from it.

    The bit of such a feature keeps its index, and everything else can still be used.
    """
    try:
        return from_json(described["expr"])
    except ValueError as problem:
        text = json_text(described["sql"] or str(problem))
        LOG.warning("A catalog holds something that cannot be read and is left out: %s.", text)
        return Opaque(text, "UNREADABLE")


def _counts(table: pa.Table, name: str) -> Counts:
    values: Counts = table[name].to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return values


def _read_words(table: pa.Table, prefix: str, words: int) -> Words:
    out: Words = np.zeros((table.num_rows, words), np.uint64)
    for index in range(words):
        out[:, index] = _counts(table, f"{prefix}{index}").view(np.uint64)
    return out

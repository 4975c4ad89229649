"""The blocks of a table as columns of numbers, for a map with one cell a block.

All of it is vectorised, for tables of 100,000 blocks. Bounds are shown to people as text or numbers; a map is
coloured by where they lie, from 0 to 1, between the least and the greatest of all blocks: by value for what
has a distance, by rank for texts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skipstone.predicate.expr import Column, Expr, Literal, Value
from skipstone.predicate.joined_column import joined_column_of
from skipstone.predicate.literals import plain_sql
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import Kind, Type
from skipstone.pruning.blocks import BlockSet, Counts, Statistics, Words
from skipstone.server.problems import MissingError
from skipstone.server.seen import Seen

__all__ = ["block_columns", "block_details", "block_map", "layouts_of"]

Floats = npt.NDArray[np.float64]
_PLAIN = (Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE)
_LONGEST = 200


def block_columns(seen: Seen) -> list[dict[str, object]]:
    """The columns and expressions that blocks have statistics of; joined columns have no bounds to show."""
    statistics = seen.catalog.blocks.statistics
    return [
        {"sql": to_sql(key), "type": it.type.text, "column": isinstance(key, Column)}
        for key, it in statistics.items()
        if joined_column_of(key) is None
    ]


def layouts_of(seen: Seen) -> tuple[list[str], Counts]:
    """The layouts that files lie by, and the index of each file's in them, -1 for none."""
    names: dict[str, int] = {}
    indices = [
        names.setdefault(segment.layout, len(names)) if segment.layout else -1
        for segment in seen.catalog.segments
    ]
    of_segment = np.array([*indices, -1], np.int64)
    segments = np.append(seen.catalog.segment_of, len(indices)).astype(np.int64)
    return list(names), of_segment[segments[seen.entries]]


def block_map(seen: Seen, column: str | None, feature: int | None, paths: bool) -> dict[str, object]:
    """What is known of each block, a list for each thing."""
    indexed = seen.entries >= 0
    layouts, layout = layouts_of(seen)
    rows = np.append(seen.catalog.blocks.rows, -1)[seen.entries]
    reads = None
    if seen.times is not None:
        reads = {"queries": seen.asked, "times": np.round(seen.times, 3).tolist()}
    found: dict[str, object] = {
        "version": seen.version,
        "blocks": len(seen),
        "rows": rows.tolist(),
        "bytes": seen.files.sizes.tolist(),
        "indexed": indexed.astype(np.int8).tolist(),
        "layout": layout.tolist(),
        "layouts": layouts,
        "reads": reads,
    }
    if column is not None:
        found["column"] = _column(seen, column, rows)
    if feature is not None:
        found["feature"] = _feature(seen, feature)
    if paths:
        found["paths"] = list(seen.files.paths)
    return found


def _statistics(seen: Seen, wanted: str) -> tuple[Expr, Statistics]:
    for key, statistics in seen.catalog.blocks.statistics.items():
        if to_sql(key) == wanted:
            return key, statistics
    raise MissingError(f"Blocks have no statistics of {wanted[:_LONGEST]}.")


def _column(seen: Seen, wanted: str, rows: Counts) -> dict[str, object]:
    _, statistics = _statistics(seen, wanted)
    places = pa.array(np.where(seen.entries >= 0, seen.entries, 0), mask=seen.entries < 0)
    low, high = (bound.take(places) for bound in (statistics.low, statistics.high))
    low_at, high_at = _positions(low, high)
    nulls = np.append(statistics.nulls, -1)[seen.entries]
    share: Floats = np.where((nulls >= 0) & (rows > 0), nulls / np.maximum(rows, 1), np.nan).astype(
        np.float64
    )
    return {
        "sql": wanted,
        "type": statistics.type.text,
        "low": shown_values(low, statistics.type),
        "high": shown_values(high, statistics.type),
        "low_at": _or_null(low_at),
        "high_at": _or_null(high_at),
        "nulls": _or_null(np.round(share, 4)),
    }


def _positions(low: pa.Array, high: pa.Array) -> tuple[Floats, Floats]:
    """Where bounds lie between the least and the greatest of all, from 0 to 1; NaN where unknown."""
    if pa.types.is_string(low.type) or pa.types.is_binary(low.type) or pa.types.is_large_string(low.type):
        both = pa.concat_arrays([low, high])
        distinct = pc.drop_null(pc.unique(both))
        ordered = distinct.take(pc.array_sort_indices(distinct))
        found = pc.index_in(both, ordered).to_numpy(zero_copy_only=False).astype(np.float64)
    else:
        both = pa.concat_arrays([low, high])
        plain = both.cast(pa.int8()) if pa.types.is_boolean(both.type) else both
        found = plain.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)
    finite = found[np.isfinite(found)]
    least, greatest = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    scaled = (
        (found - least) / (greatest - least) if greatest > least else np.where(np.isfinite(found), 0.0, found)
    )
    scaled = np.round(np.clip(scaled, 0.0, 1.0), 5)
    return scaled[: len(low)], scaled[len(low) :]


def _or_null(values: Floats) -> list[float | None]:
    found: list[float | None] = values.tolist()
    if np.isfinite(values).all():
        return found
    return [None if value is None or not math.isfinite(value) else value for value in found]


def shown_values(values: pa.Array, type_: Type) -> list[object]:
    """Stored values for people: numbers as they are, all else as text; None where there is none."""
    plain: list[Value] = values.to_pylist()
    if type_.kind is Kind.BOOLEAN:
        return list(plain)
    if type_.kind in _PLAIN:
        return [
            value if not isinstance(value, float) or math.isfinite(value) else str(value) for value in plain
        ]
    shown: dict[Value, object] = {}
    for value in plain:
        if value is not None and value not in shown:
            shown[value] = _shown(value, type_)
    return [None if value is None else shown[value] for value in plain]


def _shown(value: Value, type_: Type) -> str:
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, Decimal):
        return f"{value:f}"
    text = plain_sql(Literal(value, type_))
    quoted = text.split("'")
    return quoted[1][:_LONGEST] if len(quoted) == 3 else text[:_LONGEST]  # noqa: PLR2004 - before, in and after quotes


def _shown_range(first: Value, last: Value, type_: Type) -> str | None:
    """A value, or a range of them."""
    if first is None:
        return None
    return (
        _shown(first, type_)
        if first is last or first == last
        else f"{_shown(first, type_)} to {_shown(last, type_)}"
    )


def _feature(seen: Seen, index: int) -> dict[str, object]:
    blocks = seen.catalog.blocks
    if not 0 <= index < len(blocks.features):
        raise MissingError(f"There is no feature {index}; blocks have {len(blocks.features)}.")
    bit = np.where(_bits(blocks.union_known, index), _bits(blocks.unions, index), -1)
    return {
        "index": index,
        "sql": blocks.features[index].text,
        "bit": np.append(bit, -1)[seen.entries].astype(np.int8).tolist(),
    }


def _bits(words: Words, index: int) -> Counts:
    found: Counts = ((words[:, index // 64] >> np.uint64(index % 64)) & np.uint64(1)).astype(np.int64)
    return found


def block_details(seen: Seen, index: int) -> dict[str, object]:
    """All that is known of one block."""
    if not 0 <= index < len(seen):
        raise MissingError(f"There is no block {index}; the table has {len(seen):,}.")
    entry = int(seen.entries[index])
    layouts, layout = layouts_of(seen)
    lies_by = int(layout[index])
    blocks = seen.catalog.blocks
    found: dict[str, object] = {
        "index": index,
        "path": seen.files.paths[index],
        "bytes": int(seen.files.sizes[index]),
        "rows": int(blocks.rows[entry]) if entry >= 0 else -1,
        "indexed": entry >= 0,
        "layout": layouts[lies_by] if lies_by >= 0 else None,
        "times": None if seen.times is None else float(seen.times[index]),
        "columns": [],
        "features": [],
    }
    if entry < 0:
        return found
    found["columns"] = [_of_block(blocks, key, entry) for key in blocks.statistics]
    found["features"] = [
        {"sql": feature.text, "bit": int(_bits(blocks.unions, number)[entry])}
        if _bits(blocks.union_known, number)[entry]
        else {"sql": feature.text, "bit": -1}
        for number, feature in enumerate(blocks.features)
    ]
    return found


def _of_block(blocks: BlockSet, key: Expr, entry: int) -> dict[str, object]:
    statistics = blocks.statistics[key]
    low, high = (bound.slice(entry, 1) for bound in (statistics.low, statistics.high))
    values: Sequence[object] | None = None
    sets = statistics.values
    if sets is not None and sets.known[entry]:
        words = sets.words[entry]
        values = [
            _shown_range(value, value if sets.last is None else sets.last[number], statistics.type)
            for number, value in enumerate(sets.dictionary)
            if (int(words[number // 64]) >> (number % 64)) & 1
        ]
    nulls, rows = int(statistics.nulls[entry]), int(blocks.rows[entry])
    return {
        "sql": to_sql(key),
        "type": statistics.type.text,
        "low": shown_values(low, statistics.type)[0],
        "high": shown_values(high, statistics.type)[0],
        "nulls": round(nulls / rows, 4) if nulls >= 0 and rows > 0 else None,
        "values": values,
    }

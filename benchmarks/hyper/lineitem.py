"""TPC-H's lineitem with its 16 attributes, and ranges of about 5 % of the rows of each.

Queries are those of section 6.2.2 of the hyper-partitioning thesis: ``start < attribute <= end`` with a
selectivity as close to 5 % as its values allow. One range would tell as much about where it lies as about the
layout (in the middle, at the median, it meets both sides of most cuts), so there are twenty of each attribute
at random places; of an attribute with few values, each value that is met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.tpchgen import run_tpchgen
from skipstone.layout.ranks import Ranked, rank
from skipstone.layout.sample import Sample
from skipstone.predicate.expr import And, Column, Comparison, Expr, Literal
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import DATE, INT, LONG, STRING, Type

__all__ = ["NAME", "Range", "lineitem_file", "one_of_each", "ranges_of", "read_rows", "sampled"]

NAME = "lineitem"
SELECTIVITY = 0.05
_PLACES = 20


@dataclass(frozen=True, slots=True)
class Range:
    """One query: its attribute, its filter and what it is called in SQL."""

    attribute: str
    filter: Expr

    @property
    def sql(self) -> str:
        """The query; a sum is computed so that Spark reads a value of each row."""
        return f"SELECT count(*), sum(l_extendedprice) FROM {NAME} WHERE {to_sql(self.filter)}"


def lineitem_file(scale_factor: float, directory: Path) -> Path:
    """The generated table as one Parquet file; nothing is done when it is there."""
    target = directory / f"{NAME}.parquet"
    if not target.exists():
        unfinished = directory / "unfinished"
        unfinished.mkdir(parents=True, exist_ok=True)
        run_tpchgen(scale_factor, unfinished, "--tables", NAME)
        (unfinished / target.name).rename(target)
    return target


def read_rows(path: Path) -> dict[Expr, pa.Array]:
    """All rows, in the Arrow types of block statistics."""
    found = pq.read_table(path)
    return dict(_column(field.name, found[field.name]) for field in found.schema)


def _column(name: str, chunks: pa.ChunkedArray) -> tuple[Expr, pa.Array]:
    kind = chunks.type
    if pa.types.is_date(kind):
        type_, values = DATE, chunks.cast(pa.int32()).cast(pa.int64())
    elif pa.types.is_decimal(kind):
        type_ = Type.parse(f"decimal({kind.precision},{kind.scale})")
        values = chunks.cast(pa.decimal128(38, kind.scale))
    elif pa.types.is_integer(kind):
        type_, values = (LONG if pa.types.is_int64(kind) else INT), chunks.cast(pa.int64())
    else:
        type_, values = STRING, chunks.cast(pa.string())
    combined = values.combine_chunks()
    return Column((name,), type_), combined if isinstance(combined, pa.Array) else pa.concat_arrays(
        combined.chunks
    )


def sampled(rows: dict[Expr, pa.Array], count: int, seed: int = 0) -> Sample:
    """Some rows, drawn without replacement."""
    total = len(next(iter(rows.values())))
    chosen = np.sort(np.random.default_rng(seed).permutation(total)[:count])
    columns = {key: values.take(pa.array(chosen)) for key, values in rows.items()}
    return Sample(np.zeros((len(chosen), 0), np.bool_), columns, total / len(chosen))


def ranges_of(sample: Sample) -> tuple[Range, ...]:
    """Up to twenty ranges of each attribute, all different."""
    places = np.random.default_rng(0).uniform(0.0, 1.0 - SELECTIVITY, (len(sample.columns), _PLACES))
    found: dict[Range, None] = {}
    for (expr, values), mine in zip(sample.columns.items(), places.tolist(), strict=True):
        assert isinstance(expr, Column)
        ranked = rank(values)
        for place in mine:
            found[Range(expr.path[0], _range(expr, ranked, place))] = None
    return tuple(found)


def one_of_each(ranges: Sequence[Range]) -> tuple[Range, ...]:
    """The first range of each attribute."""
    return tuple({each.attribute: each for each in reversed(ranges)}.values())[::-1]


def _range(column: Column, ranked: Ranked, place: float) -> Expr:
    ordered = np.sort(ranked.codes)
    last = int(ordered[int((place + SELECTIVITY) * len(ordered))])
    first = min(int(ordered[int(place * len(ordered))]), last - 1)

    def bound(op: str, code: int) -> Expr:
        return Comparison(op, column, Literal(ranked.array[code].as_py(), column.type))

    return normalize_filter(bound("<=", last) if first < 0 else And((bound(">", first), bound("<=", last))))

"""TPC-H's lineitem with its 16 attributes, and ranges of about 5 % of the rows of each.

Queries are those of section 6.2.2 of the hyper-partitioning thesis, ``start < attribute <= end``: "We chose
the start and end values such that the selectivity of each query would be as close as possible to 5%. In most
cases, the selectivity was equal to 5%, but where the attribute had a low cardinality and the minimum possible
selectivity was therefore higher than 5%, the selectivity was chosen to be as low as possible."

The thesis does not say where a range lies when many are as close. One of them would tell as much about its
place as about the layout: at the median it meets both sides of most cuts, at an end of the domain only one.
So the figure of an attribute is what such a range scans on average over its places. Of all ranges whose
selectivity is within half a percent of the closest one, twenty are drawn at random, places with many rows as
often as they have rows, or all are taken if there are fewer. For lineitem that is

* a range of 5 % anywhere, where an attribute has many values;
* any two or three of the 50 quantities;
* any one value of discount, tax, shipinstruct, shipmode and linestatus, which have about as many rows each;
* A or R of returnflag (25 %), not N (51 %), and 7 of linenumber (4 %), for other values are further from 5 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.tpchgen import run_tpchgen
from skipstone.layout.ranks import Ranked, rank
from skipstone.layout.sample import Sample
from skipstone.predicate.expr import And, Column, Comparison, Expr, Literal
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import DATE, INT, LONG, STRING, Type

__all__ = [
    "MANY_PLACES",
    "NAME",
    "Range",
    "lineitem_file",
    "one_of_each",
    "ranges_of",
    "read_rows",
    "sampled",
]

NAME = "lineitem"
SELECTIVITY = 0.05
_PLACES = 20
MANY_PLACES = 1_000
"""So many tell what twenty leave to chance: of an attribute of few values they are all that there are."""
_AS_CLOSE = 0.005
"""By so much the selectivity of a range may be further from 5 % than that of the closest one."""


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


def ranges_of(sample: Sample, places: int = _PLACES) -> tuple[Range, ...]:
    """Up to twenty ranges of each attribute, or as many as are asked for; all different."""
    rng = np.random.default_rng(0)
    found: list[Range] = []
    for expr, values in sample.columns.items():
        assert isinstance(expr, Column)
        ranked = rank(values)
        counts = np.bincount(ranked.codes, minlength=len(ranked.array))
        starts, ends = _closest(counts)
        weights = counts[starts] / counts[starts].sum()
        chosen = rng.choice(len(starts), min(places, len(starts)), replace=False, p=weights)
        found += [
            Range(expr.path[0], _range(expr, ranked, int(starts[each]) - 1, int(ends[each])))
            for each in chosen
        ]
    return tuple(found)


def _closest(counts: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The first and last value of every range that is about as close to 5 % as any.

    >>> first, last = _closest(np.array([25, 20, 20, 15, 10, 7, 3]))
    >>> first.tolist(), last.tolist()
    ([5, 6], [5, 6])
    """
    upto = np.cumsum(counts) / counts.sum()
    before = upto - counts / counts.sum()
    wanted = np.searchsorted(upto, before + SELECTIVITY)
    # The value at which 5 % are reached belongs to the range if that is closer than stopping before it.
    over = np.minimum(wanted, len(counts) - 1)
    under = np.maximum(over - 1, np.arange(len(counts)))
    missed = np.abs(np.stack([upto[over], upto[under]]) - before - SELECTIVITY)
    ends = np.where(missed[0] <= missed[1], over, under)
    closest = missed.min(axis=0)
    starts = np.flatnonzero(closest <= closest.min() + _AS_CLOSE)
    return starts, ends[starts]


def one_of_each(ranges: Sequence[Range]) -> tuple[Range, ...]:
    """The first range of each attribute."""
    return tuple({each.attribute: each for each in reversed(ranges)}.values())[::-1]


def _range(column: Column, ranked: Ranked, below: int, last: int) -> Expr:
    """From behind the value ``below``, of which there is none for the first range, to the value ``last``."""

    def bound(op: str, code: int) -> Expr:
        return Comparison(op, column, Literal(ranked.array[code].as_py(), column.type))

    return normalize_filter(bound("<=", last) if below < 0 else And((bound(">", below), bound("<=", last))))

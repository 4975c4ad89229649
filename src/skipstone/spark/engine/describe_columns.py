"""What the columns of a table hold, as far as queries can be drawn from it: ranges, or distinct values.

One aggregate finds the least and greatest value of numbers, dates and times, and the values of categories in
a sample; nothing but these reaches the driver. Moments come as text of the session's time zone, which is how
the literals of queries are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pyspark.sql import Column, Row
from pyspark.sql import functions as F

from skipstone.catalog.column_names import quoted
from skipstone.errors import SkipstoneError
from skipstone.predicate.types import Kind, Type
from skipstone.spark.engine.compare_results import count_stored_rows
from skipstone.spark.engine.job_settings import DRAWN
from skipstone.spark.engine.open_table import OpenTable
from skipstone.view import listed
from skipstone.workload.generate import ColumnSpec, Constant

__all__ = ["Described", "LeftOutColumn", "describe_columns"]

_RANGES = (
    Kind.BYTE,
    Kind.SHORT,
    Kind.INT,
    Kind.LONG,
    Kind.FLOAT,
    Kind.DOUBLE,
    Kind.DECIMAL,
    Kind.DATE,
    Kind.TIMESTAMP,
    Kind.TIMESTAMP_NTZ,
)
_CATEGORIES = (Kind.STRING, Kind.BOOLEAN)
_MOMENTS = (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)
_SAMPLED_ROWS = 200_000
_MOST_FETCHED = 1_000
_MOST_VALUES = 100
_LONGEST = 200
"""Characters of a text; longer ones are no categories."""


@dataclass(frozen=True, slots=True)
class LeftOutColumn:
    """A column that no query is about, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Described:
    """What columns hold, in the order of the table."""

    columns: tuple[ColumnSpec, ...]
    left_out: tuple[LeftOutColumn, ...]


def describe_columns(table: OpenTable, wanted: Sequence[str] = ()) -> Described:
    """Describe the wanted columns, by default all; a column that the table does not have is refused."""
    frame = table.live(table.file_indices, table.engine.session(DRAWN))
    types = {name: Type.parse(text) for name, text in frame.dtypes}
    chosen = _chosen(types, wanted, table.root)
    usable = [name for name in chosen if types[name].kind in (*_RANGES, *_CATEGORIES) and "." not in name]
    unusable = [LeftOutColumn(name, f"its type is {types[name]}") for name in chosen if name not in usable]
    ranges = [name for name in usable if types[name].kind in _RANGES]
    categories = [name for name in usable if types[name].kind in _CATEGORIES]
    found: dict[str, ColumnSpec | None] = dict.fromkeys(usable)
    if ranges:
        row = frame.agg(*(each for name in ranges for each in _bounds(name, types[name]))).first()
        assert row is not None
        found |= {name: _range(name, types[name], row, 2 * i) for i, name in enumerate(ranges)}
    if categories:
        share = min(1.0, _SAMPLED_ROWS / max(count_stored_rows(table), 1))
        sampled = frame if share >= 1.0 else frame.sample(share, seed=0)
        row = sampled.agg(*(_values(name, types[name]) for name in categories)).first()
        assert row is not None
        found |= {name: _category(name, types[name], row[i]) for i, name in enumerate(categories)}
    empty = [
        LeftOutColumn(name, "it has no values to compare with") for name, it in found.items() if it is None
    ]
    return Described(tuple(it for it in found.values() if it is not None), (*unusable, *empty))


def _chosen(types: dict[str, Type], wanted: Sequence[str], root: str) -> list[str]:
    known = {name.lower(): name for name in types}
    for name in wanted:
        if name.lower() not in known:
            raise SkipstoneError(f"{root} has no column {name}; its columns are {listed(types)}.")
    return list(dict.fromkeys(known[name.lower()] for name in wanted)) or list(types)


def _bounds(name: str, type_: Type) -> Iterator[Column]:
    column = F.col(quoted(name))
    if type_.floating:
        column = F.when(F.abs(column) < float("inf"), column)
    for bound in (F.min(column), F.max(column)):
        yield bound.cast("string") if type_.kind in _MOMENTS else bound


def _range(name: str, type_: Type, row: Row, index: int) -> ColumnSpec | None:
    low, high = row[index], row[index + 1]
    if low is None or high is None:
        return None
    if type_.kind in _MOMENTS:
        try:
            low, high = datetime.fromisoformat(low), datetime.fromisoformat(high)
        except ValueError:  # a year that Python does not have
            return None
    if isinstance(low, Decimal | float) and not (math.isfinite(low) and math.isfinite(high)):
        return None
    return ColumnSpec(name, type_.text, low=low, high=high)


def _values(name: str, type_: Type) -> Column:
    column = F.col(quoted(name))
    if type_.kind is Kind.STRING:
        column = F.when(F.length(column) <= _LONGEST, column)
    return F.slice(F.array_sort(F.collect_set(column)), 1, _MOST_FETCHED)


def _category(name: str, type_: Type, values: Sequence[Constant]) -> ColumnSpec | None:
    """The values; of very many, some that are spread over all."""
    if not values:
        return None
    step = max(1, math.ceil(len(values) / _MOST_VALUES))
    return ColumnSpec(name, type_.text, values=tuple(values[::step]))

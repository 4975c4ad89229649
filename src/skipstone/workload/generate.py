"""A workload out of nothing but column metadata (SOP on Spark, section V-A).

A column is known by its least and greatest value (numbers and dates) or by its distinct values (categories).
Every query draws some columns and gives each a predicate whose constants come from that metadata. With
``zipf`` the constants are skewed as in 002 section 7.2: value number k of n is drawn with a probability
proportional to 1 / k^zipf, except for dates, which stay uniform. Values of a category are ranked as
listed; a range is cut into a hundred steps whose ranks are a seeded shuffle.

The same arguments give the same queries, on every version of Python: only ``Random.random`` is used, whose
sequence is guaranteed.

>>> columns = [ColumnSpec("size", "int", low=1, high=50), ColumnSpec("brand", "string", values=("A", "B"))]
>>> for sql in generate(columns, 2, seed=1):
...     print(sql)
SELECT * FROM t WHERE brand IN ('A', 'B')
SELECT * FROM t WHERE size > 39
"""

from __future__ import annotations

import math
import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import accumulate

from skipstone.errors import SkipstoneError
from skipstone.predicate.literals import identifier, string_sql
from skipstone.predicate.types import Kind, Type

__all__ = ["ColumnSpec", "Constant", "QueryForm", "generate"]

Constant = int | float | Decimal | str | bool | date | datetime
_STEPS = 100
_DATES = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)
_MOST_LISTED = 4


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A column by its distinct ``values``, or by its least (``low``) and greatest (``high``) value."""

    name: str
    type: str
    low: Constant | None = None
    high: Constant | None = None
    values: tuple[Constant, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryForm:
    """What generated queries look like: their table, what they select, and how their constants are skewed.

    Each has one to ``most_predicates`` predicates.
    """

    table: str = "t"
    select: str = "*"
    zipf: float | None = None
    most_predicates: int = 3


_PLAIN = QueryForm()


def generate(
    columns: Sequence[ColumnSpec], count: int, seed: int, form: QueryForm = _PLAIN
) -> tuple[str, ...]:
    """``count`` queries in Spark SQL."""
    if not columns:
        raise SkipstoneError("A workload needs at least one column to filter on.")
    chance = random.Random(seed)
    sources = [_Source(column, form.zipf, chance) for column in columns]
    most = min(form.most_predicates, len(sources))
    queries = []
    for _ in range(count):
        wanted = 1 + _below(chance, most)
        order = sorted(sources, key=lambda _: chance.random())
        where = " AND ".join(source.predicate(chance) for source in order[:wanted])
        queries.append(f"SELECT {form.select} FROM {form.table} WHERE {where}")
    return tuple(queries)


class _Source:
    """Draws predicates on one column."""

    def __init__(self, column: ColumnSpec, zipf: float | None, chance: random.Random) -> None:
        self._name = ".".join(identifier(part) for part in column.name.split("."))
        self._type = Type.parse(column.type)
        self._column = column
        if not column.values and (column.low is None or column.high is None):
            raise SkipstoneError(f"The column {column.name} needs distinct values, or a low and a high one.")
        size = len(column.values) or _STEPS
        skew = zipf if zipf is not None and self._type.kind not in _DATES else 0.0
        self._sums = list(accumulate((rank + 1) ** -skew for rank in range(size)))
        # The most asked part of a range may lie anywhere in it.
        self._indices = list(range(size))
        if skew and not column.values:
            self._indices.sort(key=lambda _: chance.random())

    def predicate(self, chance: random.Random) -> str:
        if self._column.values:
            return self._listed(chance)
        return self._range(chance)

    def _listed(self, chance: random.Random) -> str:
        wanted = 1 if _below(chance, 2) else 2 + _below(chance, _MOST_LISTED - 1)
        indices = sorted({self._index(chance) for _ in range(wanted)})
        constants = [_sql(self._column.values[index]) for index in indices]
        if len(constants) == 1:
            return f"{self._name} = {constants[0]}"
        return f"{self._name} IN ({', '.join(constants)})"

    def _range(self, chance: random.Random) -> str:
        operator = ("<", "<=", ">", ">=", "between")[_below(chance, 5)]
        first = self._constant(chance)
        if operator != "between":
            return f"{self._name} {operator} {_sql(first)}"
        low, high = sorted((first, self._constant(chance)), key=lambda value: (value,))
        return f"{self._name} BETWEEN {_sql(low)} AND {_sql(high)}"

    def _constant(self, chance: random.Random) -> Constant:
        share = (self._index(chance) + chance.random()) / len(self._indices)
        return _between(self._column.low, self._column.high, share, self._type)

    def _index(self, chance: random.Random) -> int:
        rank = bisect(self._sums, chance.random() * self._sums[-1])
        return self._indices[min(rank, len(self._indices) - 1)]


def _below(chance: random.Random, limit: int) -> int:
    return min(int(chance.random() * limit), limit - 1)


def _between(low: object, high: object, share: float, type_: Type) -> Constant:
    match low, high:
        case datetime(), datetime():
            return low + timedelta(seconds=math.floor((high - low).total_seconds() * share))
        case date(), date():
            return low + timedelta(days=_step((high - low).days, share))
        case int(), int() if type_.kind is not Kind.DECIMAL:
            return low + _step(high - low, share)
        case ((int() | Decimal() | float()), (int() | Decimal() | float())):
            value = float(low) + (float(high) - float(low)) * share
            exact = type_.kind is Kind.DECIMAL
            return Decimal(f"{value:.{type_.scale}f}") if exact else value
    raise SkipstoneError(f"There is no range from {low!r} to {high!r}.")


def _step(width: int, share: float) -> int:
    """One of 0 to width, all alike."""
    return min(width, int((width + 1) * share))


def _sql(value: Constant) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case datetime():
            return f"TIMESTAMP '{value.isoformat(' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return string_sql(value)
        case Decimal():
            return f"{value:f}"
    return repr(value)

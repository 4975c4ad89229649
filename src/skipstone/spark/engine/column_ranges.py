"""Ranges of the values of joined tables' columns, and which of them each row's value lies in.

The ranges are found on a sample of the joined table: each distinct value if there are few, else quantiles.
One look at all rows then says where the first begins and the last ends, and whether all values are among
those of the sample; if so each range is a single value. A row's range is found by bisection, a step of which
is one native expression, and becomes a bit in one of a few 64-bit words: bit n is for range n, and the one
behind the last range for NULL. Words of rows are OR-ed.

Example: values 10, 20 and 30 are ranges 0, 1 and 2. The value 20 is at least the first of range 0 + 1 and not
the first of range 0 + 1 + 1, so its bit is 1 << 1.

Cost: two jobs for each joined table, and the driver sees some thousand sampled rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skipstone.catalog.logical_names import LogicalNames
from skipstone.predicate.codec import fingerprint
from skipstone.predicate.evaluate import order_key
from skipstone.predicate.expr import Column, Expr, Literal, Value
from skipstone.predicate.joined_column import column_unbound, joined_column_of
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import Kind, Type
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.stored_bounds import canonical_array

__all__ = [
    "ColumnRanges",
    "column_of",
    "is_long",
    "range_words",
    "ranges_of",
    "sampled_values",
    "word_names",
]

MOST_RANGES = 255
"""With the bit for NULL these are four words."""
_ROWS = 4_000
_LONGEST = 64
_WORD = 64
_VALUES = "__skipstone_values_"
Starts = Mapping[Column, Sequence[Value]]


@dataclass(frozen=True, slots=True)
class ColumnRanges:
    """Ranges from each value in ``first`` to the one in ``last``, in order; together they hold all values."""

    type: Type
    first: tuple[Value, ...]
    last: tuple[Value, ...]

    @property
    def words(self) -> int:
        """How many words the bits take, with the one for NULL."""
        return len(self.first) // _WORD + 1


def column_of(joined_column: Expr) -> tuple[str, Column]:
    """The table at the end of the chain of joins, and its column."""
    found = joined_column_of(joined_column)
    assert found is not None
    if isinstance(found.column, Column):
        return found.link.table, found.column
    return column_of(found.column)


def word_names(joined_column: Expr, ranges: ColumnRanges) -> list[str]:
    """How the columns of a frame are called that hold the bits of a joined column."""
    name = _VALUES + fingerprint(column_unbound(joined_column))
    return [f"{name}_{index}" for index in range(ranges.words)]


def sampled_values(
    rows: DataFrame, names: LogicalNames, columns: Sequence[Column], seed: int
) -> list[list[Value]]:
    """Some values of each column, without NULL."""
    shown = [f"{_plain(names.sql(each), each.type)} AS c{index}" for index, each in enumerate(columns)]
    found: pa.Table = rows.selectExpr(*shown).orderBy(F.rand(seed)).limit(_ROWS).toArrow()
    drawn = []
    for index, column in enumerate(columns):
        flat = found[f"c{index}"].combine_chunks()
        array = flat if isinstance(flat, pa.Array) else pa.concat_arrays(flat.chunks)
        values = canonical_array(array, column.type).to_pylist()
        drawn.append([value for value in values if value is not None])
    return drawn


def ranges_of(
    table: OpenTable, rows: DataFrame, columns: Sequence[Column], seed: int = 0
) -> dict[Column, ColumnRanges]:
    """The ranges of those columns that have any; long texts have none, nor those that are no valid UTF-8."""
    names = table.snapshot.logical_names
    starts = {
        column: _starts(values)
        for column, values in zip(columns, sampled_values(rows, names, columns, seed), strict=True)
        if values and not any(map(is_long, values))
    }
    if not starts:
        return {}
    pairs = enumerate(starts.items())
    texts = [text for index, (column, some) in pairs for text in _ends(index, names, column, some)]
    ends: pa.Table = _placed(rows, names, starts).select(*map(F.expr, texts)).toArrow()
    found = {}
    for index, (column, some) in enumerate(starts.items()):
        low, high = (
            canonical_array(ends[f"{side}{index}"].combine_chunks(), column.type)[0].as_py()
            for side in ("low", "high")
        )
        if low is not None and high is not None and not is_long(low) and not is_long(high):
            single = ends[f"others{index}"][0].as_py() == 0
            found[column] = ColumnRanges(column.type, (low, *some[1:]), some if single else (*some[1:], high))
    return found


def range_words(
    rows: DataFrame, names: LogicalNames, wanted: Sequence[tuple[Expr, Column, ColumnRanges]]
) -> DataFrame:
    """The rows with the words of joined columns, each of which is here a column of the rows themselves."""
    if not wanted:
        return rows
    starts = {column: ranges.first for _, column, ranges in wanted}
    words = {}
    for joined_column, column, ranges in wanted:
        place = f"IF({names.sql(column)} IS NULL, {len(ranges.first)}, {_place(starts, column)})"
        for index, name in enumerate(word_names(joined_column, ranges)):
            bit = f"shiftleft(1L, {place} & {_WORD - 1})"
            words[name] = F.expr(f"IF(shiftright({place}, 6) = {index}, {bit}, 0L)")
    places = [_place(starts, column) for column in starts]
    return _placed(rows, names, starts).withColumns(words).drop(*places)


def _starts(values: Sequence[Value]) -> tuple[Value, ...]:
    """All values if they are few, else quantiles."""
    ordered = sorted(values, key=order_key)
    distinct = tuple(dict.fromkeys(ordered))
    if len(distinct) <= MOST_RANGES:
        return distinct
    return tuple(dict.fromkeys(ordered[len(ordered) * step // MOST_RANGES] for step in range(MOST_RANGES)))


def _placed(rows: DataFrame, names: LogicalNames, starts: Starts) -> DataFrame:
    """The rows with the number of the range of each column's value; 0 for NULL."""
    found = rows.withColumns({_place(starts, column): F.lit(0) for column in starts})
    step = 1 << MOST_RANGES.bit_length() - 1
    while step:
        further = {}
        for column, some in starts.items():
            if step < len(some):
                place = _place(starts, column)
                beyond = f"{_array(column.type, some)}[{place} + {step}] <= {names.sql(column)}"
                further[place] = F.expr(f"IF({beyond}, {place} + {step}, {place})")
        found = found.withColumns(further) if further else found
        step //= 2
    return found


def _place(starts: Starts, column: Column) -> str:
    return f"{_VALUES}{list(starts).index(column)}"


def _array(type_: Type, starts: Sequence[Value]) -> str:
    """The values as an array of as many places as bisection may look at."""
    size = 1 << (len(starts) - 1).bit_length()
    values = [to_sql(Literal(value, type_)) for value in starts]
    none = f"CAST(NULL AS {type_.text})"
    return f"array({', '.join((*values, *([none] * (size - len(values)))))})"


def _ends(index: int, names: LogicalNames, column: Column, starts: Sequence[Value]) -> Iterator[str]:
    value, place = names.sql(column), f"{_VALUES}{index}"
    yield f"min({_plain(value, column.type)}) AS low{index}"
    yield f"max({_plain(value, column.type)}) AS high{index}"
    yield f"count_if({value} != {_array(column.type, starts)}[{place}]) AS others{index}"


def _plain(value: str, type_: Type) -> str:
    # As bytes, for a string may be no valid UTF-8.
    return f"CAST({value} AS BINARY)" if type_.kind is Kind.STRING else value


def is_long(value: Value) -> bool:
    """Whether a value is a text that is too long for a catalog."""
    return isinstance(value, str) and len(value) > _LONGEST

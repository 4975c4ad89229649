"""The first rows of a query for people: few, short, and in values that JSON has.

Texts are cut off where they are computed, so that no row is larger on its way to the driver than what is
shown of it; rows come partition by partition, until there are enough of them or of their bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from skipstone.catalog.column_names import quoted

__all__ = ["FirstRows", "first_rows"]

_PLAIN = ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double")
_LONGEST = 2_000
_MOST_COLUMNS = 500


@dataclass(frozen=True, slots=True)
class FirstRows:
    """Names and types of columns, the rows, and whether there are more."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[object, ...], ...]
    truncated: bool


def first_rows(frame: DataFrame, most_rows: int, most_bytes: int, check: Callable[[], None]) -> FirstRows:
    """Run a query for its first rows; ``check`` raises if somebody has asked for an end."""
    types = frame.dtypes[:_MOST_COLUMNS]
    names = [f"c{index}" for index in range(len(frame.columns))]
    renamed = frame.toDF(*names)
    shown = renamed.select(*(_shown(name, kind) for name, (_, kind) in zip(names, types, strict=False)))
    rows: list[tuple[object, ...]] = []
    size, truncated = 0, len(frame.columns) > _MOST_COLUMNS
    for row in shown.limit(most_rows + 1).toLocalIterator():
        check()
        values = tuple(map(_json, row))
        size += sum(len(value) if isinstance(value, str) else 8 for value in values)
        if len(rows) == most_rows or size > most_bytes:
            truncated = True
            break
        rows.append(values)
    return FirstRows(tuple(types), tuple(rows), truncated)


def _shown(name: str, kind: str) -> Column:
    column = F.col(quoted(name))
    if kind in _PLAIN:
        return column
    if kind == "binary":
        return F.hex(F.substring(column, 1, _LONGEST // 2))
    return F.substring(column.cast("string"), 1, _LONGEST)


def _json(value: object) -> object:
    """NaN and the infinities are texts in JSON, and so is a whole number that JavaScript would round."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 53:
        return str(value)
    return value

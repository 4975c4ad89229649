"""How many bytes and values each column of a table has per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["ColumnSizes", "PerRow"]


@dataclass(frozen=True, slots=True)
class PerRow:
    """Stored bytes and values of a row: one value per leaf column, or as many as a map or array has."""

    bytes: float
    values: float


@dataclass(frozen=True, slots=True)
class ColumnSizes:
    """What each top-level column has per row, by its physical name."""

    columns: Mapping[str, PerRow]

    def of(self, columns: Sequence[str] = ()) -> PerRow:
        """What these columns have together; all of them when none are given.

        >>> sizes = ColumnSizes({"a": PerRow(8.0, 1.0), "m": PerRow(30.0, 6.0)})
        >>> sizes.of(["m", "added later"]), sizes.of()
        (PerRow(bytes=30.0, values=6.0), PerRow(bytes=38.0, values=7.0))
        """
        chosen = columns or self.columns
        found = [self.columns[name] for name in chosen if name in self.columns]
        return PerRow(sum((each.bytes for each in found), 0.0), sum((each.values for each in found), 0.0))

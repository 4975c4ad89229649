"""A table that counts how often it is listed."""

from __future__ import annotations

from dataclasses import dataclass, field

from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.source import Source

__all__ = ["CountingSource"]


@dataclass(frozen=True, slots=True, eq=False)
class CountingSource(Source):
    """Each listing adds to ``listings``."""

    listings: list[str] = field(default_factory=list)

    def open(self) -> OpenTable:
        """List the table's files, as they are now."""
        self.listings.append(self.location)
        return Source.open(self)

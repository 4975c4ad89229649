"""What lies behind a table of the API: its files, its catalog and its store."""

from __future__ import annotations

import skipstone
from skipstone.spark.engine.open_table import OpenTable


def opened(table: skipstone.Table) -> OpenTable:
    """The table as it is now, listed anew."""
    return table._source.open()

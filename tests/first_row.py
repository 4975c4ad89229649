"""The row of an aggregate, or another that is known to be there."""

from __future__ import annotations

from pyspark.sql import DataFrame, Row


def first_row(frame: DataFrame) -> Row:
    """The first row, which must exist."""
    found = frame.first()
    assert found is not None
    return found

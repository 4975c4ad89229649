"""Tables as plain text, for reports."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["MOST_ROWS", "text_table"]

MOST_ROWS = 20
"""How many rows a report shows of a long list."""
_WIDTH = 110


def text_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], more: int = 0) -> str:
    """A table with aligned columns; ``more`` is how many rows are not shown.

    >>> print(text_table("Ages", ("name", "age"), [("Ada", "36")], 2))
    Ages
    name  age
    Ada   36
    … and 2 more
    """
    if not rows:
        return f"{title}: none"
    every = [header, *rows]
    widths = [max(len(row[column]) for row in every) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in every]
    shown = [line.rstrip() if len(line.rstrip()) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in lines]
    return "\n".join((title, *shown, *([f"… and {more:,} more"] if more > 0 else [])))

"""What people see of a result: a short text in Python, the whole text in a terminal, HTML in a notebook.

A result describes itself once, as a :class:`View`; both forms are made of that. The HTML needs no script and
no file, and takes its colours from the page, so that it can be read in the light and in the dark.

>>> print(View("Indexed 2 of 2 files.", values=(("columns", "a, b"),), notes=("in 3 s",)))
Indexed 2 of 2 files.
  columns      a, b
  in 3 s
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

__all__ = ["Cell", "Grid", "Share", "View", "Viewed", "count", "listed", "megabytes", "one_line", "percent"]

_LINE = "1px solid rgba(128,128,128,.35)"
_TABLE = "border-collapse:collapse;margin:.4em 0;color:inherit;background:none"
_CELL = f"padding:.15em .8em .15em 0;border-bottom:{_LINE};text-align:left;vertical-align:top"
_BAR = "display:inline-block;width:6em;height:.7em;border:1px solid currentColor;opacity:.6"
_FILLED = "display:block;height:100%;background:currentColor"


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole, with the text that says so; a notebook draws a small bar too."""

    part: float
    whole: float
    text: str

    def __str__(self) -> str:
        return self.text


Cell = str | Share


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of a notebook; ``more`` is how many rows are not shown."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class View:
    """A sentence, named values, further sentences, and what only a notebook has room for."""

    headline: str
    values: tuple[tuple[str, Cell], ...] = ()
    notes: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()

    def details(self) -> Iterator[str]:
        """All lines but the first."""
        yield from (f"  {name:<12} {value}" for name, value in self.values)
        yield from (f"  {note}" for note in self.notes)

    def __str__(self) -> str:
        return "\n".join((self.headline, *self.details()))

    def html(self) -> str:
        """The view as a part of a page."""
        parts = [f"<div><strong>{escape(self.headline)}</strong></div>"]
        if self.values:
            parts.append(_table((), self.values))
        parts += [f"<div>{escape(note)}</div>" for note in self.notes]
        for grid in self.grids:
            parts.append(f'<div style="margin-top:.6em">{escape(grid.title)}</div>' if grid.title else "")
            parts.append(_table(grid.header, grid.rows))
            parts.append(f"<div>… and {grid.more:,} more</div>" if grid.more > 0 else "")
        return f"<div>{''.join(parts)}</div>"


class Viewed(ABC):
    """A result that can be looked at."""

    __slots__ = ()

    @abstractmethod
    def view(self) -> View:
        """What there is to see."""

    def __str__(self) -> str:
        return str(self.view())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.view().headline}>"

    def _repr_html_(self) -> str:
        return self.view().html()


def _table(header: Iterable[str], rows: Iterable[tuple[Cell, ...]]) -> str:
    head = "".join(f'<th style="{_CELL}">{escape(title)}</th>' for title in header)
    lines = ("".join(f'<td style="{_CELL}">{_cell(cell)}</td>' for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f'<table style="{_TABLE}">{top}<tbody>{body}</tbody></table>'


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return escape(cell)
    width = min(max(cell.part / cell.whole, 0.0), 1.0) if cell.whole else 0.0
    bar = f'<span style="{_BAR}"><span style="{_FILLED};width:{100 * width:.1f}%"></span></span>'
    return f"{bar} {escape(cell.text)}"


def megabytes(size: float) -> str:
    """A size for people.

    >>> megabytes(12_345_678)
    '12.3 MB'
    """
    return f"{size / 1e6:,.1f} MB"


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "file"), count(2000, "file"), count(2, "query")
    ('1 file', '2,000 files', '2 queries')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def percent(part: float, whole: float) -> str:
    """A share for people.

    >>> percent(1, 3), percent(0, 0)
    ('33.3 %', '-')
    """
    return f"{100 * part / whole:.1f} %" if whole else "-"


def listed(items: Iterable[str]) -> str:
    """Names in a line; a dash when there are none."""
    return ", ".join(items) or "-"


def one_line(text: str) -> str:
    r"""A sentence without line breaks, and without the codes that Spark appends for programs.

    >>> one_line("It is not there. SQLSTATE: 42P01\n")
    'It is not there'
    """
    return re.sub(r"\.?\s*\bSQLSTATE: \w{5}\b", "", " ".join(text.split()))

"""What the commands have in common when they write: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Table

from skipstone.spark.failures import keep_errors_for_the_caller
from skipstone.spark.progress import Progress

__all__ = [
    "count",
    "fail",
    "listed",
    "megabytes",
    "one_line",
    "page_width",
    "print_json",
    "print_table",
    "progress",
    "show_warnings",
    "warn",
]

# When nobody looks at a terminal, tables are as wide as this project's text files.
_PAGE = 110
_SECONDS_BETWEEN_LINES = 5.0


def fail(sentence: str, code: int = 1) -> NoReturn:
    """Say what went wrong and end the command."""
    typer.echo(f"Error: {one_line(sentence)}", err=True)
    raise typer.Exit(code)


def warn(sentence: str) -> None:
    """Say what the user should know although the command goes on."""
    typer.echo(f"Warning: {one_line(sentence)}", err=True)


def one_line(text: str) -> str:
    """The text without line breaks, and without the codes that Spark appends for programs."""
    return re.sub(r"\.?\s*\bSQLSTATE: \w{5}\b", "", " ".join(text.split()))


def print_json(value: object) -> None:
    """The whole standard output of a command that was given ``--json``."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def page_width() -> int:
    """How many characters a line may have."""
    console = Console(file=sys.stdout)
    return console.width if console.is_terminal or "COLUMNS" in os.environ else _PAGE


def print_table(table: Table) -> None:
    """A table as wide as the terminal."""
    Console(file=sys.stdout, highlight=False, width=page_width()).print(table)


def megabytes(size: int) -> str:
    """A size for people.

    >>> megabytes(12_345_678)
    '12.3 MB'
    """
    return f"{size / 1e6:,.1f} MB"


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "file"), count(2000, "file")
    ('1 file', '2,000 files')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class _Warnings(logging.Handler):
    """Warnings of the library as sentences; their tracebacks are for the log of a program."""

    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


def show_warnings() -> None:
    """Let what the library logs as a warning appear on standard error; errors are shown when they arrive."""
    keep_errors_for_the_caller()
    log = logging.getLogger("skipstone")
    if not any(isinstance(handler, _Warnings) for handler in log.handlers):
        log.addHandler(_Warnings(logging.WARNING))
        log.propagate = False


@contextmanager
def progress() -> Iterator[Progress]:
    """Show how far long work is: bars on a terminal, now and then a line elsewhere."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Bar(bars)


class _Bar:
    """One bar for each kind of work."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._what = ""
        self._task = bars.add_task("", total=None, visible=False)

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != self._what:
            self._what = what
            self._bars.reset(self._task, description=what, visible=True)
        self._bars.update(self._task, completed=done, total=total)


class _Lines:
    """A line when work begins and every few seconds."""

    def __init__(self) -> None:
        self._what = ""
        self._last = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what == self._what and now - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._what, self._last = what, now
        typer.echo(f"{what}: {done:,} of {total:,}", err=True)


def listed(items: Iterable[str]) -> str:
    """Names in a line; a dash when there are none."""
    return ", ".join(items) or "-"

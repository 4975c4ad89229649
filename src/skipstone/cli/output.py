"""What the commands have in common when they write: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NoReturn

import typer

from skipstone.view import one_line

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "errors_as_json",
    "fail",
    "json_error",
    "page_width",
    "print_json",
    "print_table",
    "show_warnings",
    "table",
    "wants_json",
    "warn",
]

# When nobody looks at a terminal, tables are as wide as this project's text files.
_PAGE = 110
_json: ContextVar[bool] = ContextVar("json", default=False)


def fail(sentence: str, code: int = 1, report: Mapping[str, object] | None = None) -> NoReturn:
    """Say what went wrong and end the command.

    With ``--json`` standard output is one document all the same: the report, if there is one, and the error.
    """
    sentence = one_line(sentence)
    typer.echo(f"Error: {sentence}", err=True)
    if _json.get():
        print_json({**(report or {}), **json_error(sentence, code)})
    raise typer.Exit(code)


def json_error(sentence: str, code: int) -> dict[str, object]:
    """An error for programs; ``code`` is the exit code of the command."""
    return {"error": {"message": sentence, "code": code}}


def wants_json(words: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, which has to be known even if it cannot be understood.

    >>> wants_json(["status", "t", "--json"]), wants_json(["explain", "t", "--", "--json"])
    (True, False)
    """
    options = words[: words.index("--")] if "--" in words else words
    return "--json" in options


@contextmanager
def errors_as_json(wanted: bool) -> Iterator[None]:
    """Let errors be JSON on standard output too, or not."""
    token = _json.set(wanted)
    try:
        yield
    finally:
        _json.reset(token)


def warn(sentence: str) -> None:
    """Say what the user should know although the command goes on."""
    typer.echo(f"Warning: {one_line(sentence)}", err=True)


def print_json(value: object) -> None:
    """The whole standard output of a command that was given ``--json``."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def page_width() -> int:
    """How many characters a line may have."""
    from rich.console import Console

    console = Console(file=sys.stdout)
    return console.width if console.is_terminal or "COLUMNS" in os.environ else _PAGE


def table() -> Table:
    """A table to be filled and printed."""
    # Imported late, as above: --help and completion print none.
    from rich.table import Table

    return Table(box=None, pad_edge=False, header_style="bold")


def print_table(table: Table) -> None:
    """A table as wide as the terminal."""
    from rich.console import Console

    Console(file=sys.stdout, highlight=False, width=page_width()).print(table)


class _Warnings(logging.Handler):
    """Warnings of the library as sentences; their tracebacks are for the log of a program."""

    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


def show_warnings() -> None:
    """Let what the library logs as a warning appear on standard error; errors are shown when they arrive."""
    log = logging.getLogger("skipstone")
    if not any(isinstance(handler, _Warnings) for handler in log.handlers):
        log.addHandler(_Warnings(logging.WARNING))
        log.propagate = False

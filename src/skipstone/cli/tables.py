"""TABLE and ``--table`` as every command understands them, and the session they are opened in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import skipstone
from skipstone.cli.banner import quiet_session
from skipstone.path_listing import split_source

__all__ = ["AsJson", "SharedOptions", "Source"]

Source = Annotated[
    str, typer.Argument(metavar="TABLE", help="PATH or name=PATH, where name is what queries call it.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


@dataclass(frozen=True, slots=True)
class SharedOptions:
    """The arguments of every command about a table."""

    more: Annotated[
        list[str] | None,
        typer.Option("--table", metavar="NAME=PATH", help="A further table that queries name; repeatable."),
    ] = None
    as_json: AsJson = False

    def open(self, source: str) -> skipstone.Table:
        """Open the table that a command is about, and let queries name it and the further ones."""
        return self.open_each(source)[0]

    def open_each(self, source: str) -> tuple[skipstone.Table, ...]:
        """Open the table that a command is about and then the further ones, and let queries name them."""
        for text in self.more or ():
            if split_source(text)[0] is None:
                raise typer.BadParameter(f"{text} is not of the form name=PATH.", param_hint="--table")
        spark = quiet_session()
        return tuple(skipstone.table(spark, named(text)) for text in (source, *(self.more or ())))


def named(source: str) -> str:
    """The table with a name for queries: its own, or that of its directory if that can be one.

    >>> named("/data/orders/"), named("main.o=/data/orders"), named("/data/2024-01")
    ('orders=/data/orders/', 'main.o=/data/orders', '/data/2024-01')
    """
    name, path = split_source(source)
    if "/" not in path and Path(path).exists():
        path = f"./{path}"
    if "/" not in path:
        return source
    own = path.rstrip("/").rpartition("/")[2]
    called = name or (own if own.isidentifier() else None)
    return path if called is None else f"{called}={path}"

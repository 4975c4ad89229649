"""``skipstone index``: statistics for the files of a table that have none."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.tables import SharedOptions, Source

__all__ = ["run"]


def run(
    table: Source,
    *,
    expression: Annotated[
        list[str] | None,
        typer.Option(metavar="SQL", help="Keep statistics of this too, such as month(d); repeatable."),
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(metavar="SQL", help="Keep a bit per block of this condition; repeatable."),
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Index all files anew, with only what is asked for now.")
    ] = False,
    shared: SharedOptions,
) -> None:
    """Compute block statistics for the current layout of a table; queries skip at once.

    Only files that are new or changed are read. Expressions and features are remembered for later runs.
    """
    with progress() as report:
        indexed = shared.open(table).index(expression or (), feature or (), rebuild, report)
    if shared.as_json:
        print_json(asdict(indexed))
    else:
        typer.echo(str(indexed))

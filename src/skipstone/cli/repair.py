"""``skipstone repair``: verify the copies of a table, and rebuild what is damaged."""

from __future__ import annotations

from typing import Annotated

import typer

from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.tables import SharedOptions, Source

__all__ = ["run"]


def run(
    table: Source,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Rebuild nothing; the exit code is 1 if something is damaged.")
    ] = False,
    shared: SharedOptions,
) -> None:
    """Verify all copies of a table's rows by their hashes, and rebuild what is damaged or missing."""
    with progress() as report:
        done = shared.open(table).repair(check, report)
    if shared.as_json:
        print_json(done.to_dict())
    else:
        typer.echo(str(done))
    if not done.whole:
        raise typer.Exit(1)

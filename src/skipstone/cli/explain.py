"""``skipstone explain``: which files a query reads and skips, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from skipstone.cli.output import print_json
from skipstone.cli.progress import progress
from skipstone.cli.tables import AsJson, MoreTables, Source, open_table

__all__ = ["run"]


def run(
    table: Source,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A SELECT statement.")],
    more: MoreTables = None,
    as_json: AsJson = False,
) -> None:
    """Show which files a query reads and skips, and why. The query is planned, not run."""
    with progress():
        explanation = open_table(table, more).explain(query)
    if as_json:
        print_json(explanation.to_dict())
    else:
        typer.echo(str(explanation))

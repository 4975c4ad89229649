"""``skipstone explain``: which files a query reads and skips, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.tables import SharedOptions, Source

__all__ = ["run"]


def run(
    table: Source,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A SELECT statement.")],
    shared: SharedOptions,
) -> None:
    """Show which files a query reads and skips, and why. The query is planned, not run."""
    with progress():
        explanation = shared.open(table).explain(query)
    if shared.as_json:
        print_json(explanation.to_dict())
    else:
        typer.echo(str(explanation))

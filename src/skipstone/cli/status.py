"""``skipstone status``: what is known about a table."""

from __future__ import annotations

import typer

from skipstone.cli.output import count, listed, megabytes, print_json
from skipstone.cli.tables import AsJson, MoreTables, Source, open_table
from skipstone.spark.status import TableStatus

__all__ = ["run"]


def run(table: Source, more: MoreTables = None, as_json: AsJson = False) -> None:
    """Show what is known about a table, and how many of its files are indexed."""
    status = open_table(table, more).status()
    if as_json:
        print_json(status.to_dict())
    else:
        _render(status)


def _render(status: TableStatus) -> None:
    typer.echo(f"{status.root}: {status.format}, {count(status.files, 'file')}, {megabytes(status.bytes)}")
    if status.problem:
        typer.echo(f"  catalog      unusable: {status.problem}")
        return
    if not status.segments:
        typer.echo("  catalog      none: run skipstone index")
        return
    waiting = status.files - status.files_indexed
    typer.echo(
        f"  indexed      {count(status.files_indexed, 'file')}, {count(status.rows_indexed, 'row')}"
        + (f"; {count(waiting, 'file')} not yet, always read" if waiting else "")
    )
    typer.echo(
        f"  last run     {status.indexed_at[:19].replace('T', ' ')} UTC, {count(status.segments, 'segment')}"
    )
    typer.echo(f"  columns      {listed(status.columns)}")
    typer.echo(f"  expressions  {listed(status.expressions)}")
    typer.echo(f"  features     {listed(status.features)}")

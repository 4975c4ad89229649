"""``skipstone status``: what is known about a table."""

from __future__ import annotations

import typer

from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.tables import SharedOptions, Source

__all__ = ["run"]


def run(table: Source, shared: SharedOptions) -> None:
    """Show what is known about a table, and how many of its files are indexed."""
    with progress() as report:
        opened = shared.open(table)
        status = opened.status(report)
        organising = opened.auto_status() if status.format == "delta" and not status.problem else None
    if shared.as_json:
        print_json({**status.to_dict(), "auto": None if organising is None else organising.to_dict()})
        return
    typer.echo(str(status))
    if organising is not None and (organising.layouts or organising.decisions):
        typer.echo("\n".join(organising.view().details()))

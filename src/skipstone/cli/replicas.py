"""``skipstone replicas``, ``refresh`` and ``drop``: the copies of a table."""

from __future__ import annotations

from typing import Annotated

import typer

from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.tables import SharedOptions, Source

__all__ = ["drop", "refresh", "show"]

Replica = Annotated[str, typer.Argument(metavar="REPLICA", help="The id that skipstone replicas shows.")]


def show(table: Source, shared: SharedOptions) -> None:
    """List the replicas of a table, and how much of it each can answer for now."""
    with progress() as report:
        found = shared.open(table).replicas(report)
    if shared.as_json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))


def refresh(
    table: Source,
    replica: Annotated[
        str | None, typer.Argument(metavar="REPLICA", help="One replica; all of them if not given.")
    ] = None,
    *,
    shared: SharedOptions,
) -> None:
    """Bring replicas up to date with a table that has changed; what has not is left alone."""
    with progress() as report:
        done = shared.open(table).refresh(replica, report)
    if shared.as_json:
        print_json(done.to_dict())
    else:
        typer.echo(str(done))


def drop(
    table: Source,
    replica: Replica,
    *,
    now: Annotated[
        bool,
        typer.Option("--now", help="Delete its files at once; queries that are reading them fail."),
    ] = False,
    shared: SharedOptions,
) -> None:
    """Delete a replica; the table itself is not touched."""
    with progress() as report:
        done = shared.open(table).drop(replica, now, report)
    if shared.as_json:
        print_json(done.to_dict())
    else:
        typer.echo(str(done))

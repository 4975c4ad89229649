"""``skipstone status``: what is known about a table."""

from __future__ import annotations

import typer

from skipstone.cli.auto import render_status
from skipstone.cli.output import count, listed, megabytes, print_json
from skipstone.cli.tables import AsJson, MoreTables, Source, open_table
from skipstone.spark.query_log import LogStatus
from skipstone.spark.status import TableStatus

__all__ = ["run"]


def run(table: Source, more: MoreTables = None, as_json: AsJson = False) -> None:
    """Show what is known about a table, and how many of its files are indexed."""
    opened = open_table(table, more)
    status = opened.status()
    organising = opened.auto_status() if status.format == "delta" and not status.problem else None
    if as_json:
        print_json({**status.to_dict(), "auto": None if organising is None else organising.to_dict()})
        return
    _render(status)
    if organising is not None and (organising.layouts or organising.decisions):
        render_status(organising)


def _render(status: TableStatus) -> None:
    typer.echo(f"{status.root}: {status.format}, {count(status.files, 'file')}, {megabytes(status.bytes)}")
    _render_catalog(status)
    _render_log(status.log)


def _render_log(log: LogStatus) -> None:
    span = f", {_moment(log.oldest)} to {_moment(log.newest)} UTC" if log.entries else ""
    typer.echo(f"  query log    {'on' if log.on else 'off'} here, {count(log.entries, 'scan')}{span}")
    for reason, dropped in log.dropped.items():
        typer.echo(f"  not logged   {count(dropped, 'scan')}: {reason}")
    for problem in log.problems:
        typer.echo(f"  log problem  {problem}")


def _moment(text: str) -> str:
    return text[:19].replace("T", " ")


def _render_catalog(status: TableStatus) -> None:
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
    typer.echo(f"  last run     {_moment(status.indexed_at)} UTC, {count(status.segments, 'segment')}")
    typer.echo(f"  columns      {listed(status.columns)}")
    typer.echo(f"  expressions  {listed(status.expressions)}")
    typer.echo(f"  features     {listed(status.features)}")

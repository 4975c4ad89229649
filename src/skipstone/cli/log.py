"""``skipstone log``: a table's query log, shown, filled from a file, cleared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from skipstone.cli.output import print_json, print_table
from skipstone.cli.output import table as new_table
from skipstone.cli.progress_bar import progress
from skipstone.cli.query_options import QueryFile, unused_json, warn_of_unused
from skipstone.cli.tables import SharedOptions, Source
from skipstone.errors import SkipstoneError
from skipstone.view import count

if TYPE_CHECKING:
    from rich.table import Table

    from skipstone.workload.logged_scans import LoggedScan

__all__ = ["app"]

app = typer.Typer(
    help="Show, fill or clear a table's query log.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.command("show")
def show(
    table: Source,
    *,
    limit: Annotated[int, typer.Option(min=1, help="How many scans, the latest.")] = 20,
    since: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Only scans from this time (UTC) on."),
    ] = None,
    shared: SharedOptions,
) -> None:
    """Show the latest scans of a table's query log."""
    from_then = None if since is None else since.replace(tzinfo=UTC)
    with progress() as report:
        found = shared.open(table).log(from_then, report)
    latest = found[-limit:]
    if shared.as_json:
        from skipstone.workload.logged_scans import to_json_record

        print_json([to_json_record(scan) for scan in latest])
        return
    if latest:
        print_table(_table(latest))
    typer.echo(f"{count(len(latest), 'scan')} of {len(found):,}.")


def _table(scans: Sequence[LoggedScan]) -> Table:
    from skipstone.predicate.readable import readable

    table, copied = new_table(), any(scan.replicas for scan in scans)
    for title in ("time", "times", "files", "rows", "needed", "seconds", "user"):
        left = title in ("time", "user")
        table.add_column(title, justify="left" if left else "right", no_wrap=True)
    if copied:
        table.add_column("replicas", no_wrap=True)
    table.add_column("filter", overflow="fold", ratio=1)
    for scan in scans:
        table.add_row(
            f"{scan.time:%Y-%m-%d %H:%M:%S}",
            f"{scan.count:,}",
            f"{scan.files_read:,}/{scan.files_total:,}",
            f"{scan.rows_read:,}",
            "-" if scan.rows_needed is None else f"{scan.rows_needed:,}",
            f"{scan.seconds:.2f}",
            scan.user,
            *((", ".join(scan.replicas) or "-",) if copied else ()),
            readable(scan.filter),
        )
    return table


@app.command("import")
def import_(
    table: Source,
    log: QueryFile,
    shared: SharedOptions,
) -> None:
    """Add the queries of a file to a table's query log; they are not run."""
    with progress() as report:
        workload = log.read()
        imported = shared.open(table).import_log(workload, report)
    unusable = imported.unusable
    warn_of_unused(log.queries, unusable)
    if shared.as_json:
        print_json({"added": imported.added, "unusable": len(unusable), **unused_json(unusable)})
    else:
        typer.echo(f"Added {count(imported.added, 'scan')} to the query log.")


@app.command("clear")
def clear(
    table: Source,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Yes, delete it all.")] = False,
    shared: SharedOptions,
) -> None:
    """Delete every entry of a table's query log."""
    if not yes:
        raise SkipstoneError("This deletes the whole query log of the table; say --yes if that is meant.")
    with progress():
        deleted = shared.open(table).clear_log()
    if shared.as_json:
        print_json({"deleted": deleted})
    else:
        typer.echo(f"Deleted {count(deleted, 'scan')} from the query log.")

"""``skipstone auto``: the self-organising loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skipstone.arguments import bounds_of, checked
from skipstone.cli.completion import complete_curve, complete_layout
from skipstone.cli.layout_options import BlockRows, warn_of_unused
from skipstone.cli.output import print_json
from skipstone.cli.progress import progress
from skipstone.cli.tables import AsJson, MoreTables, Source, open_table
from skipstone.estimate.policy import Policy

if TYPE_CHECKING:
    from skipstone.catalog.decisions import Decision

__all__ = ["run"]

_DEFAULT = Policy()


def run(
    table: Source,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and why.")] = False,
    once: Annotated[bool, typer.Option("--once", help="Decide now and, if it pays, do it.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Decide after every commit, until stopped.")] = False,
    interval: Annotated[
        float,
        typer.Option(**bounds_of("seconds"), metavar="SECONDS", help="How often --watch looks for commits."),
    ] = 30.0,
    window_days: Annotated[
        float,
        typer.Option(**bounds_of("window_days"), help="How much of the log counts as the workload of now."),
    ] = _DEFAULT.window_days,
    horizon_days: Annotated[
        float | None,
        typer.Option(
            **bounds_of("horizon_days"),
            help="Count savings over so many days; as long as the log by default.",
        ),
    ] = None,
    margin: Annotated[
        float, typer.Option(**bounds_of("margin"), help="How many times its cost a rewrite must save.")
    ] = _DEFAULT.margin,
    new_blocks: Annotated[
        float, typer.Option(**bounds_of("new_blocks"), help="How many blocks of new data are awaited.")
    ] = _DEFAULT.new_blocks,
    drift: Annotated[
        float, typer.Option(**bounds_of("drift"), help="From which drift on old data is looked at.")
    ] = _DEFAULT.drift,
    step_mb: Annotated[
        float,
        typer.Option(**bounds_of("step_mb"), help="How much old data is laid out anew at a time, in MB."),
    ] = _DEFAULT.step_bytes / 1e6,
    layout: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Consider only this layout; repeatable.", autocompletion=complete_layout
        ),
    ] = None,
    curve: Annotated[
        str | None,
        typer.Option(
            help="z or hilbert, for the layout selforg; as in the newest layout by default.",
            autocompletion=complete_curve,
        ),
    ] = None,
    block_rows: BlockRows = None,
    more: MoreTables = None,
    as_json: AsJson = False,
) -> None:
    """Let a table arrange itself by its own query log when, and only when, that pays.

    Without --dry-run, --once or --watch the state of the loop is shown.
    """
    if dry_run + once + watch > 1:
        raise typer.BadParameter("only one of them can be given.", param_hint="--dry-run, --once, --watch")
    policy = Policy(
        new_blocks=new_blocks,
        window_days=window_days,
        horizon_days=horizon_days,
        margin=margin,
        drift=drift,
        step_bytes=int(checked(step_mb=step_mb)["step_mb"] * 1e6),
        block_rows=block_rows,
        layouts=tuple(layout) if layout else None,
        layout_options={} if curve is None else {"curve": curve},
    )
    if watch:
        opened = open_table(table, more)
        opened.watch(interval, policy, lambda decision: _show(decision, as_json)).run()
    elif dry_run or once:
        with progress() as report:
            decision = open_table(table, more).auto(once, policy, report)
        _show(decision, as_json)
    else:
        with progress() as report:
            status = open_table(table, more).auto_status(policy, report)
        if as_json:
            print_json(status.to_dict())
        else:
            typer.echo(str(status))


def _show(decision: Decision, as_json: bool) -> None:
    if unusable := decision.numbers.get("unusable"):
        from skipstone.workload.queries import BrokenQuery

        warn_of_unused(None, [BrokenQuery(**each) for each in unusable])
    if as_json:
        print_json(decision.to_dict())
    else:
        typer.echo(str(decision))

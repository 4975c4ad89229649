"""``skipstone auto``: the self-organising loop."""

from __future__ import annotations

from typing import Annotated

import typer

from skipstone.catalog.decisions import Decision
from skipstone.cli.output import count, megabytes, print_json, progress
from skipstone.cli.tables import AsJson, MoreTables, Source, open_table
from skipstone.cli.wishes import BlockRows, warn_unusable
from skipstone.optimize.auto_status import AutoStatus
from skipstone.optimize.policy import Policy
from skipstone.workload.queries import BrokenQuery

__all__ = ["render_decision", "render_status", "run"]

_DEFAULT = Policy()


def run(
    table: Source,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and why.")] = False,
    once: Annotated[bool, typer.Option("--once", help="Decide now and, if it pays, do it.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Decide after every commit, until stopped.")] = False,
    interval: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="How often --watch looks for commits.")
    ] = 30.0,
    window_days: Annotated[
        float, typer.Option(min=0.0, help="How much of the log counts as the workload of now.")
    ] = _DEFAULT.window_days,
    horizon_days: Annotated[
        float | None,
        typer.Option(min=0.0, help="Count savings over so many days; as long as the log by default."),
    ] = None,
    margin: Annotated[
        float, typer.Option(min=0.0, help="How many times its cost a rewrite must save.")
    ] = _DEFAULT.margin,
    new_blocks: Annotated[
        float, typer.Option(min=0.0, help="How many blocks of new data are awaited.")
    ] = _DEFAULT.new_blocks,
    drift: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="From which drift on old data is looked at.")
    ] = _DEFAULT.drift,
    step_mb: Annotated[
        float, typer.Option(min=1.0, help="How much old data is laid out anew at a time, in MB.")
    ] = _DEFAULT.step_bytes / 1e6,
    layout: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Consider only this layout; repeatable.")
    ] = None,
    curve: Annotated[
        str | None,
        typer.Option(help="z or hilbert, for the layout selforg; as in the newest layout by default."),
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
        step_bytes=int(step_mb * 1e6),
        block_rows=block_rows,
        layouts=tuple(layout) if layout else None,
        curve=curve,
    )
    opened = open_table(table, more)
    if watch:
        opened.watch(interval, policy, lambda decision: _show(decision, as_json)).run()
    elif dry_run or once:
        with progress() as told:
            decision = opened.auto(once, policy, told)
        _show(decision, as_json)
    else:
        status = opened.auto_status(policy)
        if as_json:
            print_json(status.to_dict())
        else:
            typer.echo(status.root)
            render_status(status)


def _show(decision: Decision, as_json: bool) -> None:
    warn_unusable(None, [BrokenQuery(**each) for each in decision.numbers.get("unusable", ())])
    if as_json:
        print_json(decision.to_dict())
    else:
        render_decision(decision)


def render_decision(decision: Decision) -> None:
    """A decision with the numbers that people look for."""
    numbers = decision.numbers
    pays = decision.code == "PAYS"
    verb = "Rewrote" if decision.acted else "Would rewrite" if pays else "Nothing to do"
    what = ""
    if pays:
        what = f" {count(numbers['files'], 'file')} of {numbers['data']} data ({megabytes(numbers['bytes'])})"
    typer.echo(f"{verb}{what}: {decision.sentence} [{decision.code}].")
    if numbers.get("break_even_runs") is not None:
        days = numbers.get("break_even_days")
        rate = "the rate of queries is unknown" if days is None else f"{days:,.2f} days at the observed rate"
        typer.echo(f"  pays after   {numbers['break_even_runs']:,.2f} runs of the log; {rate}")
    if "least_rewrite_seconds" in numbers:
        typer.echo(f"  costs        {numbers['costs']}")
    if decision.acted:
        typer.echo(
            f"  version      {numbers['version']}, {count(numbers['files_after'], 'file')}, "
            f"{numbers['rewrite_seconds']:.1f} s; decided in {numbers['analysis_seconds']:.1f} s"
        )


def render_status(status: AutoStatus) -> None:
    """What the loop sees, and its newest decisions."""
    spans = ""
    if status.first_scan is not None and status.last_scan is not None:
        spans = f", {status.first_scan:%Y-%m-%d %H:%M} to {status.last_scan:%Y-%m-%d %H:%M} UTC"
    typer.echo(f"  workload     {count(status.logged_scans, 'scan')}{spans}")
    typer.echo(
        f"  unclustered  {count(status.unclustered_files, 'file')}, {megabytes(status.unclustered_bytes)}; "
        f"{megabytes(status.awaited_bytes)} are awaited"
    )
    drifts = ", ".join(f"{layout['strategy']} {layout['score']:.2f}" for layout in status.layouts)
    drift = "no layout yet" if status.drift is None else f"{status.drift:.2f} ({drifts})"
    typer.echo(f"  drift        {drift}")
    for decision in reversed(status.decisions):
        done = "rewritten" if decision.acted else "left alone"
        again = f" ({decision.repeated + 1} times)" if decision.repeated else ""
        moment = decision.time[:19].replace("T", " ")
        typer.echo(f"  decision     {moment} {done}{again}: {decision.sentence} [{decision.code}]")

"""``skipstone auto``: the self-organising loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from skipstone.arguments import bounds_of, checked
from skipstone.cli.completion import complete_curve, complete_layout
from skipstone.cli.layout_options import BlockRows
from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.query_options import warn_of_unused
from skipstone.cli.tables import SharedOptions, Source
from skipstone.estimate.policy import Policy
from skipstone.json_types import json_list, json_object, json_text

if TYPE_CHECKING:
    from skipstone.catalog.decisions import Decision

__all__ = ["LoopOptions", "PolicyOptions", "run"]

_DEFAULT = Policy()


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """What the loop is asked for; nothing means its state."""

    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and why.")] = False
    once: Annotated[bool, typer.Option("--once", help="Decide now and, if it pays, do it.")] = False
    watch: Annotated[bool, typer.Option("--watch", help="Decide after every commit, until stopped.")] = False
    interval: Annotated[
        float,
        typer.Option(**bounds_of("seconds"), metavar="SECONDS", help="How often --watch looks for commits."),
    ] = 30.0

    def __post_init__(self) -> None:
        """Refuse several requests at once."""
        if self.dry_run + self.once + self.watch > 1:
            hint = "--dry-run, --once, --watch"
            raise typer.BadParameter("only one of them can be given.", param_hint=hint)


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """When the loop acts."""

    window_days: Annotated[
        float,
        typer.Option(**bounds_of("window_days"), help="How much of the log counts as the workload of now."),
    ] = _DEFAULT.window_days
    horizon_days: Annotated[
        float | None,
        typer.Option(
            **bounds_of("horizon_days"),
            help="Count savings over so many days; as long as the log by default.",
        ),
    ] = None
    margin: Annotated[
        float, typer.Option(**bounds_of("margin"), help="How many times its cost a rewrite must save.")
    ] = _DEFAULT.margin
    new_blocks: Annotated[
        float, typer.Option(**bounds_of("new_blocks"), help="How many blocks of new data are awaited.")
    ] = _DEFAULT.new_blocks
    drift: Annotated[
        float, typer.Option(**bounds_of("drift"), help="From which drift on old data is looked at.")
    ] = _DEFAULT.drift
    step_mb: Annotated[
        float,
        typer.Option(**bounds_of("step_mb"), help="How much old data is laid out anew at a time, in MB."),
    ] = _DEFAULT.step_bytes / 1e6
    layout: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Consider only this layout; repeatable.", autocompletion=complete_layout
        ),
    ] = None
    curve: Annotated[
        str | None,
        typer.Option(
            help="z or hilbert, for the layout selforg; as in the newest layout by default.",
            autocompletion=complete_curve,
        ),
    ] = None
    block_rows: BlockRows = None
    replica_budget: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="How much replicas may have together: a share of the table's bytes (50%) or a size (20GB). "
            "Without it none are made, refreshed or dropped.",
        ),
    ] = None

    def policy(self) -> Policy:
        """The policy that these options make."""
        return Policy(
            new_blocks=self.new_blocks,
            window_days=self.window_days,
            horizon_days=self.horizon_days,
            margin=self.margin,
            drift=self.drift,
            step_bytes=int(checked(step_mb=self.step_mb)["step_mb"] * 1e6),
            block_rows=self.block_rows,
            layouts=tuple(self.layout) if self.layout else None,
            layout_options={} if self.curve is None else {"curve": self.curve},
            replica_budget=self.replica_budget,
        )


def run(table: Source, loop: LoopOptions, options: PolicyOptions, shared: SharedOptions) -> None:
    """Let a table arrange itself by its own query log when, and only when, that pays.

    Without --dry-run, --once or --watch the state of the loop is shown.
    """
    policy, as_json = options.policy(), shared.as_json
    if loop.watch:
        opened = shared.open(table)
        opened.watch(loop.interval, policy, lambda decision: _show(decision, as_json)).run()
    elif loop.dry_run or loop.once:
        with progress() as report:
            decision = shared.open(table).auto(loop.once, policy, report)
        _show(decision, as_json)
    else:
        with progress() as report:
            status = shared.open(table).auto_status(policy, report)
        if as_json:
            print_json(status.to_dict())
        else:
            typer.echo(str(status))


def _show(decision: Decision, as_json: bool) -> None:
    if unusable := decision.numbers.get("unusable"):
        from skipstone.workload.queries import BrokenQuery

        logged = [json_object(each) for each in json_list(unusable)]
        warn_of_unused(None, [BrokenQuery(json_text(it["sql"]), json_text(it["reason"])) for it in logged])
    if as_json:
        print_json(decision.to_dict())
    else:
        typer.echo(str(decision))

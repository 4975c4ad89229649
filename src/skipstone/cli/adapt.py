"""``skipstone adapt``: change the tree that a table is laid out by, where its queries gain by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from skipstone.arguments import bounds_of
from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.query_options import QueryFileOrLog, warn_of_unused
from skipstone.cli.tables import SharedOptions, Source

__all__ = ["AdaptOptions", "run"]


@dataclass(frozen=True, slots=True)
class AdaptOptions:
    """Which queries count, what may be lost, and whether anything is written."""

    window_days: Annotated[
        float, typer.Option(**bounds_of("window_days"), help="How much of the log counts, without --queries.")
    ] = 30.0
    most_given_up: Annotated[
        float,
        typer.Option(
            **bounds_of("most_given_up"),
            help="The share of what ranges of a column that no query is about skip that may be given up.",
        ),
    ] = 0.5
    most_rewritten: Annotated[
        float,
        typer.Option(**bounds_of("most_rewritten"), help="Rewrite less than this share of the rows."),
    ] = 0.5
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be rewritten, and why.")] = False


def run(table: Source, log: QueryFileOrLog, options: AdaptOptions, shared: SharedOptions) -> None:
    """Rewrite only those blocks of a tree layout by which the queries of a window gain more than it costs."""
    with progress() as report:
        workload = log.read()
        done = shared.open(table).adapt(
            workload,
            options.window_days,
            options.most_given_up,
            most_rewritten=options.most_rewritten,
            dry_run=options.dry_run,
            progress=report,
        )
    warn_of_unused(log.queries, done.unusable)
    if shared.as_json:
        print_json(done.to_dict())
    else:
        typer.echo(str(done))

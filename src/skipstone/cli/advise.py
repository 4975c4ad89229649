"""``skipstone advise``: every layout simulated on a sample."""

from __future__ import annotations

from dataclasses import asdict

import typer

from skipstone.cli.layout_options import BlockOptions, HyperOptions, given_options
from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.query_options import QueryFileOrLog, unused_json, warn_of_unused
from skipstone.cli.tables import SharedOptions, Source

__all__ = ["run"]


def run(
    table: Source,
    log: QueryFileOrLog,
    blocks: BlockOptions,
    hyper: HyperOptions,
    shared: SharedOptions,
) -> None:
    """Say how much of the table the queries would scan under each layout, against its current layout."""
    with progress() as report:
        workload = log.read()
        advice = shared.open(table).advise(
            workload, **asdict(blocks), progress=report, layout_options=given_options(**asdict(hyper))
        )
    warn_of_unused(log.queries, advice.unusable)
    if shared.as_json:
        print_json(advice.to_dict() | unused_json(advice.unusable))
    else:
        typer.echo(str(advice))

"""``skipstone replicate``: a further copy of a table's rows in another layout."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from skipstone.arguments import bounds_of
from skipstone.cli.completion import complete_layout_or_auto
from skipstone.cli.layout_options import BlockOptions, OwnOptions
from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.query_options import QueryFileOrLog, warn_of_unused
from skipstone.cli.tables import SharedOptions, Source

__all__ = ["ReplicaOptions", "run"]


@dataclass(frozen=True, slots=True)
class ReplicaOptions(OwnOptions):
    """Which layout, and in how large pieces."""

    layout: Annotated[
        str,
        typer.Option(help="A layout, or auto for the best of them.", autocompletion=complete_layout_or_auto),
    ] = "auto"
    partition_rows: Annotated[
        int | None,
        typer.Option(
            **bounds_of("partition_rows"),
            help="Rows that are read from the table again when one of their files changes; about 20 million "
            "if not given.",
        ),
    ] = None


def run(
    table: Source, log: QueryFileOrLog, options: ReplicaOptions, blocks: BlockOptions, shared: SharedOptions
) -> None:
    """Copy a table's rows into another layout beside the table; each query reads the copy that costs less."""
    with progress() as report:
        workload = log.read()
        made = shared.open(table).replicate(
            workload,
            options.layout,
            **asdict(blocks),
            partition_rows=options.partition_rows,
            layout_options=options.given(),
            progress=report,
        )
    warn_of_unused(log.queries, made.unusable)
    if shared.as_json:
        print_json(made.to_dict())
    else:
        typer.echo(str(made))

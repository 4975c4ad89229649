"""``skipstone denormalise``: a copy of a table's rows with those that queries join to them."""

from __future__ import annotations

from typing import Annotated

import typer

from skipstone.cli.completion import complete_layout_or_auto
from skipstone.cli.layout_options import BlockRows
from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.query_options import QueryFile, warn_of_unused
from skipstone.cli.tables import SharedOptions, Source

__all__ = ["run"]


def run(
    table: Source,
    log: QueryFile,
    layout: Annotated[
        str,
        typer.Option(help="A layout, or auto for the best of them.", autocompletion=complete_layout_or_auto),
    ] = "qdtree",
    block_rows: BlockRows = None,
    *,
    shared: SharedOptions,
) -> None:
    """Copy a table's rows with those that queries join to them; such joins are then read from the copy."""
    with progress() as report:
        made = shared.open(table).denormalise(log.read(), layout, block_rows, report)
    warn_of_unused(log.queries, made.unusable)
    if shared.as_json:
        print_json(made.to_dict())
    else:
        typer.echo(str(made))

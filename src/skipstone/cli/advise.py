"""``skipstone advise``: every layout simulated on a sample."""

from __future__ import annotations

import typer

from skipstone.cli.layout_options import (
    BlockRows,
    Column,
    Dialect,
    Format,
    NumFeatures,
    PartitionBy,
    Queries,
    read_workload,
    unused_json,
    warn_of_unused,
)
from skipstone.cli.output import print_json
from skipstone.cli.progress import progress
from skipstone.cli.tables import AsJson, MoreTables, Source, open_table

__all__ = ["run"]


def run(
    table: Source,
    queries: Queries = None,
    dialect: Dialect = "spark",
    column: Column = None,
    format: Format = None,
    block_rows: BlockRows = None,
    partition_by: PartitionBy = None,
    num_features: NumFeatures = None,
    more: MoreTables = None,
    as_json: AsJson = False,
) -> None:
    """Say how much of the table the queries would scan under each layout, against its current layout."""
    with progress() as report:
        workload = read_workload(queries, dialect, column, format)
        advice = open_table(table, more).advise(
            workload,
            block_rows=block_rows,
            partition_by=partition_by,
            num_features=num_features,
            progress=report,
        )
    warn_of_unused(queries, advice.unusable)
    if as_json:
        print_json(advice.to_dict() | unused_json(advice.unusable))
    else:
        typer.echo(str(advice))

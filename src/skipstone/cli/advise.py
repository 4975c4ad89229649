"""``skipstone advise``: every layout simulated on a sample."""

from __future__ import annotations

import typer

from skipstone.cli.output import print_json, progress
from skipstone.cli.tables import AsJson, MoreTables, Source, open_table
from skipstone.cli.wishes import (
    BlockRows,
    Column,
    Dialect,
    Format,
    NumFeatures,
    PartitionBy,
    Queries,
    read_workload,
    warn_of_unused,
)
from skipstone.workload.queries import broken_and_left_out

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
    """Say how much of the table the queries would scan under each layout, against the table as it lies."""
    workload = read_workload(queries, dialect, column, format)
    with progress() as told:
        advice = open_table(table, more).advise(
            workload,
            block_rows=block_rows,
            partition_by=partition_by,
            num_features=num_features,
            progress=told,
        )
    warn_of_unused(queries, advice.unusable)
    if as_json:
        print_json(advice.to_dict() | broken_and_left_out(advice.unusable))
    else:
        typer.echo(str(advice))

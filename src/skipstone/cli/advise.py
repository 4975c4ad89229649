"""``skipstone advise``: every layout simulated on a sample."""

from __future__ import annotations

import typer

from skipstone.cli.output import print_json, progress
from skipstone.cli.tables import AsJson, MoreTables, Source, open_table
from skipstone.cli.wishes import (
    BlockRows,
    Dialect,
    NumFeatures,
    PartitionBy,
    Queries,
    read_workload,
    warn_unusable,
)

__all__ = ["run"]


def run(
    table: Source,
    queries: Queries = None,
    dialect: Dialect = "spark",
    block_rows: BlockRows = None,
    partition_by: PartitionBy = None,
    num_features: NumFeatures = None,
    more: MoreTables = None,
    as_json: AsJson = False,
) -> None:
    """Say how much of the table the queries would scan under each layout, against the table as it lies."""
    workload = read_workload(queries, dialect)
    with progress() as told:
        advice = open_table(table, more).advise(
            workload,
            block_rows=block_rows,
            partition_by=partition_by,
            num_features=num_features,
            progress=told,
        )
    warn_unusable(queries, advice.unusable)
    if as_json:
        print_json(advice.to_dict())
    else:
        typer.echo(str(advice))

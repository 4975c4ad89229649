"""``skipstone optimize``: rewrite a table by a layout."""

from __future__ import annotations

from typing import Annotated

import typer

from skipstone.cli.completion import complete_curve, complete_layout_or_auto
from skipstone.cli.layout_options import (
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
from skipstone.cli.output import print_json
from skipstone.cli.progress import progress
from skipstone.cli.tables import AsJson, MoreTables, Source, open_table

__all__ = ["run"]


def run(
    table: Source,
    queries: Queries = None,
    layout: Annotated[
        str,
        typer.Option(
            help="auto, range, zorder, hilbert, sop, qdtree or selforg; auto takes the best.",
            autocompletion=complete_layout_or_auto,
        ),
    ] = "auto",
    curve: Annotated[
        str | None,
        typer.Option(
            help="z or hilbert: the curve that selforg's blocks are cut along.", autocompletion=complete_curve
        ),
    ] = None,
    dialect: Dialect = "spark",
    column: Column = None,
    format: Format = None,
    block_rows: BlockRows = None,
    partition_by: PartitionBy = None,
    num_features: NumFeatures = None,
    output: Annotated[
        str | None, typer.Option(metavar="PATH", help="Leave the table alone and write a new Delta table.")
    ] = None,
    convert: Annotated[
        bool, typer.Option("--convert", help="Make a directory of Parquet files a Delta table first.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Apply the layout even if queries scan more than they do now.")
    ] = False,
    new_only: Annotated[
        bool, typer.Option("--new-only", help="Only files that no layout covers yet, by the newest layout.")
    ] = False,
    more: MoreTables = None,
    as_json: AsJson = False,
) -> None:
    """Rearrange a table so that the queries of a log skip most of it; no row is changed."""
    with progress() as report:
        workload = read_workload(queries, dialect, column, format)
        opened = open_table(table, more)
        if new_only:
            optimized = opened.optimize_new(progress=report, force=force)
        else:
            optimized = opened.optimize(
                workload,
                layout,
                block_rows=block_rows,
                partition_by=partition_by,
                num_features=num_features,
                output=output,
                convert=convert,
                progress=report,
                curve=curve,
                force=force,
            )
    warn_of_unused(queries, optimized.unusable)
    if as_json:
        print_json(optimized.to_dict())
    else:
        typer.echo(str(optimized))

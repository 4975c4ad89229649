"""``skipstone optimize``: rewrite a table by a layout."""

from __future__ import annotations

from typing import Annotated

import typer

from skipstone.cli.output import count, print_json, progress
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
from skipstone.optimize.run import OptimizeReport

__all__ = ["render", "run"]


def run(
    table: Source,
    queries: Queries = None,
    layout: Annotated[
        str, typer.Option(help="auto, range, zorder, hilbert, sop, qdtree or selforg; auto takes the best.")
    ] = "auto",
    curve: Annotated[
        str, typer.Option(help="z or hilbert: the curve that selforg's blocks are cut along.")
    ] = "z",
    dialect: Dialect = "spark",
    block_rows: BlockRows = None,
    partition_by: PartitionBy = None,
    num_features: NumFeatures = None,
    output: Annotated[
        str | None, typer.Option(metavar="PATH", help="Leave the table alone and write a new Delta table.")
    ] = None,
    convert: Annotated[
        bool, typer.Option("--convert", help="Make a directory of Parquet files a Delta table first.")
    ] = False,
    new_only: Annotated[
        bool, typer.Option("--new-only", help="Only files that no layout covers yet, by the newest layout.")
    ] = False,
    more: MoreTables = None,
    as_json: AsJson = False,
) -> None:
    """Rearrange a table so that the queries of a log skip most of it; no row is changed."""
    workload = read_workload(queries, dialect)
    with progress() as told:
        opened = open_table(table, more)
        if new_only:
            report = opened.optimize_new(progress=told)
        else:
            report = opened.optimize(
                workload,
                layout,
                block_rows=block_rows,
                partition_by=partition_by,
                num_features=num_features,
                output=output,
                convert=convert,
                progress=told,
                curve=curve,
            )
    warn_unusable(queries, report.unusable)
    if as_json:
        print_json(report.to_dict())
    else:
        render(report)


def render(report: OptimizeReport) -> None:
    """The report as text."""
    if not report.layout_id:
        typer.echo(f"{report.root} was left as it is: {report.reason}.")
        return
    typer.echo(
        f"Rewrote {count(report.rows, 'row')} of {report.root} by {report.layout}: "
        f"{count(report.files_before, 'file')} became {report.files_after:,}, table version {report.version}."
    )
    typer.echo(f"  {report.reason}")
    if report.percent_before is not None and report.percent_after is not None:
        typer.echo(
            f"  the log's queries scan about {report.percent_after:.2f} % of the rows instead of "
            f"{report.percent_before:.2f} %"
        )
    typer.echo(f"  fitted in {report.fit_seconds:.1f} s, rewritten in {report.rewrite_seconds:.1f} s")

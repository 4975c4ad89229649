"""``skipstone analyze``: what a query log says about a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from skipstone.arguments import bounds_of
from skipstone.cli.layout_options import (
    Column,
    Dialect,
    Format,
    NumFeatures,
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
    num_features: NumFeatures = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            **bounds_of("threshold"),
            help="Queries that a feature must subsume; cross-validated if not given.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw the commonality and stability curves.")
    ] = None,
    parsed: Annotated[
        Path | None, typer.Option(metavar="JSON", help="Write the parsed workload to this file.")
    ] = None,
    more: MoreTables = None,
    as_json: AsJson = False,
) -> None:
    """Show the predicates of a query log, the features mined from them, how common and stable they are."""
    with progress() as report:
        workload = read_workload(queries, dialect, column, format)
        found = open_table(table, more).analyze(workload, num_features, threshold, progress=report)
    warn_of_unused(queries, found.unusable)
    if plot is not None:
        from skipstone.cli.draw_curves import draw

        draw(found.report.curves, plot)
    if parsed is not None:
        parsed.write_text(json.dumps(found.parsed, indent=2), encoding="utf-8")
    if as_json:
        print_json(found.report.to_dict() | unused_json(found.unusable))
    else:
        typer.echo(str(found.report))

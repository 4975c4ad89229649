"""``skipstone analyze``: what a query log says about a table."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from skipstone.cli.output import print_json
from skipstone.cli.tables import AsJson, MoreTables, Source, open_table
from skipstone.cli.wishes import Dialect, NumFeatures, Queries, read_workload, warn_unusable
from skipstone.workload.draw import draw

__all__ = ["run"]


def run(
    table: Source,
    queries: Queries = None,
    dialect: Dialect = "spark",
    num_features: NumFeatures = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=1, help="Queries that a feature must subsume; cross-validated if not given."),
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
    workload = read_workload(queries, dialect)
    found = open_table(table, more).analyze(workload, num_features=num_features, threshold=threshold)
    warn_unusable(queries, found.unusable)
    if plot is not None:
        draw(found.report.curves, plot)
    if parsed is not None:
        parsed.write_text(json.dumps(found.parsed, indent=2), encoding="utf-8")
    if as_json:
        print_json({**found.report.to_dict(), "unusable": [asdict(query) for query in found.unusable]})
    else:
        typer.echo(str(found.report))

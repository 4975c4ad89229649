"""``skipstone generate``: a workload out of what a table's columns hold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from skipstone.arguments import bounds_of
from skipstone.cli.output import print_json, warn
from skipstone.cli.progress_bar import progress
from skipstone.cli.tables import SharedOptions, Source
from skipstone.errors import SkipstoneError

__all__ = ["GenerateOptions", "run"]


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """How many queries, about what, and where to."""

    queries: Annotated[int, typer.Option(**bounds_of("queries"), help="How many queries to draw.")] = 100
    seed: Annotated[int, typer.Option(**bounds_of("seed"), help="The same seed gives the same queries.")] = 0
    zipf: Annotated[
        float | None,
        typer.Option(**bounds_of("zipf"), help="Skew of the constants; all values alike if not given."),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Filter on these columns only, as in a,b; on all if not given."),
    ] = None
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the queries to this file instead.")
    ] = None


def run(table: Source, options: GenerateOptions, shared: SharedOptions) -> None:
    """Draw queries from the ranges and values of a table's columns, to try layouts out."""
    names = [name.strip() for name in (options.columns or "").split(",") if name.strip()]
    if options.output is not None and options.output.exists():
        raise SkipstoneError(f"{options.output} exists already; give another --output, or delete it.")
    with progress() as report:
        made = shared.open(table).generate(options.queries, options.seed, options.zipf, names, report)
    for each in made.left_out:
        warn(f"The column {each.name} is left out: {each.reason}.")
    if options.output is not None:
        options.output.write_text(made.sql(), encoding="utf-8")
    if shared.as_json:
        print_json(made.to_dict())
    elif options.output is not None:
        typer.echo(str(made))
    else:
        typer.echo(made.sql(), nl=False)

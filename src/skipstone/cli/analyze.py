"""``skipstone analyze``: what a query log says about a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skipstone.arguments import bounds_of
from skipstone.cli.each import Each, Every
from skipstone.cli.layout_options import NumFeatures
from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.query_options import QueryFileOrLog, unused_json, warn_of_unused
from skipstone.cli.tables import SharedOptions, Source

if TYPE_CHECKING:
    import skipstone
    from skipstone.actions.analyze import WorkloadAnalysis

__all__ = ["AnalyzeOptions", "run"]


@dataclass(frozen=True, slots=True)
class AnalyzeOptions:
    """How features are mined, and what is written to files."""

    num_features: NumFeatures = None
    threshold: Annotated[
        float | None,
        typer.Option(
            **bounds_of("threshold"),
            help="Queries that a feature must subsume; cross-validated if not given.",
        ),
    ] = None
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw the commonality and stability curves.")
    ] = None
    parsed: Annotated[
        Path | None, typer.Option(metavar="JSON", help="Write the parsed workload to this file.")
    ] = None
    each: Each = False


def run(
    table: Source,
    log: QueryFileOrLog,
    options: AnalyzeOptions,
    shared: SharedOptions,
) -> None:
    """Show the predicates of a query log, the features mined from them, how common and stable they are."""
    if options.each and (options.plot or options.parsed):
        raise typer.BadParameter("--plot and --parsed are about one table.", param_hint="--each")
    with progress() as report:
        workload = log.read()

        def analyze(opened: skipstone.Table) -> WorkloadAnalysis:
            return opened.analyze(workload, options.num_features, options.threshold, progress=report)

        if options.each:
            every = Every.of(shared.open_each(table), analyze)
        else:
            found = analyze(shared.open(table))
    if options.each:
        every.show(log.queries, shared.as_json)
        return
    warn_of_unused(log.queries, found.unusable)
    if options.plot is not None:
        from skipstone.cli.draw_curves import draw

        draw(found.report.curves, options.plot)
    if options.parsed is not None:
        options.parsed.write_text(json.dumps(found.parsed, indent=2), encoding="utf-8")
    if shared.as_json:
        print_json(found.report.to_dict() | unused_json(found.unusable))
    else:
        typer.echo(str(found.report))

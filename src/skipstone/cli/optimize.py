"""``skipstone optimize``: rewrite a table by a layout."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from skipstone.arguments import bounds_of
from skipstone.cli.completion import complete_curve, complete_layout_or_auto
from skipstone.cli.each import Each, Every
from skipstone.cli.layout_options import Balance, BlockOptions, Keys, given_options
from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.query_options import QueryFileOrLog, warn_of_unused
from skipstone.cli.tables import SharedOptions, Source

if TYPE_CHECKING:
    import skipstone
    from skipstone.actions.optimize_report import OptimizeReport

__all__ = ["OptimizeOptions", "run"]


@dataclass(frozen=True, slots=True)
class OptimizeOptions:
    """Which layout, of which files, and where to."""

    layout: Annotated[
        str,
        typer.Option(
            help="auto, range, zorder, hilbert, sop, qdtree, selforg or hyper; auto takes the best.",
            autocompletion=complete_layout_or_auto,
        ),
    ] = "auto"
    curve: Annotated[
        str | None,
        typer.Option(
            help="z or hilbert: the curve that selforg's blocks are cut along; z if not given.",
            autocompletion=complete_curve,
        ),
    ] = None
    balance: Balance = None
    keys: Keys = None
    output: Annotated[
        str | None, typer.Option(metavar="PATH", help="Leave the table alone and write a new Delta table.")
    ] = None
    convert: Annotated[
        bool, typer.Option("--convert", help="Make a directory of Parquet files a Delta table first.")
    ] = False
    force: Annotated[
        bool, typer.Option("--force", help="Apply the layout even if queries scan more than they do now.")
    ] = False
    replicas: Annotated[
        int,
        typer.Option(
            **bounds_of("replicas"),
            help="So many copies by hyper, the table included, each over its own share of the columns.",
        ),
    ] = 1
    new_only: Annotated[
        bool, typer.Option("--new-only", help="Only files that no layout covers yet, by the newest layout.")
    ] = False
    each: Each = False


def run(
    table: Source, log: QueryFileOrLog, options: OptimizeOptions, blocks: BlockOptions, shared: SharedOptions
) -> None:
    """Rearrange a table so that the queries of a log skip most of it; no row is changed."""
    if options.each and options.output is not None:
        raise typer.BadParameter("--output is the place of one table.", param_hint="--each")
    with progress() as report:
        workload = log.read()

        def optimize(opened: skipstone.Table) -> OptimizeReport:
            if options.new_only:
                return opened.optimize_new(progress=report, force=options.force)
            return opened.optimize(
                workload,
                options.layout,
                **asdict(blocks),
                output=options.output,
                convert=options.convert,
                progress=report,
                layout_options=given_options(curve=options.curve, balance=options.balance, keys=options.keys),
                force=options.force,
                replicas=options.replicas,
            )

        if options.each:
            every = Every.optimized(shared.open_each(table), optimize)
        else:
            optimized = optimize(shared.open(table))
    if options.each:
        every.show(log.queries, shared.as_json)
        return
    warn_of_unused(log.queries, optimized.unusable)
    if shared.as_json:
        print_json(optimized.to_dict())
    else:
        typer.echo(str(optimized))

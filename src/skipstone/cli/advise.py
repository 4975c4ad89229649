"""``skipstone advise``: every layout simulated on a sample."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from skipstone.cli.completion import complete_layout
from skipstone.cli.each import Each, Every
from skipstone.cli.layout_options import BlockOptions, OwnOptions
from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.query_options import QueryFileOrLog, unused_json, warn_of_unused
from skipstone.cli.tables import SharedOptions, Source

if TYPE_CHECKING:
    import skipstone
    from skipstone.estimate.advice import Advice

__all__ = ["AdviceOptions", "run"]


@dataclass(frozen=True, slots=True)
class AdviceOptions(OwnOptions):
    """Which layouts are compared, and what is asked of them."""

    layout: Annotated[
        list[str] | None,
        typer.Option(
            help="A layout to compare; repeatable. Without it, all that make sense.",
            autocompletion=complete_layout,
        ),
    ] = None
    each: Each = False


def run(
    table: Source,
    log: QueryFileOrLog,
    options: AdviceOptions,
    blocks: BlockOptions,
    shared: SharedOptions,
) -> None:
    """Say how much of the table the queries would scan under each layout, against its current layout."""
    with progress() as report:
        workload = log.read()

        def advise(opened: skipstone.Table) -> Advice:
            return opened.advise(
                workload,
                **asdict(blocks),
                progress=report,
                layout_options=options.given(),
                layouts=options.layout or (),
            )

        if options.each:
            every = Every.of(shared.open_each(table), advise)
        else:
            advice = advise(shared.open(table))
    if options.each:
        every.show(log.queries, shared.as_json)
        return
    warn_of_unused(log.queries, advice.unusable)
    if shared.as_json:
        print_json(advice.to_dict() | unused_json(advice.unusable))
    else:
        typer.echo(str(advice))

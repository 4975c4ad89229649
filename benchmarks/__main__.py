"""``python -m benchmarks NAME``: run a benchmark and show its figures against their bars.

Run it from the root of the repository, in an environment that ``make setup`` made; ``make bench-NAME`` does.
The figures go to ``benchmarks/results`` too. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import benchmarks.adapt.run as adapt_benchmark
import benchmarks.benefit.run as benefit_benchmark
import benchmarks.gsop.run as gsop_benchmark
import benchmarks.hyper.run as hyper_benchmark
import benchmarks.joins.run as joins_benchmark
import benchmarks.log.run as log_benchmark
import benchmarks.replay.run as replay_benchmark
import benchmarks.replicas.run as replicas_benchmark
import benchmarks.server.run as server_benchmark
import benchmarks.skip.run as skip_benchmark
import benchmarks.tpch.run as tpch_benchmark
from benchmarks.figures import RESULTS, Figure
from skipstone.cli.banner import without_java_banner
from skipstone.cli.output import errors_as_json, fail, print_json, print_table
from skipstone.cli.output import table as new_table
from skipstone.cli.progress_bar import progress
from skipstone.cli.spark_options import as_submit_arguments, with_spark_options
from skipstone.errors import SkipstoneError
from skipstone.progress import Progress

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["app"]

Again = Annotated[bool, typer.Option("--again", help="Measure anew what was measured before.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]
Batches = Annotated[int, typer.Option("--batches", help="How many batches are inserted.")]
Blocks = Annotated[int, typer.Option("--blocks", help="About how many blocks tables get.")]
Data = Annotated[str | None, typer.Option("--data", help="Where generated tables are kept or made.")]
Drift = Annotated[bool, typer.Option("--drift", help="Ask for other things from halfway on.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="A part to run alone; repeatable.")]
Output = Annotated[Path, typer.Option("--output", help="Where figures and plots go.")]
Quick = Annotated[bool, typer.Option("--quick", help="Tiny, to see that it runs; no bars.")]
Rows = Annotated[int, typer.Option("--rows", help="Rows of the table, or of each batch.")]
Scans = Annotated[int, typer.Option("--scans", help="How many scans there are.")]
Scale = Annotated[float, typer.Option("--sf", help="The scale factor of TPC-H.")]
Seed = Annotated[int, typer.Option("--seed", help="Another seed draws other data.")]
Timeline = Annotated[
    str | None, typer.Option("--timeline", metavar="[NAME=]FILE", help="A recorded timeline to replay.")
]

app = typer.Typer(
    help="Measure what skipstone claims about its speed; figures go to benchmarks/results.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.command()
def skip(output: Output = RESULTS, as_json: AsJson = False) -> None:
    """Decision time, planning overhead and indexing time."""
    _show(lambda _: skip_benchmark.run(output), as_json)


@app.command()
def replicas(output: Output = RESULTS, as_json: AsJson = False) -> None:
    """What replicas add to planning."""
    _show(lambda _: replicas_benchmark.run(output), as_json)


@app.command()
def log(output: Output = RESULTS, as_json: AsJson = False) -> None:
    """What the query log adds to small queries."""
    _show(lambda _: log_benchmark.run(output), as_json)


@app.command()
def benefit(
    rows: Rows = 500_000,
    seed: Seed = 0,
    quick: Quick = False,
    data: Data = None,
    output: Output = RESULTS,
    as_json: AsJson = False,
) -> None:
    """The benefit estimate against what is really skipped."""
    options = benefit_benchmark.Options(rows, seed, quick, data)
    _show(lambda report: benefit_benchmark.run(options, output, report), as_json)


@app.command()
def replay(
    rows: Rows = 1_200_000,
    batches: Batches = 6,
    scans: Scans = 1_200,
    seed: Seed = 0,
    drift: Drift = False,
    timeline: Timeline = None,
    quick: Quick = False,
    only: Only = None,
    data: Data = None,
    output: Output = RESULTS,
    as_json: AsJson = False,
) -> None:
    """Inserts and scans interleaved: automatic against no optimisation, one Z-order and liquid clustering."""
    options = replay_benchmark.Options(
        rows, batches, scans, seed, drift, timeline, quick, tuple(only or ()), data
    )
    _show(lambda report: replay_benchmark.run(options, output, report), as_json)


@app.command()
def tpch(
    sf: Scale = 1.0,
    only: Only = None,
    blocks: Blocks = 1_000,
    data: Data = None,
    again: Again = False,
    output: Output = RESULTS,
    as_json: AsJson = False,
) -> None:
    """Layouts on denormalised TPC-H."""
    options = tpch_benchmark.Options(sf, tuple(only or ()), blocks, data, again)
    _show(lambda report: tpch_benchmark.run(options, output, report), as_json)


@app.command()
def hyper(
    sf: Scale = 1.0,
    only: Only = None,
    blocks: Blocks = 1_000,
    data: Data = None,
    again: Again = False,
    output: Output = RESULTS,
    as_json: AsJson = False,
) -> None:
    """Hyper-partitioning of TPC-H's lineitem."""
    options = hyper_benchmark.Options(sf, tuple(only or ()), blocks, data, again)
    _show(lambda report: hyper_benchmark.run(options, output, report), as_json)


@app.command()
def server(
    blocks: Blocks = 10_000, quick: Quick = False, output: Output = RESULTS, as_json: AsJson = False
) -> None:
    """How fast the server answers beside a job, and what it costs."""
    options = server_benchmark.Options(blocks=blocks, quick=quick)
    _show(lambda report: server_benchmark.run(options, output, report), as_json)


@app.command()
def adapt(
    sf: Scale = 1.0,
    only: Only = None,
    blocks: Blocks = 1_000,
    data: Data = None,
    again: Again = False,
    output: Output = RESULTS,
    as_json: AsJson = False,
) -> None:
    """Adapting a tree to queries on three attributes."""
    options = adapt_benchmark.Options(sf, tuple(only or ()), blocks, data, again)
    _show(lambda report: adapt_benchmark.run(options, output, report), as_json)


@app.command()
def joins(
    sf: Scale = 1.0,
    only: Only = None,
    blocks: Blocks = 1_000,
    data: Data = None,
    again: Again = False,
    output: Output = RESULTS,
    as_json: AsJson = False,
) -> None:
    """Joins of TPC-H's lineitem with small tables that have all the filters."""
    options = joins_benchmark.Options(sf, tuple(only or ()), blocks, data, again)
    _show(lambda report: joins_benchmark.run(options, output, report), as_json)


@app.command()
def gsop(
    sf: Scale = 1.0,
    only: Only = None,
    blocks: Blocks = 1_000,
    data: Data = None,
    again: Again = False,
    output: Output = RESULTS,
    as_json: AsJson = False,
) -> None:
    """Column groups: how fast they are chosen and made, and what queries read of them."""
    options = gsop_benchmark.Options(sf, tuple(only or ()), blocks, data, again)
    _show(lambda report: gsop_benchmark.run(options, output, report), as_json)


with_spark_options(app)


def _show(run: Callable[[Progress], Sequence[Figure]], as_json: bool) -> None:
    with errors_as_json(as_json):
        try:
            with progress() as report, without_java_banner(), as_submit_arguments():
                figures = run(report)
        except SkipstoneError as problem:
            fail(str(problem))
        listed = [asdict(figure) for figure in figures]
        if not as_json:
            print_table(_table(figures))
        if missed := [figure.name for figure in figures if figure.holds is False]:
            fail(f"{', '.join(missed)}: the bar was missed.", report={"figures": listed})
        if as_json:
            print_json(listed)


def _table(figures: Sequence[Figure]) -> Table:
    table = new_table()
    for title in ("figure", "value", "bar", "holds"):
        table.add_column(title, justify="left" if title == "figure" else "right")
    for figure in figures:
        holds = "-" if figure.holds is None else "yes" if figure.holds else "NO"
        table.add_row(figure.name, _amount(figure, figure.value), _amount(figure, figure.bar), holds)
    return table


def _amount(figure: Figure, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.4g} {figure.unit}".strip()


if __name__ == "__main__":
    app(prog_name="python -m benchmarks")

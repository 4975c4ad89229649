"""``skipstone bench``: run a benchmark and show its figures against their bars."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skipstone.cli.banner import without_java_banner
from skipstone.cli.output import fail, print_json, print_table
from skipstone.cli.output import table as new_table
from skipstone.cli.progress import progress
from skipstone.cli.spark_options import as_submit_arguments
from skipstone.cli.tables import AsJson

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["run"]

_PACKAGE = "benchmarks"


def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The benchmark, such as skip.")],
    sf: Annotated[float | None, typer.Option("--sf", help="The scale factor of generated data.")] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="A step to run alone; repeatable.")] = None,
    blocks: Annotated[int | None, typer.Option("--blocks", help="About how many blocks tables get.")] = None,
    data: Annotated[str | None, typer.Option("--data", help="Where generated tables are kept.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Measure anew what was measured before.")] = False,
    rows: Annotated[int | None, typer.Option("--rows", help="Rows of the table, or of each batch.")] = None,
    batches: Annotated[int | None, typer.Option("--batches", help="How many batches are inserted.")] = None,
    scans: Annotated[int | None, typer.Option("--scans", help="How many scans there are.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Another seed draws other data.")] = None,
    drift: Annotated[bool, typer.Option("--drift", help="Ask for other things from halfway on.")] = False,
    timeline: Annotated[
        str | None, typer.Option("--timeline", metavar="[NAME=]FILE", help="A recorded timeline to replay.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny, to see that it runs; no bars.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a benchmark; its figures go to benchmarks/results/NAME.json too."""
    benchmark = _find(name)
    given = {
        "sf": sf,
        "only": only or None,
        "blocks": blocks,
        "data": data,
        "again": again or None,
        "rows": rows,
        "batches": batches,
        "scans": scans,
        "seed": seed,
        "drift": drift or None,
        "timeline": timeline,
        "quick": quick or None,
    }
    options = {option: value for option, value in given.items() if value is not None}
    known = inspect.signature(benchmark.run).parameters
    for option in options.keys() - known.keys():
        raise typer.BadParameter(f"the benchmark {name} has no such option.", param_hint=f"--{option}")
    with progress() as told, without_java_banner(), as_submit_arguments():
        figures = benchmark.run(**options, **({"progress": told} if "progress" in known else {}))
    if not as_json:
        print_table(_table(figures))
    missed = [str(figure["name"]) for figure in figures if figure.get("holds") is False]
    if missed:
        fail(f"{', '.join(missed)}: the bar was missed.", report={"figures": figures})
    if as_json:
        print_json(figures)


def _find(name: str) -> Any:
    """The module of a benchmark, which is loaded only now: benchmarks need more than the commands do."""
    try:
        package = importlib.import_module(_PACKAGE)
    except ModuleNotFoundError:
        fail("This installation has no benchmarks.")
    known = [module.name for module in pkgutil.iter_modules(package.__path__)]
    module = importlib.import_module(f"{_PACKAGE}.{name}") if name in known else None
    if module is None or not hasattr(module, "run"):
        raise typer.BadParameter(f"there is no benchmark {name}.", param_hint="NAME")
    return module


def _table(figures: Sequence[Mapping[str, Any]]) -> Table:
    table = new_table()
    for title in ("figure", "value", "bar", "holds"):
        table.add_column(title, justify="left" if title == "figure" else "right")
    for figure in figures:
        bar = figure.get("bar")
        holds = {True: "yes", False: "NO"}.get(figure.get("holds", None), "-")
        table.add_row(
            str(figure["name"]),
            _amount(figure["value"], figure),
            "-" if bar is None else _amount(bar, figure),
            holds,
        )
    return table


def _amount(value: Any, figure: Mapping[str, Any]) -> str:
    number = f"{value:,.4g}" if isinstance(value, float) else str(value)
    return f"{number} {figure.get('unit', '')}".strip()

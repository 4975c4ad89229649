"""``skipstone calibrate``: what rewriting and reading cost on this machine or cluster."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Annotated

import typer

from skipstone.arguments import bounds_of
from skipstone.cli.banner import quiet_session
from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.tables import AsJson
from skipstone.view import megabytes

if TYPE_CHECKING:
    from skipstone.actions.calibrate import Calibration

__all__ = ["run"]


def run(
    directory: Annotated[
        str | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="Where to put the generated table; the executors must reach it. A temporary one by default.",
        ),
    ] = None,
    rows: Annotated[int, typer.Option(**bounds_of("rows"), help="How many rows to generate.")] = 600_000,
    as_json: AsJson = False,
) -> None:
    """Measure what rewrites and scans cost here, for the estimates of advise and auto."""
    with progress() as report, tempfile.TemporaryDirectory(prefix="skipstone-") as scratch:
        spark = quiet_session()
        from skipstone.actions.calibrate import Calibrate
        from skipstone.actions.cost_store import save_model
        from skipstone.actions.engine_action import perform_on_engine
        from skipstone.spark.engine.engine import Engine

        engine = Engine.of(spark)
        found = perform_on_engine(Calibrate(directory or scratch, rows), engine, report)
    path = save_model(engine, found.model)
    if as_json:
        print_json(found.to_dict(str(path)))
    else:
        _render(found, str(path))


def _render(found: Calibration, path: str) -> None:
    costs = found.model.coefficients
    typer.echo(
        f"Calibrated in {found.seconds:.0f} s with {found.rows:,} rows ({megabytes(found.bytes)}): "
        f"{found.model.describe()}."
    )
    typer.echo(
        f"  a rewrite    {costs.rewrite_fixed:.1f} s, {costs.rewrite_per_gb:,.1f} s per GB and "
        f"{costs.rewrite_per_value:.2f} s per million values; per million rows"
    )
    typer.echo(f"    + {costs.rewrite_per_row_z:.2f} s per Z feature")
    typer.echo(
        f"    + {costs.rewrite_per_row_sop:.2f} s for SOP, and "
        f"{costs.rewrite_per_row_sop_feature:.2f} s per SOP feature"
    )
    typer.echo(f"    + {costs.rewrite_per_row_additional:.2f} s per additional feature")
    per_mb, per_value, per_file = (
        1e3 * cost for cost in (costs.read_per_mb, costs.read_per_value, costs.read_per_file)
    )
    typer.echo(
        f"  a scan       {per_mb:.2f} ms per MB, {per_value:.2f} ms per million values, "
        f"{per_file:.2f} ms per file"
    )
    typer.echo(f"  kept in      {path}")

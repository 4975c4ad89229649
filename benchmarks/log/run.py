"""Runs the benchmark of the query log: what recording adds to queries.

It writes ``benchmarks/results/log.json`` and the plots beside it.
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path

import skipstone
from benchmarks.figures import RESULTS, Figure, at_most, write
from benchmarks.log import overhead
from benchmarks.plots import against_bars, axes, save_plot

__all__ = ["run"]

COMMAND = "make bench-log"


def run(output: Path = RESULTS) -> list[Figure]:
    """Measure, write the results and return the figures."""
    with tempfile.TemporaryDirectory(prefix="skipstone-bench-") as folder:
        spark = skipstone.session(app_name="skipstone-bench", config=overhead.settings(Path(folder)))
        table = overhead.make_table(spark, Path(folder, "orders"))
        measured = overhead.measure(spark, table)
        skipstone.disable(spark)
    figures = [at_most("logging overhead", measured.overhead_percent, "%", 2, COMMAND)]
    against_bars("log-bars", figures, output)
    _draw(measured, output)
    return write("log", figures, {"overhead": asdict(measured)}, output)


def _draw(measured: overhead.LogOverhead, output: Path) -> None:
    canvas, plot = axes(height=2.8)
    lines = (("off", "#3d5a80", measured.off_milliseconds), ("on", "#ee6c4d", measured.on_milliseconds))
    for name, colour, times in lines:
        plot.plot(range(1, len(times) + 1), times, color=colour, linewidth=1, label=f"logging {name}")
    plot.set_xlabel(f"batch of {measured.batch} queries", fontsize=8)
    plot.set_ylabel("ms per query", fontsize=8)
    plot.set_ylim(bottom=0)
    plot.legend(fontsize=8, frameon=False)
    plot.set_title(f"{measured.queries:,} small queries, on and off in turn", fontsize=9)
    save_plot(canvas, "log-overhead", output)

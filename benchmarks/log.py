"""The benchmark of the query log: what recording adds to queries.

``skipstone bench log`` writes ``benchmarks/results/log.json`` and the plots beside it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.figures import RESULTS, against_bars, at_most, axes, save_plot, write

import skipstone
from benchmarks import log_overhead

__all__ = ["run"]

COMMAND = "make bench-log"


def run(directory: Path | str = RESULTS) -> list[dict[str, Any]]:
    """Measure, write the results and return the figures."""
    target = Path(directory)
    with tempfile.TemporaryDirectory(prefix="skipstone-bench-") as folder:
        spark = skipstone.session(app_name="skipstone-bench", config=log_overhead.settings(Path(folder)))
        table = log_overhead.make_table(spark, Path(folder, "orders"))
        measured: Any = log_overhead.measure(spark, table)
        skipstone.disable(spark)
    figures = [at_most("logging overhead", measured["overhead_percent"], "%", 2, COMMAND)]
    against_bars("log-bars", figures, target)
    _draw(measured, target)
    return write("log", figures, {"overhead": measured}, target)


def _draw(measured: Any, target: Path) -> None:
    canvas, plot = axes(height=2.8)
    for name, colour in (("off", "#3d5a80"), ("on", "#ee6c4d")):
        times = measured[f"{name}_milliseconds"]
        plot.plot(range(1, len(times) + 1), times, color=colour, linewidth=1, label=f"logging {name}")
    plot.set_xlabel(f"batch of {measured['batch']} queries", fontsize=8)
    plot.set_ylabel("ms per query", fontsize=8)
    plot.set_ylim(bottom=0)
    plot.legend(fontsize=8, frameon=False)
    plot.set_title(f"{measured['queries']:,} small queries, on and off in turn", fontsize=9)
    save_plot(canvas, "log-overhead", target)


if __name__ == "__main__":
    for figure in run():
        print(figure)

"""The benchmark of skipping itself: deciding, planning, indexing.

``skipstone bench skip`` writes ``benchmarks/results/skip.json`` and the plots beside it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.figures import RESULTS, Figure, against_bars, at_most, axes, save_plot, write

import skipstone
from benchmarks import skip_decision, skip_indexing, skip_planning

__all__ = ["run"]

COMMAND = "make bench-skip"
_SETTINGS = {"spark.sql.shuffle.partitions": "2", "spark.databricks.delta.snapshotPartitions": "2"}


def run(directory: Path | str = RESULTS) -> list[dict[str, Any]]:
    """Measure everything, write the results and return the figures."""
    target = Path(directory)
    decision: Any = skip_decision.measure()
    with tempfile.TemporaryDirectory(prefix="skipstone-bench-") as folder:
        spark = skipstone.session(app_name="skipstone-bench", config=_SETTINGS)
        # First, while the session has no large tables to remember.
        indexing: Any = skip_indexing.measure(spark, skip_indexing.make_lineitem(Path(folder, "tpch")))
        planning = _planning(spark, Path(folder))
    figures = _figures(decision, planning, indexing)
    against_bars("skip-bars", figures, target)
    _draw_indexing(indexing, target)
    details = {"decision": decision, "planning": planning, "indexing": indexing}
    return write("skip", figures, details, target)


def _planning(spark: Any, folder: Path) -> dict[str, Any]:
    plain = skip_planning.make_files(folder / "plain")
    delta = skip_planning.make_delta(skip_planning.make_files(folder / "delta"))
    other = skip_planning.make_files(folder / "other")
    skip_planning.register(spark, plain)
    skip_planning.register(spark, delta)
    spark.read.parquet(str(plain)).createOrReplaceTempView("bench_plain")
    spark.read.format("delta").load(str(delta)).createOrReplaceTempView("bench_delta")
    spark.read.parquet(str(other)).createOrReplaceTempView("bench_other")
    return {
        "parquet": skip_planning.measure(spark, "bench_plain"),
        "delta": skip_planning.measure(spark, "bench_delta"),
        "unregistered": skip_planning.measure(spark, "bench_other"),
    }


def _figures(decision: Any, planning: Any, indexing: Any) -> list[Figure]:
    overhead = {name: found["overhead_milliseconds"] for name, found in planning.items()}
    return [
        at_most("decision over 1,000,000 blocks", decision["median_milliseconds"], "ms", 50, COMMAND),
        at_most("planning overhead, 10,000 Parquet files", overhead["parquet"], "ms", 60, COMMAND),
        at_most("planning overhead, 10,000 Delta files", overhead["delta"], "ms", 60, COMMAND),
        at_most("planning overhead, table not registered", overhead["unregistered"], "ms", 5, COMMAND),
        at_most("indexing over one scan", indexing["ratio"], "times", 1.5, COMMAND),
    ]


def _draw_indexing(indexing: Any, target: Path) -> None:
    canvas, plot = axes(height=2.8)
    runs = range(1, len(indexing["scan_seconds"]) + 1)
    plot.plot(runs, indexing["scan_seconds"], marker="o", color="#3d5a80", label="scan of all columns")
    plot.plot(runs, indexing["indexing_seconds"], marker="o", color="#ee6c4d", label="indexing")
    plot.axvspan(0.5, indexing["warm_up_runs"] + 0.5, color="#eeeeee", label="warming up")
    plot.set_xticks(list(runs))
    plot.set_xlabel("run", fontsize=8)
    plot.set_ylabel("seconds", fontsize=8)
    plot.set_ylim(bottom=0)
    plot.legend(fontsize=8, frameon=False)
    plot.set_title(indexing["table"], fontsize=9)
    save_plot(canvas, "skip-indexing", target)


if __name__ == "__main__":
    for figure in run():
        print(figure)

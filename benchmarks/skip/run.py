"""Runs the benchmark of skipping itself: deciding, planning, indexing.

It writes ``benchmarks/results/skip.json`` and the plots beside it.
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import skipstone
from benchmarks.figures import RESULTS, Figure, at_most, write
from benchmarks.plots import against_bars, axes, save_plot
from benchmarks.skip import decision, indexing, planning
from skipstone.spark import SparkSession

__all__ = ["run"]

COMMAND = "make bench-skip"
_SETTINGS = {"spark.sql.shuffle.partitions": "2", "spark.databricks.delta.snapshotPartitions": "2"}


@dataclass(frozen=True, slots=True)
class _Measured:
    decision: decision.DecisionTimes
    planning: dict[str, planning.PlanningTimes]
    indexing: indexing.IndexingTimes


def run(output: Path = RESULTS) -> list[Figure]:
    """Measure everything, write the results and return the figures."""
    decided = decision.measure()
    with tempfile.TemporaryDirectory(prefix="skipstone-bench-") as folder:
        spark = skipstone.session(app_name="skipstone-bench", config=_SETTINGS)
        # First, while the session has no large tables to remember.
        indexed = indexing.measure(spark, indexing.make_lineitem(Path(folder, "tpch")))
        measured = _Measured(decided, _measure_planning(spark, Path(folder)), indexed)
    figures = _figures(measured)
    against_bars("skip-bars", figures, output)
    _draw_indexing(indexed, output)
    return write("skip", figures, asdict(measured), output)


def _measure_planning(spark: SparkSession, folder: Path) -> dict[str, planning.PlanningTimes]:
    plain = planning.make_files(folder / "plain")
    delta = planning.make_delta(planning.make_files(folder / "delta"))
    other = planning.make_files(folder / "other")
    planning.register(spark, plain)
    planning.register(spark, delta)
    spark.read.parquet(str(plain)).createOrReplaceTempView("bench_plain")
    spark.read.format("delta").load(str(delta)).createOrReplaceTempView("bench_delta")
    spark.read.parquet(str(other)).createOrReplaceTempView("bench_other")
    return {
        "parquet": planning.measure(spark, "bench_plain"),
        "delta": planning.measure(spark, "bench_delta"),
        "unregistered": planning.measure(spark, "bench_other"),
    }


def _figures(measured: _Measured) -> list[Figure]:
    overhead = {name: times.overhead_milliseconds for name, times in measured.planning.items()}
    decided = measured.decision.median_milliseconds
    return [
        at_most("decision over 1,000,000 blocks", decided, "ms", 50, COMMAND),
        at_most("planning overhead, 10,000 Parquet files", overhead["parquet"], "ms", 60, COMMAND),
        at_most("planning overhead, 10,000 Delta files", overhead["delta"], "ms", 60, COMMAND),
        at_most("planning overhead, table not registered", overhead["unregistered"], "ms", 5, COMMAND),
        at_most("indexing over one scan", measured.indexing.ratio, "times", 1.5, COMMAND),
    ]


def _draw_indexing(times: indexing.IndexingTimes, output: Path) -> None:
    canvas, plot = axes(height=2.8)
    runs = range(1, len(times.scan_seconds) + 1)
    plot.plot(runs, times.scan_seconds, marker="o", color="#3d5a80", label="scan of all columns")
    plot.plot(runs, times.indexing_seconds, marker="o", color="#ee6c4d", label="indexing")
    plot.axvspan(0.5, times.warm_up_runs + 0.5, color="#eeeeee", label="warming up")
    plot.set_xticks(list(runs))
    plot.set_xlabel("run", fontsize=8)
    plot.set_ylabel("seconds", fontsize=8)
    plot.set_ylim(bottom=0)
    plot.legend(fontsize=8, frameon=False)
    plot.set_title(times.table, fontsize=9)
    save_plot(canvas, "skip-indexing", output)

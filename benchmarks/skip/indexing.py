"""How long indexing takes, compared with one scan of the same columns by Spark.

The table is TPC-H's ``lineitem`` in 40 files. The scan reads all columns into Spark's ``noop`` sink; indexing
is the whole call: listing the files, sampling them for value sets, computing all statistics, publishing
them. Both are run in turns in one session, after runs that only warm it up, and the best of each counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tpchgen import run_tpchgen
from skipstone.api import table
from skipstone.spark import SparkSession

__all__ = ["IndexingTimes", "make_lineitem", "measure"]

FILES = 40
SCALE = 1.0


def make_lineitem(folder: Path, scale: float = SCALE, files: int = FILES) -> Path:
    """The table's directory, below ``folder``."""
    run_tpchgen(scale, folder, "--tables", "lineitem", "--parts", str(files))
    return folder / "lineitem"


@dataclass(frozen=True, slots=True)
class IndexingTimes:
    """Seconds of both, run by run, and the ratio of the best."""

    table: str
    columns: int
    scan_seconds: list[float]
    indexing_seconds: list[float]
    warm_up_runs: int
    best_scan_seconds: float
    best_indexing_seconds: float
    ratio: float


def measure(spark: SparkSession, folder: Path, runs: int = 3, warm: int = 2) -> IndexingTimes:
    """Scan and index in turns, ``warm`` times before it counts."""
    known = table(spark, str(folder))
    scans: list[float] = []
    indexings: list[float] = []
    for _ in range(warm + runs):
        scans.append(_timed(lambda: _scan(spark, folder)))
        indexings.append(_timed(lambda: known.index(rebuild=True)))
    report = known.index(rebuild=True)
    best_scan, best_indexing = min(scans[warm:]), min(indexings[warm:])
    return IndexingTimes(
        table=f"TPC-H lineitem, {report.files} files, {report.rows_indexed:,} rows",
        columns=len(report.columns),
        scan_seconds=[round(seconds, 3) for seconds in scans],
        indexing_seconds=[round(seconds, 3) for seconds in indexings],
        warm_up_runs=warm,
        best_scan_seconds=best_scan,
        best_indexing_seconds=best_indexing,
        ratio=best_indexing / best_scan,
    )


def _scan(spark: SparkSession, folder: Path) -> None:
    spark.read.parquet(str(folder)).write.format("noop").mode("overwrite").save()


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started

"""How long indexing takes, compared with one scan of the same columns by Spark.

The table is TPC-H's ``lineitem`` in 40 files. The scan reads all columns into Spark's ``noop`` sink; indexing
is the whole call: listing the files, sampling them for value sets, computing all statistics, publishing
them. Both are run in turns in one session, after runs that only warm it up, and the best of each counts.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skipstone.api import table
from skipstone.errors import SkipstoneError

__all__ = ["make_lineitem", "measure"]

FILES = 40
SCALE = 1.0


def make_lineitem(folder: Path, scale: float = SCALE, files: int = FILES) -> Path:
    """The table's directory, below ``folder``."""
    beside = Path(sys.executable).with_name("tpchgen-cli")
    command = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if command is None:
        raise SkipstoneError(
            "TPC-H data is made by tpchgen-cli; install it with pip install 'skipstone[bench]'."
        )
    options = ["-s", f"{scale:g}", "--tables", "lineitem", "--parts", str(files), "-o", str(folder)]
    made = subprocess.run([command, "parquet", *options], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        last = (made.stderr.strip() or made.stdout.strip() or "no message").splitlines()[-1]
        raise SkipstoneError(f"tpchgen-cli failed: {last}")
    return folder / "lineitem"


def measure(spark: Any, folder: Path, runs: int = 3, warm: int = 2) -> dict[str, object]:
    """Seconds of both, run by run, and the ratio of the best."""
    known = table(spark, str(folder))
    scans: list[float] = []
    indexings: list[float] = []
    for _ in range(warm + runs):
        scans.append(_timed(lambda: _scan(spark, folder)))
        indexings.append(_timed(lambda: known.index(rebuild=True)))
    report = known.index(rebuild=True)
    best_scan, best_indexing = min(scans[warm:]), min(indexings[warm:])
    return {
        "table": f"TPC-H lineitem, {report.files} files, {report.rows_indexed:,} rows",
        "columns": len(report.columns),
        "scan_seconds": [round(seconds, 3) for seconds in scans],
        "indexing_seconds": [round(seconds, 3) for seconds in indexings],
        "warm_up_runs": warm,
        "best_scan_seconds": best_scan,
        "best_indexing_seconds": best_indexing,
        "ratio": best_indexing / best_scan,
    }


def _scan(spark: Any, folder: Path) -> None:
    spark.read.parquet(str(folder)).write.format("noop").mode("overwrite").save()


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started

"""Replaying queries with skipping on and off: the same results, fewer rows, files and bytes.

Results are compared without bringing them to the driver: the number of rows and a hash of each row that
does not depend on order, summed up. Floating-point columns are compared by their sums, within a tolerance,
because the order of additions differs when fewer files are read.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from skipstone.errors import SkipstoneError
from skipstone.spark.copied import copied_session
from skipstone.spark.explain import query_frame
from skipstone.spark.job_settings import DRAWN
from skipstone.spark.progress import Progress
from skipstone.spark.runtime import Runtime
from skipstone.spark.scans import DecidedScan, scans_of
from skipstone.spark.table_files import TableFiles
from skipstone.workload.queries import BrokenQuery, Query, Workload

__all__ = ["ReplayReport", "ReplayedQuery", "replay_queries"]

SWITCH = "spark.skipstone.enabled"
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class ReplayedQuery:
    """One query's figures, over all its scans of the table.

    ``rows_scanned`` counts the rows of the files that are read, ``rows_needed`` those that satisfy the
    filter. ``same_result`` is None when the query itself may give another result each time.
    """

    sql: str
    rows_total: int
    rows_scanned: int
    rows_needed: int
    files_total: int
    files_read: int
    bytes_read: int
    seconds_on: float
    seconds_off: float
    same_result: bool | None


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """All replayed queries, and the statements that could not be replayed."""

    queries: tuple[ReplayedQuery, ...]
    broken: tuple[BrokenQuery, ...]

    def summary(self) -> dict[str, object]:
        """Totals over the queries."""
        total = {
            name: sum(getattr(query, name) for query in self.queries)
            for name in (
                "rows_total",
                "rows_scanned",
                "rows_needed",
                "files_total",
                "files_read",
                "bytes_read",
            )
        }
        seconds = {
            name: sum(getattr(query, name) for query in self.queries)
            for name in ("seconds_on", "seconds_off")
        }
        share = 100.0 / total["rows_total"] if total["rows_total"] else 0.0
        return {
            "queries": len(self.queries),
            "broken": len(self.broken),
            **total,
            **seconds,
            "percent_scanned": total["rows_scanned"] * share,
            "percent_needed": total["rows_needed"] * share,
            "same_results": all(query.same_result is not False for query in self.queries),
        }

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "queries": [asdict(query) for query in self.queries],
            "broken": [asdict(broken) for broken in self.broken],
            "summary": self.summary(),
        }


def replay_queries(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    workload: Workload,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> ReplayReport:
    """Run every query twice, on and off in turn, and measure what each scan of the table read."""
    total_rows = _total_rows(spark, files)
    done: list[ReplayedQuery] = []
    broken = list(workload.broken)
    before = spark.conf.get(SWITCH, "true")
    try:
        for place, query in enumerate(workload.queries):
            if progress is not None:
                progress("replaying", place, len(workload.queries))
            try:
                done.append(_replay(spark, runtime, files, query, total_rows, place % 2 == 0, clock))
            except (SkipstoneError, PySparkException) as problem:
                first = str(problem).strip().splitlines()[0]
                broken.append(BrokenQuery(query.sql, first, query.position, query.line))
    finally:
        spark.conf.set(SWITCH, str(before))
    return ReplayReport(tuple(done), tuple(broken))


def _total_rows(spark: SparkSession, files: TableFiles) -> int:
    return files.frame(copied_session(spark, DRAWN), np.arange(len(files.files))).count()


def _replay(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    query: Query,
    total_rows: int,
    on_first: bool,
    clock: Callable[[], float],
) -> ReplayedQuery:
    spark.conf.set(SWITCH, "true")
    scans = [scan for scan in scans_of(runtime, query_frame(spark, query.sql)) if scan.root == files.root]
    seconds: dict[bool, float] = {}
    results: dict[bool, Any] = {}
    for on in (on_first, not on_first):
        spark.conf.set(SWITCH, str(on).lower())
        frame = _fingerprint(query_frame(spark, query.sql))
        started = clock()
        results[on] = frame.first()
        seconds[on] = clock() - started
    spark.conf.set(SWITCH, "true")
    same: bool | None = _same(results[True], results[False])
    if not same and _may_vary(query_frame(spark, query.sql)):
        same = None
    read = [_rows_read(runtime, files, scan, total_rows) for scan in scans]
    times = max(len(scans), 1)
    return ReplayedQuery(
        sql=query.sql,
        rows_total=total_rows * times,
        rows_scanned=sum(read) if scans else total_rows,
        rows_needed=sum(runtime.shim.rowsNeeded(scan.handle) for scan in scans) if scans else total_rows,
        files_total=len(files.files) * times,
        files_read=sum(scan.figures["files_kept"] for scan in scans) if scans else len(files.files),
        bytes_read=sum(scan.figures["bytes_kept"] for scan in scans)
        if scans
        else int(files.files.sizes.sum()),
        seconds_on=seconds[True],
        seconds_off=seconds[False],
        same_result=same,
    )


def _rows_read(runtime: Runtime, files: TableFiles, scan: DecidedScan, total_rows: int) -> int:
    """All rows but those of indexed files that are not read."""
    if scan.figures["failure"]:
        return total_rows
    catalog = runtime.catalog(scan.root)
    present = set(files.files.paths)
    unread = (scan.skipped | ~scan.offered).nonzero()[0]
    return total_rows - sum(int(catalog.blocks.rows[i]) for i in unread if catalog.files.paths[i] in present)


def _fingerprint(frame: DataFrame) -> DataFrame:
    names = [f"c{place}" for place in range(len(frame.columns))]
    renamed = frame.toDF(*names)
    floats = [n for n, (_, kind) in zip(names, renamed.dtypes, strict=True) if kind in ("float", "double")]
    others = [
        F.col(n).cast("string") if "map<" in kind or "variant" in kind else F.col(n)
        for n, (_, kind) in zip(names, renamed.dtypes, strict=True)
        if n not in floats
    ]
    hashed = F.sum(F.xxhash64(*others).cast("decimal(38,0)")) if others else F.lit(0)
    sums = [F.sum(F.when(F.abs(n) < float("inf"), F.col(n))) for n in floats]
    odd = [F.count(F.when(~(F.abs(n) < float("inf")), F.lit(1))) for n in floats]
    return renamed.agg(F.count(F.lit(1)), hashed, *sums, *odd)


def _same(on: Any, off: Any) -> bool:
    return len(on) == len(off) and all(_close(a, b) for a, b in zip(on, off, strict=True))


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=_TOLERANCE, abs_tol=1e-12)
    return bool(a == b)


def _may_vary(frame: DataFrame) -> bool:
    """A limit without a total order, or a function such as rand(), may differ from run to run."""
    plan = frame._jdf.queryExecution().optimizedPlan().toString()
    return "Limit" in plan or "rand(" in plan or "first(" in plan

"""Replaying queries with skipping on and off: the same results, fewer rows, files and bytes.

Results are compared without bringing them to the driver: the number of rows and a hash of each row that
does not depend on order, summed up. Floating-point columns are compared by their sums, within a tolerance,
because the order of additions differs when fewer files are read.

Only queries are run. Other statements of a log, and queries that do not read the table, are left out.
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
from skipstone.progress import Progress
from skipstone.spark.bridge.query_text import NotAQueryError, query_frame, reads_table
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.bridge.scans import DecidedScan, scans_of
from skipstone.spark.engine.job_settings import DRAWN
from skipstone.spark.engine.open_table import TableFiles
from skipstone.spark.engine.session_copy import copied_session
from skipstone.view import Cell, Grid, Share, View, Viewed, count, megabytes, percent
from skipstone.workload.queries import BrokenQuery, LeftOut, Query, Workload, broken_and_left_out

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


@dataclass(frozen=True, slots=True, repr=False)
class ReplayReport(Viewed):
    """All replayed queries, the statements that cannot be used, and those that were left out."""

    queries: tuple[ReplayedQuery, ...]
    broken: tuple[BrokenQuery, ...]
    left_out: tuple[LeftOut, ...] = ()

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
            "left_out": len(self.left_out),
            **total,
            **seconds,
            "percent_scanned": total["rows_scanned"] * share,
            "percent_needed": total["rows_needed"] * share,
            "same_results": all(query.same_result is not False for query in self.queries),
        }

    def view(self) -> View:
        """The totals as a sentence, and a row for each query."""
        queries = self.queries
        rows = sum(query.rows_total for query in queries)
        scanned = percent(sum(query.rows_scanned for query in queries), rows)
        needed = percent(sum(query.rows_needed for query in queries), rows)
        size = megabytes(sum(query.bytes_read for query in queries))
        off, on = sum(q.seconds_off for q in queries), sum(q.seconds_on for q in queries)
        text = (
            f"{count(len(queries), 'query')}: {scanned} of the rows scanned, {needed} needed; {size} in the "
            f"files that are read; {off:.1f} s without skipping, {on:.1f} s with."
        )
        for some, why in ((self.broken, "could not be used"), (self.left_out, "left out")):
            text += f" {count(len(some), 'statement')} {why}." if some else ""
        header = ("query", "needed", "scanned", "files", "off", "on", "same")
        return View(text, grids=(Grid("", header, tuple(map(_cells, queries))),) if queries else ())

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "queries": [asdict(query) for query in self.queries],
            **broken_and_left_out((*self.broken, *self.left_out)),
            "summary": self.summary(),
        }


def _cells(query: ReplayedQuery) -> tuple[Cell, ...]:
    return (
        " ".join(query.sql.split()),
        percent(query.rows_needed, query.rows_total),
        Share(query.rows_scanned, query.rows_total, percent(query.rows_scanned, query.rows_total)),
        f"{query.files_read:,}/{query.files_total:,}",
        f"{query.seconds_off:.2f} s",
        f"{query.seconds_on:.2f} s",
        {True: "yes", False: "NO", None: "varies"}[query.same_result],
    )


def replay_queries(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    workload: Workload,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> ReplayReport:
    """Run every query twice, on and off in turn, and measure what each scan of the table read."""
    _tell(progress, "counting rows", 0, workload)
    total_rows = _total_rows(spark, files)
    done: list[ReplayedQuery] = []
    unused = list(workload.broken)
    before = spark.conf.get(SWITCH, None)
    try:
        for place, query in enumerate(workload.queries):
            _tell(progress, "replaying queries", place, workload)
            where = (query.position, query.line, query.file)
            try:
                if reads_table(query_frame(spark, query.sql), files.root):
                    done.append(_replay(spark, runtime, files, query, total_rows, place % 2 == 0, clock))
                else:
                    unused.append(LeftOut(query.sql, "it does not read the table", *where))
            except NotAQueryError as problem:
                unused.append(LeftOut(query.sql, problem.reason, *where))
            except (SkipstoneError, PySparkException) as problem:
                first = str(problem).strip().splitlines()[0]
                unused.append(BrokenQuery(query.sql, first, *where))
        _tell(progress, "replaying queries", len(workload.queries), workload)
    finally:
        if before is None:
            spark.conf.unset(SWITCH)
        else:
            spark.conf.set(SWITCH, before)
    unused.sort(key=lambda statement: statement.position)
    left_out = tuple(each for each in unused if isinstance(each, LeftOut))
    broken = tuple(each for each in unused if not isinstance(each, LeftOut))
    return ReplayReport(tuple(done), broken, left_out)


def _tell(progress: Progress | None, what: str, done: int, workload: Workload) -> None:
    if progress is not None:
        progress(what, done, len(workload.queries))


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

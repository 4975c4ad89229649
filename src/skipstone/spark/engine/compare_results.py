"""A query run with skipping on and off, and whether both runs gave the same result.

Results are compared without bringing them to the driver: the number of rows and a hash of each row that
does not depend on order, summed up. Floating-point columns are compared by their sums, within a tolerance,
because the order of additions differs when fewer files are read.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from skipstone.spark.bridge.query_text import query_frame, reads_table
from skipstone.spark.bridge.scans import DecidedScan
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.job_settings import DRAWN
from skipstone.spark.engine.open_table import OpenTable

__all__ = ["SWITCH", "Compared", "compare_results", "count_stored_rows", "query_reads", "switch_restored"]

SWITCH = "spark.skipstone.enabled"
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What was decided about a query's scans, how long it ran, and whether the results are the same.

    ``same_result`` is None when the query itself may give another result each time.
    """

    scans: tuple[DecidedScan, ...]
    seconds_on: float
    seconds_off: float
    same_result: bool | None


@contextmanager
def switch_restored(spark: SparkSession) -> Iterator[None]:
    """Whether the session skips is as it was, once this block is left."""
    before = spark.conf.get(SWITCH, None)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(SWITCH)
        else:
            spark.conf.set(SWITCH, before)


def query_reads(engine: Engine, sql: str, root: str) -> bool:
    """Whether a query reads the files of a table; raises for a statement that is no query."""
    return reads_table(query_frame(engine.spark, sql), root)


def count_stored_rows(table: OpenTable) -> int:
    """How many rows the table's files hold, those behind deletion vectors included, as statistics do."""
    return table.frame(table.file_indices, table.engine.session(DRAWN)).count()


def compare_results(
    engine: Engine, sql: str, on_first: bool, clock: Callable[[], float] = time.perf_counter
) -> Compared:
    """Run a query with skipping on and off, in this order or the other; skipping is on afterwards."""
    spark = engine.spark
    spark.conf.set(SWITCH, "true")
    scans = engine.scans_of(sql)
    seconds: dict[bool, float] = {}
    results: dict[bool, Row | None] = {}
    for on in (on_first, not on_first):
        spark.conf.set(SWITCH, str(on).lower())
        frame = _fingerprint(query_frame(spark, sql))
        started = clock()
        results[on] = frame.first()
        seconds[on] = clock() - started
    spark.conf.set(SWITCH, "true")
    same: bool | None = _same(results[True], results[False])
    if not same and _may_vary(query_frame(spark, sql)):
        same = None
    return Compared(scans, seconds[True], seconds[False], same)


def _fingerprint(frame: DataFrame) -> DataFrame:
    names = [f"c{index}" for index in range(len(frame.columns))]
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


def _same(on: Row | None, off: Row | None) -> bool:
    if on is None or off is None:
        return on is off
    return len(on) == len(off) and all(_close(a, b) for a, b in zip(on, off, strict=True))


def _close(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=_TOLERANCE, abs_tol=1e-12)
    return bool(a == b)


def _may_vary(frame: DataFrame) -> bool:
    """A limit without a total order, or a function such as rand(), may differ from run to run."""
    plan = frame._jdf.queryExecution().optimizedPlan().toString()
    return "Limit" in plan or "rand(" in plan or "first(" in plan

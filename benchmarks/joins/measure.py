"""Tables for the joins, and each query with skipstone on and off in turns."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import skipstone
from benchmarks.cpu import cpu_seconds
from benchmarks.joins.queries import QUERIES, TRAINING, JoinQuery, calendar_sql
from benchmarks.pieces import Piece
from benchmarks.session_settings import SWITCH, session_settings
from skipstone.spark import SparkSession
from skipstone.workload.queries import Query, Workload

__all__ = ["LAYOUTS", "Joins"]

LAYOUTS = ("date", "qdtree")
_WARM_PAIRS = 5
_SMALL = ("part", "supplier", "nation", "orders")


@dataclass(frozen=True, slots=True)
class Joins:
    """Makes tables below ``home`` from what ``source`` has, lineitem in about ``blocks`` files."""

    spark: SparkSession
    home: Path
    source: Path
    blocks: int
    clock: Callable[[], float]

    def small(self) -> Piece:
        """All tables but lineitem."""
        for name in _SMALL:
            self.spark.read.parquet(str(self.source / f"{name}.parquet")).write.format("delta").save(
                str(self._fresh(name))
            )
        self.spark.sql(calendar_sql()).coalesce(1).write.format("delta").save(str(self._fresh("calendar")))
        return {"tables": [*_SMALL, "calendar"]}

    def laid_out(self, layout: str) -> Piece:
        """Lineitem in ranges of ship dates, or by a qd-tree for filters on its own columns."""
        rows = self.spark.read.parquet(str(self.source / "lineitem.parquet"))
        target = self._fresh(f"lineitem_{layout}")
        if layout == "date":
            rows = rows.repartitionByRange(self.blocks, "l_shipdate")
        rows.write.format("delta").save(str(target))
        table = skipstone.table(self.spark, f"lineitem={target}")
        if layout == "qdtree":
            log = Workload(tuple(map(Query, TRAINING)))
            table.optimize(log, "qdtree", max(1, rows.count() // self.blocks))
        else:
            table.index()
        files = len(list(target.glob("*.parquet")))
        return {"layout": layout, "files_with_old_ones": files}

    def timed(self, layout: str, pairs: int) -> Piece:
        """Every query, on and off in turns, after some pairs that only warm up.

        What Java compiles and collects beside a query is a good part of half a second, and now in one and
        then in the other. So what a query loses is the median over the pairs, and there are many.
        """
        lineitem = f"lineitem_{layout}"
        for name in (*_SMALL, "calendar"):
            self.spark.read.format("delta").load(str(self.home / name)).createOrReplaceTempView(name)
        table = skipstone.table(self.spark, f"{lineitem}={self.home / lineitem}")
        return {query.name: self._query(table, query, lineitem, pairs) for query in QUERIES}

    def _query(self, table: skipstone.Table, query: JoinQuery, lineitem: str, pairs: int) -> Piece:
        sql = query.sql.replace("{lineitem}", lineitem)
        seconds: dict[bool, list[float]] = {True: [], False: []}
        cpu: dict[bool, list[float]] = {True: [], False: []}
        answers: dict[bool, list[str]] = {}
        for number in range(-_WARM_PAIRS, pairs):
            for on in (True, False) if number % 2 else (False, True):
                with session_settings(self.spark, {SWITCH: str(on).lower()}):
                    started, cpu_before = self.clock(), cpu_seconds()
                    rows = self.spark.sql(sql).collect()
                    if number >= 0:
                        seconds[on].append(self.clock() - started)
                        cpu[on].append(cpu_seconds() - cpu_before)
                    answers[on] = sorted(map(repr, rows))
        scans = [scan for scan in table.explain(sql).scans if scan.root.endswith(lineitem)]
        runs = [join.last for scan in scans for join in scan.joins if join.last is not None]
        on_seconds, off_seconds = median(seconds[True]), median(seconds[False])
        return {
            "sql": sql,
            "skips": query.skips,
            "same_result": answers[True] == answers[False],
            "seconds_on": on_seconds,
            "seconds_off": off_seconds,
            "times_faster": off_seconds / on_seconds,
            "cpu_on": median(cpu[True]),
            "cpu_off": median(cpu[False]),
            "slower_percent": _more_percent(seconds),
            "more_cpu_percent": _more_percent(cpu),
            "files": runs[0].files if runs else sum(scan.files_total for scan in scans),
            "files_read": min(run.files_read for run in runs)
            if runs
            else sum(scan.files_read for scan in scans),
            "joins": [join.line() for scan in scans for join in scan.joins],
        }

    def _fresh(self, name: str) -> Path:
        shutil.rmtree(self.home / name, ignore_errors=True)
        return self.home / name


def _more_percent(taken: Mapping[bool, Sequence[float]]) -> float:
    """By how much a query takes more with skipstone on: the median over the pairs, in percent."""
    return median(100 * (on / off - 1) for on, off in zip(taken[True], taken[False], strict=True))

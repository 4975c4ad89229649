"""One table per layout, each made from the same denormalised rows, with the seconds that making it took.

A Delta table can be copied as a directory, since its log has relative paths. So skipstone's layouts and
Delta's own are each made in place on a copy of the table in its current layout, as a user would make them.
The ranges of SIGMOD'14 section 7.3.1 are written by Spark from a block number in SQL.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from benchmarks.context import context_of
from benchmarks.pieces import Piece
from benchmarks.session_settings import session_settings
from benchmarks.tpch.data import FILTERED
from benchmarks.tpch.queries import MONTH, TABLE
from benchmarks.tpch.values import REGIONS, SEGMENTS
from skipstone.actions.choose_layout import choose_layout
from skipstone.actions.context import Context
from skipstone.actions.optimize import Optimize, OptimizeReport, lay_out
from skipstone.actions.prepare import FitRequest
from skipstone.api import Table, table
from skipstone.errors import SkipstoneError
from skipstone.estimate.policy import Policy
from skipstone.layout.options import LayoutOptions
from skipstone.spark import SparkSession
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import Workload

__all__ = ["AS_LIES", "AUTO", "DELTA", "LAYOUTS", "RANGES", "Builder", "Log"]

AS_LIES = "as_lies"
AUTO = "auto"
_RANGE2 = " ".join(
    [
        "CAST(months_between(trunc(o_orderdate, 'MM'), DATE '1992-01-01') AS INT) * 125",
        f"+ array_position(array({', '.join(repr(name) for name in REGIONS)}), cr_name) * 25 - 25",
        f"+ array_position(array({', '.join(repr(name) for name in SEGMENTS)}), c_mktsegment) * 5 - 5",
        "+ CAST((l_quantity - 1) div 10 AS INT)",
    ]
)
RANGES: dict[str, tuple[str, int]] = {
    "range1": ("datediff(o_orderdate, DATE '1992-01-01')", 2406),
    "range2": (_RANGE2, 80 * 125),
}
"""The number of a row's block in SQL, and how many blocks there are."""
LAYOUTS: dict[str, LayoutOptions] = {
    "zorder": LayoutOptions(),
    "hilbert": LayoutOptions(),
    "sop": LayoutOptions(partition_by=MONTH, num_features=15, leave_out_dates=True),
    "qdtree": LayoutOptions(),
}
DELTA = ("delta_zorder", "delta_liquid")


@dataclass(frozen=True, slots=True)
class Log:
    """A training workload as the filters that it puts on the table; every layout is fitted on it."""

    entries: tuple[LoggedFilter, ...]


@dataclass(frozen=True, slots=True)
class OptimizeFor:
    """``optimize --force`` for a log that was parsed before, so that no time is spent on that."""

    name: ClassVar[str] = "optimize"

    log: Log
    layout: str
    options: LayoutOptions

    def validate(self, context: Context) -> None:
        """As ``optimize`` does."""
        Optimize(layout=self.layout, options=self.options).validate(context)

    def run(self, context: Context) -> OptimizeReport:
        """Fit the layout and rewrite the table, even if that is worse than what is there."""
        context.table.refresh()
        request = FitRequest(context.table.file_indices, self.log.entries, options=self.options)
        return lay_out(context, choose_layout(context, self.layout, request))


@dataclass(frozen=True, slots=True)
class Builder:
    """Makes tables below ``home``, with about ``blocks`` blocks where a layout lets one choose."""

    spark: SparkSession
    home: Path
    rows: int
    blocks: int
    clock: Callable[[], float]

    def open(self, name: str) -> Table:
        """The table of a layout, under the name that the queries use."""
        return table(self.spark, f"{TABLE}={self.home / name}")

    def as_lies(self) -> Piece:
        """Only statistics, for the table in its current layout."""
        return self._indexed(AS_LIES)

    def by_range(self, name: str) -> Piece:
        """A range layout: one file for each value of its block number."""
        sql, blocks = RANGES[name]
        started = self.clock()
        numbered = self.open(AS_LIES).frame().selectExpr("*", f"CAST({sql} AS INT) AS block")
        placed = numbered.repartitionById(blocks, "block").drop("block")
        writer = placed.write.format("delta").mode("overwrite")
        writer.option("delta.dataSkippingStatsColumns", ",".join(FILTERED)).save(str(self._fresh(name)))
        return {"rewrite_seconds": self.clock() - started, **self._indexed(name)}

    def by_layout(self, name: str, log: Log) -> Piece:
        """One of skipstone's layouts, fitted on the log."""
        self._copy(name)
        found = self.open(name)
        options = replace(LAYOUTS[name], block_rows=max(1, self.rows // self.blocks))
        started = self.clock()
        report = found.perform(OptimizeFor(log, name, options))
        return {**report.to_dict(), "optimize_seconds": self.clock() - started, "root": ""}

    def by_delta(self, name: str, columns: Sequence[str]) -> Piece:
        """Delta's own OPTIMIZE, by Z-order or by liquid clustering, into as many files."""
        path = self._copy(name)
        size = sum(file.stat().st_size for file in path.glob("*.parquet"))
        # Both make as many files as the table's size divided by this.
        values = {"spark.databricks.delta.optimize.maxFileSize": str(max(1, size // self.blocks))}
        listed = ", ".join(columns)
        with session_settings(self.spark, values):
            started = self.clock()
            if name == "delta_zorder":
                self.spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY ({listed})").collect()
            else:
                self.spark.sql(f"ALTER TABLE delta.`{path}` CLUSTER BY ({listed})")
                self.spark.sql(f"OPTIMIZE delta.`{path}` FULL").collect()
            seconds = self.clock() - started
        return {"rewrite_seconds": seconds, "columns": list(columns), **self._indexed(name)}

    def by_itself(self, queries: Workload) -> Piece:
        """The table with the queries in its log decides once, and acts; what it wrote down."""
        self._copy(AUTO)
        opened = self.open(AUTO)
        opened.index()
        _, broken = opened.import_log(queries)
        if broken:
            raise SkipstoneError(f"A query cannot be logged: {broken[0]}")
        decision = opened.auto(policy=Policy(block_rows=max(1, self.rows // self.blocks)))
        return {"acted": decision.acted, "sentence": decision.sentence, **decision.numbers}

    def _indexed(self, name: str) -> Piece:
        opened = self.open(name)
        started = self.clock()
        opened.index(expressions=(MONTH,))
        return {"index_seconds": self.clock() - started, "files_after": len(context_of(opened).snapshot)}

    def _copy(self, name: str) -> Path:
        target = self._fresh(name)
        shutil.copytree(self.home / AS_LIES, target, ignore=shutil.ignore_patterns("_skipstone"))
        return target

    def _fresh(self, name: str) -> Path:
        target = self.home / name
        shutil.rmtree(target, ignore_errors=True)
        return target

"""A table as its user sees it: by path or by name, with everything that skipstone can do for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skipstone.errors import SkipstoneError
from skipstone.optimize.advise import Advice, advise
from skipstone.optimize.into_delta import convert_to_delta, copy_to_delta
from skipstone.optimize.optimize import optimize_new, optimize_table
from skipstone.optimize.prepare import Wishes, parse_log, prepare
from skipstone.optimize.run import OptimizeReport
from skipstone.spark import SparkSession
from skipstone.spark.enable import enable
from skipstone.spark.progress import Progress
from skipstone.spark.table import IndexedTable, split_source
from skipstone.workload.analysis import analyze
from skipstone.workload.curves import curves
from skipstone.workload.parsed_json import parsed_workload_json
from skipstone.workload.predicates import query_predicates
from skipstone.workload.queries import BrokenQuery, Workload
from skipstone.workload.report import AnalysisReport

__all__ = ["Table", "WorkloadAnalysis", "table"]


@dataclass(frozen=True, slots=True, eq=False)
class WorkloadAnalysis:
    """A report on a log, the parsed log itself, and the statements that cannot be used."""

    report: AnalysisReport
    parsed: dict[str, Any]
    unusable: tuple[BrokenQuery, ...]


def table(spark: SparkSession, source: str) -> Table:
    """A Delta table or a directory of Parquet files, by path or by catalog name.

    ``source`` may be ``name=path``; then ``name`` is what queries call the table.
    """
    enable(spark)
    name, path = split_source(source)
    found = Table(spark, path, name)
    found.files()
    if name is not None:
        found.frame().createOrReplaceTempView(name)
    return found


class Table(IndexedTable):
    """One table. Made by :func:`table`."""

    def _called(self) -> str:
        return self.name or self.source.rstrip("/").rpartition("/")[2]

    def analyze(
        self, queries: Workload, num_features: int | None = None, threshold: float | None = None
    ) -> WorkloadAnalysis:
        """What a query log says about this table: predicates, features, commonality and stability."""
        entries, unusable = parse_log(self.spark, self.files(), self._called(), queries)
        if not entries:
            raise SkipstoneError(f"No query of the log reads {self.source}.")
        analysis = analyze(entries, threshold=threshold, num_features=num_features)
        report = AnalysisReport(self._called(), analysis, curves(query_predicates(entries)))
        parsed = parsed_workload_json(entries, analysis, table=self._called())
        return WorkloadAnalysis(report, parsed, unusable)

    def advise(
        self,
        queries: Workload,
        block_rows: int | None = None,
        partition_by: str | None = None,
        num_features: int | None = None,
        progress: Progress | None = None,
    ) -> Advice:
        """Simulate every layout on a sample and say what each would let the queries skip."""
        files = self.files()
        entries, unusable = parse_log(self.spark, files, self._called(), queries)
        wishes = Wishes(block_rows, partition_by, num_features)
        return advise(prepare(self.spark, files, entries, unusable, wishes), progress=progress)

    def optimize(
        self,
        queries: Workload,
        layout: str = "auto",
        block_rows: int | None = None,
        partition_by: str | None = None,
        num_features: int | None = None,
        output: str | None = None,
        convert: bool = False,
        leave_out_dates: bool = False,
        progress: Progress | None = None,
    ) -> OptimizeReport:
        """Rearrange the table in one commit; with ``output`` a new Delta table instead."""
        target = self._target(output, convert)
        files = target.files()
        target._runtime.refresh(files.root)
        entries, unusable = parse_log(self.spark, files, self._called(), queries)
        wishes = Wishes(block_rows, partition_by, num_features, leave_out_dates=leave_out_dates)
        report = optimize_table(self.spark, self._runtime, files, entries, unusable, layout, wishes, progress)
        if self.name is not None and target is self:
            self.frame().createOrReplaceTempView(self.name)
        return report

    def _target(self, output: str | None, convert: bool) -> Table:
        files = self.files()
        if output is not None:
            copy_to_delta(self.spark, files, output)
            return Table(self.spark, output, self.name)
        if convert and files.format != "delta":
            convert_to_delta(self.spark, files)
        return self

    def optimize_new(self, blocks_worth: float = 2.0, progress: Progress | None = None) -> OptimizeReport:
        """Lay out only the files that no layout covers yet, once enough rows have gathered."""
        files = self._current()
        return optimize_new(self.spark, self._runtime, files, blocks_worth, progress)

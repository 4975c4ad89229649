"""``optimize``: prepare, fit, rewrite, report. The whole table, or only what no layout covers yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from skipstone.catalog.layouts import LayoutRecord, load_layout
from skipstone.errors import SkipstoneError
from skipstone.optimize.advise import AS_IT_LIES, Advice
from skipstone.optimize.cost_store import load_model
from skipstone.optimize.economy import economy_of
from skipstone.optimize.prepare import Prepared, Wishes, prepare
from skipstone.optimize.run import OptimizeReport, fit, rewrite_table
from skipstone.optimize.unclustered import newest_layout, unclustered_files
from skipstone.predicate.blocks import Counts
from skipstone.predicate.codec import from_json
from skipstone.spark import SparkSession
from skipstone.spark.progress import Progress
from skipstone.spark.runtime import Runtime
from skipstone.spark.table_files import TableFiles
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import BrokenQuery

__all__ = ["optimize_new", "optimize_table"]


def optimize_table(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    entries: Sequence[LoggedFilter],
    unusable: Sequence[BrokenQuery],
    layout: str,
    wishes: Wishes,
    progress: Progress | None = None,
    chosen: Counts | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> OptimizeReport:
    """Lay the chosen files of a Delta table out anew, all of them by default."""
    if files.format != "delta":
        raise SkipstoneError(
            f"{files.root} is a directory of Parquet files, which cannot be replaced in one step; "
            "give --output for a new Delta table, or --convert to make this one a Delta table first."
        )
    places = np.arange(len(files.files)) if chosen is None else chosen
    started = clock()
    prepared = prepare(spark, files, entries, unusable, wishes, places)
    economy = economy_of(spark, runtime, files, places, load_model(spark), entries)
    name, fitted, advice = fit(spark, prepared, places, layout, progress, economy)
    fit_seconds = clock() - started
    if fitted is None:
        reason = "no layout would let the queries of the log skip more than the table as it lies"
        return _report(prepared, advice, AS_IT_LIES, "", reason, fit_seconds)
    started = clock()
    layout_id, rewritten = rewrite_table(spark, runtime, prepared, places, name, fitted, progress)
    report = _report(prepared, advice, name, layout_id, fitted.note, fit_seconds)
    return OptimizeReport(
        **{
            **report.to_dict(),  # type: ignore[arg-type]
            "files_after": rewritten.files_after,
            "rows": rewritten.rows,
            "rewrite_seconds": clock() - started,
            "version": rewritten.version,
        }
    )


def _report(
    prepared: Prepared, advice: Advice, layout: str, layout_id: str, reason: str, fit_seconds: float
) -> OptimizeReport:
    shares = {row.layout: row.percent_scanned for row in advice.layouts}
    return OptimizeReport(
        root=prepared.files.root,
        layout=layout,
        layout_id=layout_id,
        reason=reason,
        percent_before=shares.get(AS_IT_LIES),
        percent_after=shares.get(layout),
        files_before=len(prepared.files.files),
        files_after=len(prepared.files.files),
        rows=prepared.total_rows,
        fit_seconds=fit_seconds,
        rewrite_seconds=0.0,
        version=-1,
    )


def optimize_new(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    blocks_worth: float = 2.0,
    progress: Progress | None = None,
) -> OptimizeReport:
    """Lay out the files that no layout covers, by the strategy and the workload of the newest layout.

    Nothing is done until ``blocks_worth`` blocks of new rows have gathered. The other files stay.
    """
    catalog = runtime.catalog(files.root)
    layout = newest_layout(files.files, catalog)
    if not layout:
        raise SkipstoneError(f"{files.root} has no layout yet; optimize it with a query log first.")
    record = load_layout(runtime.store(files.root), layout)
    places = unclustered_files(files.files, catalog, record.block_rows)
    rows = files.live(spark, places).count() if len(places) else 0
    if rows < blocks_worth * record.block_rows:
        reason = (
            f"only {rows:,} rows lie outside the layout; "
            f"{blocks_worth:g} blocks of {record.block_rows:,} rows are awaited"
        )
        return OptimizeReport(
            files.root, record.strategy, "", reason, None, None, len(places), len(places), rows, 0.0, 0.0, -1
        )
    return optimize_table(
        spark, runtime, files, _entries(record), (), record.strategy, _wishes(record), progress, places
    )


def _entries(record: LayoutRecord) -> tuple[LoggedFilter, ...]:
    return tuple(LoggedFilter(from_json(filter_), weight) for filter_, weight in record.workload)


def _wishes(record: LayoutRecord) -> Wishes:
    return Wishes(block_rows=record.block_rows, partition_by=record.partition_by)

"""``optimize``: prepare, fit, rewrite, report. The whole table, or only what no layout covers yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from skipstone.catalog.layouts import LayoutRecord, filters_of_layout, load_layout
from skipstone.errors import SkipstoneError
from skipstone.optimize.advise import AS_IT_LIES, Advice
from skipstone.optimize.cost_store import load_model
from skipstone.optimize.economy import economy_of
from skipstone.optimize.prepare import Prepared, Wishes
from skipstone.optimize.run import OptimizeReport, fit, rewrite_table
from skipstone.optimize.unclustered import newest_layout, unclustered_files
from skipstone.optimize.usable import prepare_usable
from skipstone.predicate.blocks import Counts
from skipstone.spark import SparkSession
from skipstone.spark.column_names import ColumnNames
from skipstone.spark.progress import Progress
from skipstone.spark.runtime import Runtime
from skipstone.spark.table_files import TableFiles
from skipstone.workload.log import columns_gone
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
    prepared = prepare_usable(spark, files, entries, unusable, wishes, places)
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
            "unusable": prepared.unusable,
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
        unusable=prepared.unusable,
    )


def optimize_new(
    spark: SparkSession,
    runtime: Runtime,
    reopen: Callable[[], TableFiles],
    blocks_worth: float = 2.0,
    progress: Progress | None = None,
) -> OptimizeReport:
    """Lay out the files that no layout covers, by the strategy and the workload of the newest layout.

    A partition of the table waits until ``blocks_worth`` blocks of its rows have gathered; then those files
    are rewritten, in a commit of their own. All other files stay. ``reopen`` lists the table's files anew.
    """
    files = reopen()
    layout = newest_layout(files.files, runtime.catalog(files.root))
    if not layout:
        raise SkipstoneError(f"{files.root} has no layout yet; optimize it with a query log first.")
    record = load_layout(runtime.store(files.root), layout)
    waiting = _waiting(runtime, files, record)
    rows = {part: files.live(spark, places).count() for part, places in waiting.items()}
    ready = [part for part, count in rows.items() if count >= blocks_worth * record.block_rows]
    if not ready:
        outside = sum(rows.values())
        where = "" if len(rows) < 2 else f" in {len(rows):,} partitions"
        reason = (
            f"only {outside:,} rows lie outside the layout{where}; "
            f"{blocks_worth:g} blocks of {record.block_rows:,} rows are awaited"
        )
        count = sum(len(places) for places in waiting.values())
        return OptimizeReport(
            files.root,
            record.strategy,
            "",
            reason,
            None,
            None,
            count,
            count,
            sum(rows.values()),
            0.0,
            0.0,
            -1,
        )
    reports = []
    for part in ready:
        files = reopen()
        places = _waiting(runtime, files, record)[part]
        (workload, unusable), wishes = _entries(record, files), _wishes(record)
        reports.append(
            optimize_table(
                spark, runtime, files, workload, unusable, record.strategy, wishes, progress, places
            )
        )
    return _together(reports)


def _waiting(runtime: Runtime, files: TableFiles, record: LayoutRecord) -> dict[str, Counts]:
    """The places of the files outside the layout, by partition of the table."""
    parts = files.partitions()
    found: dict[str, list[int]] = {}
    for place in unclustered_files(files.files, runtime.catalog(files.root), record.block_rows).tolist():
        found.setdefault(parts[place], []).append(place)
    return {part: np.array(found[part], np.int64) for part in sorted(found)}


def _together(reports: Sequence[OptimizeReport]) -> OptimizeReport:
    """One report about several partitions."""
    if len(reports) == 1:
        return reports[0]
    total = reports[-1].to_dict()
    for name in ("files_before", "files_after", "rows", "fit_seconds", "rewrite_seconds"):
        total[name] = sum(getattr(report, name) for report in reports)
    total["percent_before"] = total["percent_after"] = None
    total["reason"] = f"{len(reports):,} partitions, one after the other"
    total["unusable"] = tuple(dict.fromkeys(each for report in reports for each in report.unusable))
    return OptimizeReport(**total)  # type: ignore[arg-type]


def _entries(
    record: LayoutRecord, files: TableFiles
) -> tuple[tuple[LoggedFilter, ...], tuple[BrokenQuery, ...]]:
    """The workload of a layout, without the filters on columns that were dropped since.

    A filter that cannot be read is left out too, and named.
    """
    known = ColumnNames.from_schema(files.schema).display
    stored, unreadable = filters_of_layout(record)
    entries = (LoggedFilter(filter_, weight) for filter_, weight in stored)
    return (
        tuple(entry for entry in entries if not columns_gone(entry.filter, known)),
        tuple(BrokenQuery(text, f"layout {record.id} has it, and it cannot be read") for text in unreadable),
    )


def _wishes(record: LayoutRecord) -> Wishes:
    return Wishes(block_rows=record.block_rows, partition_by=record.partition_by, curve=record.curve)

"""``optimize``: choose, refuse what would be worse, rewrite, report. The whole table, or only what no layout
covers yet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace

import numpy as np

from skipstone.actions.choose_layout import Choice, Request, Work, choose, choose_again
from skipstone.actions.prepare import Wishes
from skipstone.actions.rewrite import OptimizeReport, rewrite_table
from skipstone.catalog.column_names import ColumnNames
from skipstone.catalog.layouts import LayoutRecord
from skipstone.errors import SkipstoneError
from skipstone.estimate.advice import AS_IT_LIES
from skipstone.estimate.unclustered import newest_layout, unclustered_files
from skipstone.layout.stored_layout import StoredLayout, stored_layout
from skipstone.progress import Progress, Steps
from skipstone.pruning.blocks import Counts
from skipstone.spark import SparkSession
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.job_progress import watch
from skipstone.spark.engine.job_settings import DRAWN
from skipstone.spark.engine.open_table import TableFiles
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.spark.engine.session_copy import copied_session
from skipstone.workload.logged_scans import columns_gone
from skipstone.workload.predicates import LoggedFilter

__all__ = ["Target", "optimize_new", "optimize_table"]

Target = Callable[[], AbstractContextManager[TableFiles]]
"""Makes another table of the same rows, and takes it away again if what follows fails."""
_FORCE = "say --force (in Python force=True) if that is meant"

_CHOOSING, _COPYING, _REWRITING = 5, 2, 8
"""The share that each step has in the work, about."""


def optimize_table(
    work: Work,
    request: Request,
    target: Target | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> OptimizeReport:
    """Lay a Delta table out anew, or the ``target`` that is made from it once all is known to fit."""
    files = work.files
    if target is None:
        if files.format != "delta":
            raise SkipstoneError(
                f"{files.root} is a directory of Parquet files, which cannot be replaced in one step; "
                "give --output for a new Delta table, or --convert to make this one a Delta table first."
            )
        Rewriting(work.spark, work.runtime, files.root)  # refuses tables that must not be rewritten
    shares = {"choosing": _CHOOSING, "copying": 0 if target is None else _COPYING, "rewriting": _REWRITING}
    with Steps(work.progress, len(work.all_places), shares) as steps:
        return _optimize(work, request, target, steps, clock)


def _optimize(
    work: Work, request: Request, target: Target | None, steps: Steps, clock: Callable[[], float]
) -> OptimizeReport:
    chosen = choose(replace(work, progress=steps.step("choosing")), request, clock)
    work = replace(work, progress=None)
    if chosen.worse and not request.force:
        raise SkipstoneError(
            f"Nothing was written: {chosen.worse}; choose another layout (skipstone advise compares them), "
            f"or {_FORCE}."
        )
    if target is None:
        return _lay_out(replace(work, progress=steps.step("rewriting")), chosen, clock)
    with ExitStack() as stack:
        with watch(work.spark, steps.step("copying"), "copying blocks"):
            made = stack.enter_context(target())
        rewriting = replace(work, progress=steps.step("rewriting"))
        if chosen.fitted is None:
            return _lay_out(rewriting, replace(chosen, prepared=replace(chosen.prepared, files=made)), clock)
        again = choose_again(work, request, chosen, made)
        return _lay_out(replace(rewriting, files=made), again, clock)


def _lay_out(work: Work, chosen: Choice, clock: Callable[[], float]) -> OptimizeReport:
    """Rewrite the files that a choice was made for."""
    if chosen.fitted is None:
        reason = "no layout would let the queries of the log skip more than the table as it lies"
        return _report(replace(chosen, layout=AS_IT_LIES), reason)
    started = clock()
    prepared = chosen.prepared
    layout_id, rewritten = rewrite_table(
        work.spark, work.runtime, prepared, prepared.places, chosen.layout, chosen.fitted, work.progress
    )
    return replace(
        _report(chosen, chosen.fitted.note),
        layout_id=layout_id,
        files_after=rewritten.files_after,
        rows=rewritten.rows,
        rewrite_seconds=clock() - started,
        version=rewritten.version,
    )


def _report(chosen: Choice, reason: str) -> OptimizeReport:
    """About files that are as they were."""
    files = chosen.prepared.files
    return OptimizeReport(
        root=files.root,
        layout=chosen.layout,
        layout_id="",
        reason=reason,
        percent_before=chosen.percent_before,
        percent_after=chosen.percent_after,
        files_before=len(files.files),
        files_after=len(files.files),
        rows=chosen.prepared.total_rows,
        fit_seconds=chosen.fit_seconds,
        rewrite_seconds=0.0,
        version=-1,
        unusable=chosen.prepared.unusable,
    )


def optimize_new(
    spark: SparkSession,
    runtime: Runtime,
    reopen: Callable[[], TableFiles],
    blocks_worth: float = 2.0,
    progress: Progress | None = None,
    force: bool = False,
) -> OptimizeReport:
    """Lay out the files that no layout covers, by the strategy and the workload of the newest layout.

    A partition of the table waits until ``blocks_worth`` blocks of its rows have gathered; then those files
    are rewritten, in a commit of their own. All other files stay. ``reopen`` lists the table's files anew.
    A partition that somebody else lays out meanwhile is passed over, and so is one that would become worse,
    unless it is forced.
    """
    files = reopen()
    stored = _newest(runtime, files)
    record = stored.record
    waiting = _waiting(runtime, files, record)
    session = copied_session(spark, DRAWN)
    rows = {part: files.live(session, places).count() for part, places in waiting.items()}
    ready = [part for part, count in rows.items() if count >= blocks_worth * record.block_rows]
    if not ready:
        where = "" if len(rows) < 2 else f" in {len(rows):,} partitions"
        reason = (
            f"only {sum(rows.values()):,} rows lie outside the layout{where}; "
            f"{blocks_worth:g} blocks of {record.block_rows:,} rows are awaited"
        )
        return _left(files, record, waiting, rows, reason)
    reports, worse = [], []
    steps = Steps(progress, sum(len(waiting[part]) for part in ready), {p: len(waiting[p]) for p in ready})
    for part in ready:
        seen = {files.files.paths[place] for place in waiting[part].tolist()}
        now = reopen()
        places = _waiting(runtime, now, record).get(part)
        if places is None:
            continue
        if seen != {now.files.paths[place] for place in places.tolist()}:
            count = now.live(session, places).count()
            if count < blocks_worth * record.block_rows:
                continue
        told = Steps(steps.step(part), len(places), {"choosing": _CHOOSING, "rewriting": _REWRITING})
        work = Work(
            spark, runtime, now, _entries(stored, now), stored.unusable, told.step("choosing"), places
        )
        chosen = choose(work, Request(record.strategy, _wishes(record)))
        if chosen.worse and not force:
            worse.append(chosen.worse)
            continue
        reports.append(_lay_out(replace(work, progress=told.step("rewriting")), chosen, time.perf_counter))
    if reports:
        return _together(reports, worse)
    reason = f"{worse[0]}; {_FORCE}" if worse else "somebody else has laid out meanwhile what waited"
    return _left(files, record, waiting, rows, reason)


def _newest(runtime: Runtime, files: TableFiles) -> StoredLayout:
    layout = newest_layout(files.files, runtime.catalog(files.root))
    if not layout:
        raise SkipstoneError(f"{files.root} has no layout yet; optimize it with a query log first.")
    stored = stored_layout(runtime.store(files.root), layout, files.root)
    if stored is None:
        raise SkipstoneError(
            f"{files.root} has lost the description of its newest layout {layout}; optimize it with a query "
            "log first."
        )
    return stored


def _left(
    files: TableFiles,
    record: LayoutRecord,
    waiting: dict[str, Counts],
    rows: dict[str, int],
    reason: str,
) -> OptimizeReport:
    """About new files that stay as they are."""
    count = sum(len(places) for places in waiting.values())
    return OptimizeReport(
        root=files.root,
        layout=record.strategy,
        layout_id="",
        reason=reason,
        percent_before=None,
        percent_after=None,
        files_before=count,
        files_after=count,
        rows=sum(rows.values()),
        fit_seconds=0.0,
        rewrite_seconds=0.0,
        version=-1,
    )


def _waiting(runtime: Runtime, files: TableFiles, record: LayoutRecord) -> dict[str, Counts]:
    """The places of the files outside the layout, by partition of the table."""
    parts = files.partitions()
    found: dict[str, list[int]] = {}
    for place in unclustered_files(files.files, runtime.catalog(files.root), record.block_rows).tolist():
        found.setdefault(parts[place], []).append(place)
    return {part: np.array(found[part], np.int64) for part in sorted(found)}


def _together(reports: Sequence[OptimizeReport], worse: Sequence[str]) -> OptimizeReport:
    """One report about several partitions; ``worse`` are the sentences about those that were left alone."""
    left = f"; {len(worse):,} more stay as they are, for {worse[0]}" if worse else ""
    if len(reports) == 1:
        return replace(reports[0], reason=reports[0].reason + left)
    names = ("files_before", "files_after", "rows", "fit_seconds", "rewrite_seconds")
    sums = {name: sum(getattr(report, name) for report in reports) for name in names}
    return replace(
        reports[-1],
        **sums,
        percent_before=None,
        percent_after=None,
        reason=f"{len(reports):,} partitions, one after the other{left}",
        unusable=tuple(dict.fromkeys(each for report in reports for each in report.unusable)),
    )


def _entries(stored: StoredLayout, files: TableFiles) -> tuple[LoggedFilter, ...]:
    """The workload of a layout, without the filters on columns that were dropped since."""
    known = ColumnNames.from_schema(files.schema).display
    return tuple(entry for entry in stored.workload if not columns_gone(entry.filter, known))


def _wishes(record: LayoutRecord) -> Wishes:
    return Wishes(block_rows=record.block_rows, partition_by=record.partition_by, curve=record.curve)

"""Laying out only the files that no layout covers yet, by the strategy and workload of the newest layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from skipstone.actions.choose_layout import LayoutChoice, choose_layout
from skipstone.actions.context import Context
from skipstone.actions.optimize import FORCE, OptimizeReport, lay_out
from skipstone.actions.prepare import FitRequest
from skipstone.arguments import checked
from skipstone.catalog.layout_records import LayoutRecord
from skipstone.errors import SkipstoneError
from skipstone.estimate.unclustered import newest_layout, unclustered_files
from skipstone.layout.options import LayoutOptions
from skipstone.layout.stored_layout import StoredLayout, stored_layout
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.draw_sample import count_rows
from skipstone.workload.logged_scans import columns_gone

__all__ = ["OptimizeNew"]

_SHARES = {"choosing": 5, "rewriting": 8}


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The files of one partition of the table that wait for a layout."""

    partition: str
    paths: frozenset[str]
    rows: int


@dataclass(frozen=True, slots=True)
class OptimizeNew:
    """Lay out the files that no layout covers, a partition of the table at a time, each in its own commit.

    A partition waits until ``blocks_worth`` blocks of its rows have gathered. One that somebody else lays out
    meanwhile is passed over, and so is one that would become worse, unless it is forced.
    """

    name: ClassVar[str] = "optimize --new-only"

    blocks_worth: float = 2.0
    force: bool = False

    def validate(self, context: Context) -> None:
        """Refuse a number out of range."""
        checked(blocks_worth=self.blocks_worth)

    def run(self, context: Context) -> OptimizeReport:
        """Lay out what has gathered; a report that says why if that is nothing."""
        context.table.refresh()
        stored = _newest(context)
        wanted = self.blocks_worth * stored.record.block_rows
        waiting = _waiting(context, stored.record)
        ready = [part for part in waiting if part.rows >= wanted]
        if not ready:
            return _left(context, stored.record, waiting, self._awaited(waiting, stored.record))
        reports: list[OptimizeReport] = []
        worse: list[str] = []
        shares = {part.partition: len(part.paths) for part in ready}
        with context.steps(sum(shares.values()), shares) as steps:
            for part in ready:
                now = context.reopened().reporting_to(steps.step(part.partition))
                found = self._lay_out(now, stored, part, wanted)
                if isinstance(found, str):
                    worse.append(found)
                elif found is not None:
                    reports.append(found)
        if reports:
            return _together(reports, worse)
        reason = f"{worse[0]}; {FORCE}" if worse else "somebody else has laid out meanwhile what waited"
        return _left(context, stored.record, waiting, reason)

    def _lay_out(
        self, context: Context, stored: StoredLayout, seen: _Waiting, wanted: float
    ) -> OptimizeReport | str | None:
        """The report; why it would be worse; or None if there is no longer enough that waits."""
        context.table.refresh()
        indices = _indices_outside(context, stored.record).get(seen.partition)
        if indices is None:
            return None
        same = {context.snapshot.files.paths[index] for index in indices.tolist()} == seen.paths
        if not same and count_rows(context.table, indices) < wanted:
            return None
        steps = context.steps(len(indices), _SHARES)
        chosen = self._chosen(context.reporting_to(steps.step("choosing")), stored, indices)
        if chosen.worse and not self.force:
            return chosen.worse
        return lay_out(context.reporting_to(steps.step("rewriting")), chosen)

    def _chosen(self, context: Context, stored: StoredLayout, indices: Counts) -> LayoutChoice:
        known = context.snapshot.names.display
        # Filters on columns that were dropped since can no longer be asked.
        entries = tuple(entry for entry in stored.workload if not columns_gone(entry.filter, known))
        record = stored.record
        options = LayoutOptions(
            block_rows=record.block_rows, partition_by=record.partition_by, own=record.options
        )
        request = FitRequest(indices, entries, stored.unusable, options)
        return choose_layout(context, record.strategy, request)

    def _awaited(self, waiting: Sequence[_Waiting], record: LayoutRecord) -> str:
        where = "" if len(waiting) <= 1 else f" in {len(waiting):,} partitions"
        return (
            f"only {sum(part.rows for part in waiting):,} rows lie outside the layout{where}; "
            f"{self.blocks_worth:g} blocks of {record.block_rows:,} rows are awaited"
        )


def _newest(context: Context) -> StoredLayout:
    root = context.snapshot.root
    layout = newest_layout(context.snapshot.files, context.catalog)
    if not layout:
        raise SkipstoneError(f"{root} has no layout yet; optimize it with a query log first.")
    stored = stored_layout(context.store, layout, root)
    if stored is None:
        raise SkipstoneError(
            f"{root} has lost the description of its newest layout {layout}; optimize it with a query "
            "log first."
        )
    return stored


def _waiting(context: Context, record: LayoutRecord) -> list[_Waiting]:
    paths = context.snapshot.files.paths
    return [
        _Waiting(
            partition,
            frozenset(paths[index] for index in indices.tolist()),
            count_rows(context.table, indices),
        )
        for partition, indices in _indices_outside(context, record).items()
    ]


def _indices_outside(context: Context, record: LayoutRecord) -> Mapping[str, Counts]:
    """The indices of the files outside the layout, by partition of the table."""
    parts = context.snapshot.partitions
    found: dict[str, list[int]] = {}
    outside = unclustered_files(context.snapshot.files, context.catalog, record.block_rows)
    for index in outside.tolist():
        found.setdefault(parts[index], []).append(index)
    return {part: np.array(found[part], np.int64) for part in sorted(found)}


def _left(context: Context, record: LayoutRecord, waiting: Sequence[_Waiting], reason: str) -> OptimizeReport:
    """About new files that stay as they are."""
    count = sum(len(part.paths) for part in waiting)
    return OptimizeReport(
        root=context.snapshot.root,
        layout=record.strategy,
        layout_id="",
        reason=reason,
        percent_before=None,
        percent_after=None,
        files_before=count,
        files_after=count,
        rows=sum(part.rows for part in waiting),
        fit_seconds=0.0,
        rewrite_seconds=0.0,
        version=-1,
    )


def _together(reports: Sequence[OptimizeReport], worse: Sequence[str]) -> OptimizeReport:
    """One report about several partitions; ``worse`` are the sentences about those that were left alone."""
    left = f"; {len(worse):,} more stay as they are, for {worse[0]}" if worse else ""
    if len(reports) == 1:
        return replace(reports[0], reason=reports[0].reason + left)
    return replace(
        reports[-1],
        files_before=sum(report.files_before for report in reports),
        files_after=sum(report.files_after for report in reports),
        rows=sum(report.rows for report in reports),
        fit_seconds=sum(report.fit_seconds for report in reports),
        rewrite_seconds=sum(report.rewrite_seconds for report in reports),
        percent_before=None,
        percent_after=None,
        reason=f"{len(reports):,} partitions, one after the other{left}",
        unusable=tuple(dict.fromkeys(each for report in reports for each in report.unusable)),
    )

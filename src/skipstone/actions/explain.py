"""Explaining a query: planned, not run; every file that is skipped has a reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from skipstone.actions.context import Context
from skipstone.catalog.copy_report import copy_reports
from skipstone.predicate.limits import within_limits
from skipstone.predicate.readable import readable
from skipstone.predicate.render import to_sql
from skipstone.pruning.masks import Flags
from skipstone.pruning.partitions import partition_filter
from skipstone.pruning.read_reasons import ReadFiles, read_reasons
from skipstone.pruning.report import (
    Explanation,
    ScanReport,
    skip_reasons,
    unused_predicates,
)
from skipstone.spark import DataFrame
from skipstone.spark.bridge.question import Question
from skipstone.spark.bridge.scans import DecidedScan

__all__ = ["Explain", "Explanation", "pruned_by_spark", "scan_report"]


@dataclass(frozen=True, slots=True)
class Explain:
    """Which files a query reads and skips, and why, for every scan of an indexed table that has a filter."""

    name: ClassVar[str] = "explain"

    query: str | DataFrame

    def validate(self, context: Context) -> None:
        """What is no query is refused when it is planned, and nothing is ever written."""

    def run(self, context: Context) -> Explanation:
        """Plan the query anew and describe what was decided."""
        context.report("planning the query", 0, 1)
        scans = context.engine.scans_of(self.query)
        explanation = Explanation(tuple(map(scan_report, scans)))
        context.report("planning the query", 1, 1)
        return explanation


def scan_report(scan: DecidedScan) -> ScanReport:
    """What was decided about one scan."""
    figures = scan.figures
    report = ScanReport(
        root=scan.root,
        filter="",
        files_total=figures.files_total,
        files_pruned=figures.files_total - figures.files_offered,
        files_skipped=figures.files_offered - figures.files_kept - figures.files_replaced,
        files_read=figures.files_read,
        files_unindexed=figures.files_unindexed,
        bytes_total=figures.bytes_total,
        bytes_read=figures.bytes_read,
        failure=figures.failure,
        joins=figures.joins,
        groups=figures.groups,
    )
    return report if scan.question is None else _with_reasons(report, scan, scan.question)


def _with_reasons(report: ScanReport, scan: DecidedScan, question: Question) -> ScanReport:
    """The report with the filter, and with the reasons unless everything is read because of a failure."""
    catalog = scan.catalog
    blocks, sizes = catalog.blocks, catalog.files.sizes
    foreign = catalog.foreign(dict(question.settings)) & scan.offered
    filter_ = within_limits(question.filter)
    report = replace(
        report, filter=to_sql(filter_), filter_text=readable(filter_), files_foreign=int(foreign.sum())
    )
    if report.failure:
        return report
    decided = scan.decision(question)
    result = decided.base
    partitions = frozenset(question.names.resolve((), name).path for name in scan.figures.partitions)
    pruned = pruned_by_spark(scan, question, partitions)
    files = scan.offered & ~scan.skipped & ~foreign & ~scan.replaced
    offered = int((scan.offered & ~pruned).sum())
    read = ReadFiles(question.filter, scan.root, files, offered, sizes, partitions)
    return replace(
        report,
        files_pruned=report.files_pruned + int(pruned.sum()),
        files_skipped=report.files_skipped - int(pruned.sum()),
        skipped=skip_reasons(result, scan.skipped & ~pruned, blocks.rows, sizes),
        unused=unused_predicates(result),
        read=read_reasons(read, blocks, result),
        copies=copy_reports(scan.replicas, decided.choice, scan.figures.group_verdicts),
    )


def pruned_by_spark(scan: DecidedScan, question: Question, partitions: frozenset[tuple[str, ...]]) -> Flags:
    """Files that are skipped and that Spark would have left out by their partition anyway."""
    filter_ = partition_filter(question.filter, partitions)
    if filter_ is None:
        return np.zeros(len(scan.skipped), np.bool_)
    return scan.decision(question, filter_).base.skip & scan.skipped

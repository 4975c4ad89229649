"""Explaining a query: planned, not run; every file that is skipped has a reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pyspark.sql import DataFrame, SparkSession

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
from skipstone.spark.bridge.query_text import query_frame
from skipstone.spark.bridge.runtime import Question, Runtime
from skipstone.spark.bridge.scans import DecidedScan, scans_of

__all__ = ["Explanation", "explain_query"]


def explain_query(spark: SparkSession, runtime: Runtime, query: str | DataFrame) -> Explanation:
    """Report every scan of a registered table that has a filter."""
    frame = query_frame(spark, query)
    return Explanation(tuple(_report(runtime, scan) for scan in scans_of(runtime, frame)))


def _report(runtime: Runtime, scan: DecidedScan) -> ScanReport:
    figures = scan.figures
    report = ScanReport(
        root=scan.root,
        filter="",
        files_total=figures["files_total"],
        files_pruned=figures["files_total"] - figures["files_offered"],
        files_skipped=figures["files_offered"] - figures["files_kept"],
        files_read=figures["files_kept"],
        files_unindexed=figures["files_unindexed"],
        bytes_total=figures["bytes_total"],
        bytes_read=figures["bytes_kept"],
        failure=figures["failure"],
    )
    return report if scan.question is None else _with_reasons(report, runtime, scan, scan.question)


def _with_reasons(report: ScanReport, runtime: Runtime, scan: DecidedScan, question: Question) -> ScanReport:
    """The report with the filter, and with the reasons unless everything is read because of a failure."""
    catalog = runtime.catalog(scan.root)
    foreign = catalog.foreign(dict(question.settings)) & scan.offered
    filter_ = within_limits(question.filter)
    report = replace(
        report, filter=to_sql(filter_), filter_text=readable(filter_), files_foreign=int(foreign.sum())
    )
    if report.failure:
        return report
    result, sizes = runtime.decision(question), catalog.files.sizes
    partitions = frozenset(question.names.resolve((), name).path for name in scan.figures["partitions"])
    pruned = _pruned_by_spark(runtime, scan, question, partitions)
    files = scan.offered & ~scan.skipped & ~foreign
    offered = int((scan.offered & ~pruned).sum())
    read = ReadFiles(question.filter, scan.root, files, offered, sizes, partitions)
    return replace(
        report,
        files_pruned=report.files_pruned + int(pruned.sum()),
        files_skipped=report.files_skipped - int(pruned.sum()),
        skipped=skip_reasons(result, scan.skipped & ~pruned, catalog.blocks.rows, sizes),
        unused=unused_predicates(result),
        read=read_reasons(read, catalog.blocks, result),
    )


def _pruned_by_spark(
    runtime: Runtime, scan: DecidedScan, question: Question, partitions: frozenset[tuple[str, ...]]
) -> Flags:
    """Files that are skipped and that Spark would have left out by their partition anyway."""
    filter_ = partition_filter(question.filter, partitions)
    if filter_ is None:
        return np.zeros(len(scan.skipped), np.bool_)
    return runtime.decision(replace(question, filter=filter_)).skip & scan.skipped

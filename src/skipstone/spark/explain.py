"""Explaining a query: planned, not run; every file that is skipped has a reason."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from skipstone.predicate.render import to_sql
from skipstone.scan.report import Explanation, ScanReport, skip_reasons, unused_predicates
from skipstone.spark.query_text import query_frame
from skipstone.spark.runtime import Question, Runtime
from skipstone.spark.scans import DecidedScan, scans_of

__all__ = ["Explanation", "explain_query"]


def explain_query(spark: SparkSession, runtime: Runtime, query: str | DataFrame) -> Explanation:
    """Report every scan of a registered table that has a filter."""
    frame = query_frame(spark, query)
    return Explanation(tuple(_report(runtime, scan) for scan in scans_of(runtime, frame)))


def _report(runtime: Runtime, scan: DecidedScan) -> ScanReport:
    figures = scan.figures
    failed = bool(figures["failure"]) or scan.question is None
    catalog = runtime.catalog(scan.root)
    decision = None if scan.question is None or failed else runtime.decision(scan.question)
    return ScanReport(
        root=scan.root,
        filter="" if scan.question is None else to_sql(scan.question.filter),
        files_total=figures["files_total"],
        files_pruned=figures["files_total"] - figures["files_offered"],
        files_skipped=figures["files_offered"] - figures["files_kept"],
        files_read=figures["files_kept"],
        files_unindexed=figures["files_unindexed"],
        bytes_total=figures["bytes_total"],
        bytes_read=figures["bytes_kept"],
        skipped=() if decision is None else skip_reasons(decision, catalog, scan.skipped),
        unused=() if decision is None else unused_predicates(decision),
        failure=figures["failure"],
        files_foreign=0 if scan.question is None else _foreign(runtime, scan, scan.question),
    )


def _foreign(runtime: Runtime, scan: DecidedScan, question: Question) -> int:
    foreign = runtime.catalog(scan.root).foreign(dict(question.settings))
    return int((foreign & scan.offered).sum())

"""Replaying queries with skipping on and off: the same results, fewer rows, files and bytes.

Only queries are run. Other statements of a log, and queries that do not read the table, are left out.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import ClassVar

from skipstone.actions.context import Context
from skipstone.actions.rows_needed import RowsNeeded
from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.query_text import NotAQueryError
from skipstone.spark.bridge.scans import DecidedScan
from skipstone.spark.engine.compare_results import (
    Compared,
    compare_results,
    count_stored_rows,
    query_reads,
    switch_restored,
)
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.failures import QUERY_FAILURES
from skipstone.view import Cell, Grid, Share, View, Viewed, count, megabytes, percent
from skipstone.workload.queries import BrokenQuery, LeftOut, Query, Workload, broken_and_left_out

__all__ = ["Replay", "ReplayReport", "ReplayedQuery", "rows_read"]


@dataclass(frozen=True, slots=True)
class ReplayedQuery:
    """One query's figures, over all its scans of the table.

    ``rows_scanned`` counts the rows of the files that are read, ``rows_needed`` those that satisfy the
    filter and survive the joins. ``same_result`` is None when the query itself may give another result each
    time.
    """

    sql: str
    rows_total: int
    rows_scanned: int
    rows_needed: int
    files_total: int
    files_read: int
    bytes_read: int
    seconds_on: float
    seconds_off: float
    same_result: bool | None


@dataclass(frozen=True, slots=True, repr=False)
class ReplayReport(Viewed):
    """All replayed queries, the statements that cannot be used, and those that were left out."""

    queries: tuple[ReplayedQuery, ...]
    broken: tuple[BrokenQuery, ...]
    left_out: tuple[LeftOut, ...] = ()

    def summary(self) -> dict[str, object]:
        """Totals over the queries."""
        total = {
            name: sum(getattr(query, name) for query in self.queries)
            for name in (
                "rows_total",
                "rows_scanned",
                "rows_needed",
                "files_total",
                "files_read",
                "bytes_read",
            )
        }
        seconds = {
            name: sum(getattr(query, name) for query in self.queries)
            for name in ("seconds_on", "seconds_off")
        }
        share = 100.0 / total["rows_total"] if total["rows_total"] else 0.0
        return {
            "queries": len(self.queries),
            "broken": len(self.broken),
            "left_out": len(self.left_out),
            **total,
            **seconds,
            "percent_scanned": total["rows_scanned"] * share,
            "percent_needed": total["rows_needed"] * share,
            "same_results": all(query.same_result is not False for query in self.queries),
        }

    def view(self) -> View:
        """The totals as a sentence, and a row for each query."""
        queries = self.queries
        rows = sum(query.rows_total for query in queries)
        scanned = percent(sum(query.rows_scanned for query in queries), rows)
        needed = percent(sum(query.rows_needed for query in queries), rows)
        size = megabytes(sum(query.bytes_read for query in queries))
        off, on = sum(q.seconds_off for q in queries), sum(q.seconds_on for q in queries)
        text = (
            f"{count(len(queries), 'query')}: {scanned} of the rows scanned, {needed} needed; {size} in the "
            f"files that are read; {off:.1f} s without skipping, {on:.1f} s with."
        )
        for some, why in ((self.broken, "could not be used"), (self.left_out, "left out")):
            text += f" {count(len(some), 'statement')} {why}." if some else ""
        header = ("query", "needed", "scanned", "files", "off", "on", "same")
        return View(text, grids=(Grid("", header, tuple(map(_cells, queries))),) if queries else ())

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "queries": [asdict(query) for query in self.queries],
            **broken_and_left_out((*self.broken, *self.left_out)),
            "summary": self.summary(),
        }


def _cells(query: ReplayedQuery) -> tuple[Cell, ...]:
    return (
        " ".join(query.sql.split()),
        percent(query.rows_needed, query.rows_total),
        Share(query.rows_scanned, query.rows_total, percent(query.rows_scanned, query.rows_total)),
        f"{query.files_read:,}/{query.files_total:,}",
        f"{query.seconds_off:.2f} s",
        f"{query.seconds_on:.2f} s",
        {True: "yes", False: "NO", None: "varies"}[query.same_result],
    )


@dataclass(frozen=True, slots=True)
class Replay:
    """Run every query with skipping on and off, in turn, and measure what each scan of the table reads."""

    name: ClassVar[str] = "replay"

    queries: Workload

    def validate(self, context: Context) -> None:
        """Queries run without a catalog too, and what cannot be run is left out, with its reason."""

    def run(self, context: Context) -> ReplayReport:
        """Count the table's rows, then run one query after the other."""
        with suppress(SkipstoneError):  # why the catalog is unusable was logged
            context.table.refresh()
        wanted = self.queries.queries
        context.report("counting rows", 0, len(wanted))
        total_rows = count_stored_rows(context.table)
        needed = RowsNeeded(context, total_rows)
        done: list[ReplayedQuery] = []
        unused = list(self.queries.broken)
        with switch_restored(context.engine.spark):
            for index, query in enumerate(wanted):
                context.report("replaying queries", index, len(wanted))
                found = _replayed(context, query, needed, on_first=index % 2 == 0)
                if isinstance(found, ReplayedQuery):
                    done.append(found)
                else:
                    unused.append(found)
        context.report("replaying queries", len(wanted), len(wanted))
        unused.sort(key=lambda statement: statement.position)
        left_out = tuple(each for each in unused if isinstance(each, LeftOut))
        broken = tuple(each for each in unused if not isinstance(each, LeftOut))
        return ReplayReport(tuple(done), broken, left_out)


def _replayed(
    context: Context, query: Query, needed: RowsNeeded, on_first: bool
) -> ReplayedQuery | BrokenQuery:
    """The query's figures, or why it has none."""
    where = (query.position, query.line, query.file)
    try:
        if not query_reads(context.engine, query.sql, context.table.root):
            return LeftOut(query.sql, "it does not read the table", *where)
        compared = compare_results(context.engine, query.sql, on_first)
        return _figures(context.table, query.sql, compared, needed)
    except NotAQueryError as problem:
        return LeftOut(query.sql, problem.reason, *where)
    except QUERY_FAILURES as problem:
        context.cancel.check()  # a cancelled job is no broken query
        return BrokenQuery(query.sql, str(problem).strip().splitlines()[0], *where)


def _figures(table: OpenTable, sql: str, compared: Compared, needed: RowsNeeded) -> ReplayedQuery:
    """What the query read, over all its scans of the table; a query without a decided scan reads it all."""
    total_rows = needed.total_rows
    scans = [scan for scan in compared.scans if scan.root == table.root]
    times = max(len(scans), 1)
    return ReplayedQuery(
        sql=sql,
        rows_total=total_rows * times,
        rows_scanned=sum(rows_read(table, scan, total_rows) for scan in scans) if scans else total_rows,
        rows_needed=needed.count(sql, scans),
        files_total=len(table.files) * times,
        files_read=sum(scan.figures.files_read for scan in scans) if scans else len(table.files),
        bytes_read=sum(scan.figures.bytes_read for scan in scans) if scans else table.files.bytes,
        seconds_on=compared.seconds_on,
        seconds_off=compared.seconds_off,
        same_result=compared.same_result,
    )


def rows_read(table: OpenTable, scan: DecidedScan, total_rows: int) -> int:
    """All rows but those of indexed files that are not read, or whose rows are read from a replica."""
    if scan.figures.failure:
        return total_rows
    catalog = scan.catalog
    present = set(table.files.paths)
    unread = (scan.skipped | ~scan.offered).nonzero()[0]
    read = total_rows - sum(int(catalog.blocks.rows[i]) for i in unread if catalog.files.paths[i] in present)
    return read if scan.question is None else read + scan.rows_of_copies(scan.question)

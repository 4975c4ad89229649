"""How many rows of a table a query needs: those that satisfy its filter and survive its joins.

A scan's own filter is counted by Spark as it is in the plan. Where joins ask for more, the text of the
query is read as a log's is, and rows are counted through the joins. Conditions that SQL cannot say, or that
may fail on rows that the query never meets, are left out; so what is counted is never too little.
"""

from __future__ import annotations

from collections.abc import Sequence

from skipstone.actions.context import Context
from skipstone.predicate.expr import Expr
from skipstone.predicate.normalize import conjuncts, normalize_filter
from skipstone.predicate.partner import partners_in
from skipstone.predicate.render import unwritable
from skipstone.spark.bridge.parse_sql import QueryParser, TableSource
from skipstone.spark.bridge.read_back import Unreadable, read_back
from skipstone.spark.bridge.scans import DecidedScan
from skipstone.spark.engine.job_settings import DRAWN, WIDE
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.partners import JoinedTables
from skipstone.workload.queries import BrokenQuery, Query

__all__ = ["RowsNeeded"]


class RowsNeeded:
    """Counts for one query after the other."""

    def __init__(self, context: Context, total_rows: int) -> None:
        """Of the table as it is now, which has so many rows."""
        self.total_rows = total_rows
        self._table, self._name = context.table, context.source.called
        known = {self._name: TableSource(context.snapshot.schema, context.snapshot.root)}
        self._parser = QueryParser(context.engine.spark, known)

    def count(self, sql: str, scans: Sequence[DecidedScan]) -> int:
        """Over all scans of the table; one that was not decided needs all rows, or what its joins ask for."""
        parsed = self._parser.parse(Query(sql))
        asked = () if isinstance(parsed, BrokenQuery) else parsed.scans
        filters = [normalize_filter(scan.filter) for scan in asked]
        if any(partners_in(filter_) for filter_ in filters):
            most = self.total_rows * max(1, len(scans))
            return min(most, sum(_counted(self._table, filter_) for filter_ in filters))
        return sum(scan.rows_needed() for scan in scans) if scans else self.total_rows


def _counted(table: OpenTable, filter_: Expr) -> int:
    joined, names = JoinedTables(table.engine), table.snapshot.logical_names
    parts = conjuncts(filter_)
    through = [part for part in parts if partners_in(part)]
    refused = joined.problems(through)
    plain = [part for part in parts if not partners_in(part) and unwritable(part) is None]
    texts = [names.sql(part) for part in plain]
    read = read_back(table.no_rows(), table.snapshot.schema, texts)
    usable = [part for part, found in zip(plain, read, strict=True) if not isinstance(found, Unreadable)]
    usable += [part for part in through if part not in refused]
    session = table.engine.session({**DRAWN, **WIDE, "spark.skipstone.enabled": "false"})
    rows = joined.with_flags(table.live(table.file_indices, session), names, usable)
    return rows.where(" AND ".join(f"({names.sql(part)})" for part in usable) or "true").count()

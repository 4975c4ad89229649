"""Queries as they are logged, and what is left of them once Catalyst has understood them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from skipstone.predicate.expr import Expr

__all__ = ["BrokenQuery", "ParsedQuery", "ParsedWorkload", "Query", "TableScan", "Workload"]

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Query:
    """One logged statement in Spark SQL; ``count`` is how often it ran.

    ``position`` is its number in the log, from 1; ``line`` is where it starts in the file, if known.
    """

    sql: str
    timestamp: datetime | None = None
    count: int = 1
    user: str | None = None
    position: int = 0
    line: int | None = None


@dataclass(frozen=True, slots=True)
class BrokenQuery:
    """A statement that cannot be used, or not wholly, and the sentence that says why.

    One out of a table's own log has no ``position``, and its ``sql`` is the filter that was logged.
    """

    sql: str
    reason: str
    position: int = 0
    line: int | None = None

    def __str__(self) -> str:
        if not self.position:
            return f"{' '.join(self.sql.split())[:_LONGEST]}: {self.reason}"
        where = f"statement {self.position}" + (f" (line {self.line})" if self.line else "")
        return f"{where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Workload:
    """The statements of a log: those that can be tried, and those that are broken."""

    queries: tuple[Query, ...]
    broken: tuple[BrokenQuery, ...] = ()


@dataclass(frozen=True, slots=True)
class TableScan:
    """One read of a table within a query: the filter that reaches it and the columns it reads.

    ``filter`` is a TRUE literal when nothing filters the scan. ``columns`` are top-level physical names.
    """

    table: str
    filter: Expr
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query with its scans of the tables that were asked about, in plan order."""

    query: Query
    scans: tuple[TableScan, ...]


@dataclass(frozen=True, slots=True)
class ParsedWorkload:
    """The queries that read the tables, and the reason for each statement that cannot be used."""

    queries: tuple[ParsedQuery, ...]
    unusable: tuple[BrokenQuery, ...] = ()

    def scans_of(self, table: str) -> tuple[tuple[Query, TableScan], ...]:
        """Every scan of one table with the query that makes it."""
        return tuple(
            (parsed.query, scan) for parsed in self.queries for scan in parsed.scans if scan.table == table
        )

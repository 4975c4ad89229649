"""Queries as they are logged, and what is left of them once Catalyst has understood them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from skipstone.predicate.expr import Expr

__all__ = [
    "BrokenQuery",
    "LeftOut",
    "ParsedQuery",
    "ParsedWorkload",
    "Query",
    "TableScan",
    "Workload",
    "broken_and_left_out",
    "first_of",
]

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Query:
    """One logged statement in Spark SQL; ``count`` is how often it ran.

    ``position`` is its number in the log, from 1; ``line`` is where it starts in the file, if known, and
    ``file`` is that file's name where the log is a directory.
    """

    sql: str
    timestamp: datetime | None = None
    count: int = 1
    user: str | None = None
    position: int = 0
    line: int | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class BrokenQuery:
    """A statement that cannot be used, or not wholly, and the sentence that says why.

    One out of a table's own log has no ``position``, and its ``sql`` is the filter that was logged.
    """

    sql: str
    reason: str
    position: int = 0
    line: int | None = None
    file: str | None = None

    def __str__(self) -> str:
        places = ((f"line {self.line}" if self.line else ""), self.file or "")
        place = " of ".join(part for part in places if part)
        number = f"statement {self.position}" if self.position else ""
        where = f"{number} ({place})" if number and place else number or place
        return f"{where or ' '.join(self.sql.split())[:_LONGEST]}: {self.reason}"


@dataclass(frozen=True, slots=True)
class LeftOut(BrokenQuery):
    """A sound statement that is no load here: not a query, failed in its engine, or on other tables."""


def broken_and_left_out(statements: Iterable[BrokenQuery]) -> dict[str, list[dict[str, object]]]:
    """Both kinds of statements that are not used, ready for JSON."""
    out: dict[str, list[dict[str, object]]] = {"broken": [], "left_out": []}
    for statement in statements:
        out["left_out" if isinstance(statement, LeftOut) else "broken"].append(asdict(statement))
    return out


def first_of(statements: Sequence[BrokenQuery]) -> str:
    """How many statements are not used, and the first of them, to end a sentence with."""
    if not statements:
        return ""
    noun = "statement" if len(statements) == 1 else "statements"
    return f" ({len(statements):,} {noun} not used; {statements[0]})"


@dataclass(frozen=True, slots=True)
class Workload:
    """The statements of a log: those that can be tried, and those that are broken or left out."""

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

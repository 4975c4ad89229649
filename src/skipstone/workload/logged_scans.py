"""The query log: one record per scan of a table, as it was asked (self-organising layouts, chapter 3).

A record holds the filter in normal form, what the scan read, and who asked when. Literals can be redacted:
a conjunct with a constant in it becomes an opaque one that keeps its columns, its operator and the number
of its values. Such a record still counts as a query, but it is no filter that could skip or be mined.

>>> from skipstone.predicate.expr import Column, Comparison
>>> from skipstone.predicate.types import INT
>>> to_sql(redacted(Comparison(">", Column(("price",), INT), Literal(400, INT))))
"price > '?'"
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from skipstone.predicate.codec import canonical_text, from_json
from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Opaque,
    Or,
    children,
    columns_of,
    walk,
)
from skipstone.predicate.normalize import conjuncts, normalize_filter
from skipstone.predicate.partner import partner_of
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import STRING
from skipstone.workload.predicates import LoggedFilter

__all__ = [
    "REDACTED",
    "LoggedScan",
    "columns_gone",
    "filters_of",
    "from_record",
    "redact",
    "redacted",
    "to_json_record",
    "to_record",
]

REDACTED = "REDACTED"
"""The reason code of a conjunct whose literals are not in the log."""

_REDACTED_VALUE = Literal("?", STRING)


@dataclass(frozen=True, slots=True)
class LoggedScan:
    """One scan of the table; ``time`` is in UTC, ``count`` is how often it was made.

    ``filter`` is in normal form, a TRUE literal when nothing filters the scan. ``columns`` are top-level
    physical names. ``rows_read`` are the rows that the reader returned and ``rows_needed`` those of them that
    satisfy the filter, None where that is not known, as under a LIMIT or if joins ask for more. ``seconds``
    is the query's duration. ``replicas`` are the ids of those that were read in place of files of the table.
    """

    time: datetime
    filter: Expr
    columns: tuple[str, ...]
    files_total: int
    files_read: int
    bytes_read: int
    rows_read: int
    rows_needed: int | None
    seconds: float
    user: str
    application: str
    count: int = 1
    replicas: tuple[str, ...] = ()

    @property
    def is_redacted(self) -> bool:
        """Whether literals of the filter were left out."""
        return any(isinstance(part, Opaque) and part.code == REDACTED for part in walk(self.filter))


def filters_of(scans: Iterable[LoggedScan]) -> tuple[LoggedFilter, ...]:
    """The log as ``analyze``, ``advise`` and ``optimize`` take it."""
    return tuple(
        LoggedFilter(scan.filter, float(scan.count), scan.time, columns=scan.columns) for scan in scans
    )


def columns_gone(filter_: Expr, known: Container[tuple[str, ...]]) -> frozenset[tuple[str, ...]]:
    """The columns that a filter compares and that are not among the known ones, by their physical paths.

    What is not understood is no filter to anybody, and it may read columns that no schema has.

    >>> from skipstone.predicate.types import INT
    >>> low = Comparison("<", Column(("gone",), INT), Literal(4, INT))
    >>> columns_gone(low, {("price",)}), columns_gone(low, {("gone",)})
    (frozenset({('gone',)}), frozenset())
    """
    match filter_:
        case Column(path):
            return frozenset() if path in known else frozenset({path})
        case Opaque():
            return frozenset()
    return frozenset().union(*(columns_gone(part, known) for part in children(filter_)))


def to_record(scan: LoggedScan) -> dict[str, object]:
    """A flat record: the filter as JSON, and beside it as SQL for people."""
    return {
        "time": scan.time,
        "filter": canonical_text(scan.filter),
        "filter_sql": to_sql(scan.filter),
        "columns": list(scan.columns),
        "files_total": scan.files_total,
        "files_read": scan.files_read,
        "bytes_read": scan.bytes_read,
        "rows_read": scan.rows_read,
        "rows_needed": scan.rows_needed,
        "seconds": scan.seconds,
        "user": scan.user,
        "application": scan.application,
        "count": scan.count,
        "replicas": list(scan.replicas),
    }


def to_json_record(scan: LoggedScan) -> dict[str, object]:
    """The record for JSON, with whether its literals were left out."""
    return {**to_record(scan), "time": scan.time.isoformat(), "redacted": scan.is_redacted}


def from_record(record: Mapping[str, Any]) -> LoggedScan:
    """The scan that :func:`to_record` wrote; raises ValueError or KeyError on anything else.

    Earlier versions did not write which replicas were read.
    """
    needed = record["rows_needed"]
    time = record["time"]
    return LoggedScan(
        time=time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC),
        filter=_filter(record["filter"]),
        columns=tuple(record["columns"]),
        files_total=int(record["files_total"]),
        files_read=int(record["files_read"]),
        bytes_read=int(record["bytes_read"]),
        rows_read=int(record["rows_read"]),
        rows_needed=None if needed is None else int(needed),
        seconds=float(record["seconds"]),
        user=record["user"],
        application=record["application"],
        count=int(record["count"]),
        replicas=tuple(record.get("replicas") or ()),
    )


@lru_cache(maxsize=65536)
def _filter(text: str) -> Expr:
    return from_json(json.loads(text))


def redact(scan: LoggedScan) -> LoggedScan:
    """The scan without the literals of its filter."""
    return replace(scan, filter=redacted(scan.filter))


def redacted(filter_: Expr) -> Expr:
    """The filter with each conjunct that has a constant made opaque; the others say nothing secret."""
    parts = tuple(_redacted_conjunct(part) for part in conjuncts(filter_))
    return normalize_filter(And(parts)) if parts else filter_


def _redacted_conjunct(conjunct: Expr) -> Expr:
    shape = _shape(conjunct)
    if shape == conjunct:
        return conjunct
    columns = tuple(sorted(columns_of(conjunct), key=lambda column: column.path))
    return Opaque(to_sql(shape), REDACTED, columns)


def _shape(expr: Expr) -> Expr:
    """The expression with a question mark for every constant, map keys, patterns and joins included."""
    if (partner := partner_of(expr)) is not None:
        return replace(partner, where=_shape(partner.where)).call
    match expr:
        case Literal():
            return _REDACTED_VALUE
        case Call("literal", (), type_):
            return Call("literal", (), type_, (("value", "?"),))
        case Opaque(code=code) if code != REDACTED:
            return replace(expr, text="?")
        case Column() | Opaque():
            return expr
        case Call(args=args) | And(args=args) | Or(args=args):
            return replace(expr, args=tuple(map(_shape, args)))
        case Comparison(op, left, right):
            return Comparison(op, _shape(left), _shape(right))
        case In(arg, values):
            return In(_shape(arg), (_REDACTED_VALUE,) * len(values))
        case Like(arg):
            return Like(_shape(arg), "?")
        case Match(kind, arg):
            return Match(kind, _shape(arg), "?")
        case IsNull(arg):
            return IsNull(_shape(arg))
        case Not(arg):
            return Not(_shape(arg))

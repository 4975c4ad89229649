"""The parsed workload as JSON that people and programs can inspect (SOP on Spark, figure 5).

Every query keeps its SQL and its number in the log. A filter is a tree of ``{"and": [...]}`` and
``{"or": [...]}`` over simple predicates, each with ``column``, ``operator`` and ``value`` or ``values``, and
its SQL. What is not so simple has its SQL, its operator and the columns that it reads; what is not
understood has a reason code. ``features`` are the indices of the features that subsume the query.

>>> from skipstone.predicate.types import INT
>>> predicate_json(Comparison(">", Column(("x",), INT), Literal(7, INT)))
{'column': 'x', 'operator': '>', 'value': 7, 'sql': 'x > 7'}
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from skipstone.predicate.expr import (
    And,
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
    columns_of,
    is_opaque,
    walk,
)
from skipstone.predicate.literals import literal_sql
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import BOOLEAN, Kind
from skipstone.workload.analysis import Analysis
from skipstone.workload.predicates import LoggedFilter

__all__ = ["parsed_workload_json", "predicate_json"]

_VERSION = 1
_NUMBERS = (Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG)


def parsed_workload_json(
    entries: Sequence[LoggedFilter], analysis: Analysis | None = None, *, table: str = "", source: str = ""
) -> dict[str, object]:
    """The whole log; ``source`` is the name of the file that it came from."""
    features = analysis.features if analysis else ()
    subsuming: dict[int, list[int]] = {}
    for index, feature in enumerate(features):
        for number in feature.queries:
            subsuming.setdefault(number, []).append(index)
    return {
        "version": _VERSION,
        "table": table,
        "source": source,
        "features": [to_sql(feature.predicate) for feature in features],
        "queries": [_query(n, entry, subsuming.get(n, [])) for n, entry in enumerate(entries)],
    }


def _query(number: int, entry: LoggedFilter, features: list[int]) -> dict[str, object]:
    normal = normalize_filter(entry.filter)
    unfiltered = normal == Literal(True, BOOLEAN)
    return {
        "id": number + 1,
        "sql": entry.sql,
        "count": int(entry.weight) if entry.weight == int(entry.weight) else entry.weight,
        "timestamp": entry.timestamp.isoformat() if entry.timestamp else None,
        "filter": None if unfiltered else predicate_json(normal),
        "features": features,
    }


def predicate_json(predicate: Expr) -> dict[str, object]:
    """A normalised predicate, or a tree of them."""
    match predicate:
        case And(args):
            return {"and": [predicate_json(arg) for arg in args]}
        case Or(args):
            return {"or": [predicate_json(arg) for arg in args]}
    found = _simple(predicate) or {
        "columns": sorted(".".join(column.path) for column in columns_of(predicate)),
        "operator": type(predicate).__name__.lower(),
    }
    if is_opaque(predicate):
        codes = sorted({node.code for node in walk(predicate) if isinstance(node, Opaque)})
        found["not_understood"] = codes
    return {**found, "sql": to_sql(predicate)}


def _simple(predicate: Expr) -> dict[str, object] | None:
    match predicate:
        case Comparison(op, Column(path), Literal() as literal):
            return _on(path, op, value=_value(literal))
        case Not(Comparison("=", Column(path), Literal() as literal)):
            return _on(path, "!=", value=_value(literal))
        case In(Column(path), values):
            return _on(path, "in", values=[_value(value) for value in values])
        case Not(In(Column(path), values)):
            return _on(path, "not in", values=[_value(value) for value in values])
        case IsNull(Column(path)):
            return _on(path, "is null")
        case Not(IsNull(Column(path))):
            return _on(path, "is not null")
        case Like(Column(path), pattern):
            return _on(path, "like", value=pattern)
        case Match(kind, Column(path), pattern):
            return _on(path, kind, value=pattern)
        case Not(inner) if (simple := _simple(inner)) is not None:
            return {**simple, "operator": f"not {simple['operator']}"}
        case Column(path):
            return _on(path, "=", value=True)
        case Comparison(op, Column(path), Column(other)):
            return _on(path, op, other_column=".".join(other))
    return None


def _on(path: tuple[str, ...], operator: str, **values: object) -> dict[str, object]:
    return {"column": ".".join(path), "operator": operator, **values}


def _value(literal: Literal) -> object:
    """A constant as JSON has it; dates, times and decimals as the text that SQL has between its quotes."""
    value = literal.value
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and literal.type.kind in _NUMBERS:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    match (text := literal_sql(literal)).split("'"):
        case [_, quoted, _]:
            return quoted
    return text

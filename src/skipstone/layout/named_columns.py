"""The columns of a sample that users name in the options of a layout."""

from __future__ import annotations

from collections.abc import Sequence

from skipstone.errors import SkipstoneError
from skipstone.layout.table_view import TableView
from skipstone.predicate.expr import Column, Expr, type_of
from skipstone.predicate.render import to_sql

__all__ = ["named_columns"]


def named_columns(wanted: Sequence[str | Expr], view: TableView) -> tuple[Expr, ...]:
    """The expressions of the sample that are called so, each once; names are compared as Spark does."""
    ordered = [expr for expr in view.sample.columns if type_of(expr).ordered]
    by_name: dict[str, Expr] = {}
    for expr in ordered:
        for name in _names(expr, view):
            by_name.setdefault(name.casefold(), expr)
    found: dict[Expr, None] = {}
    for each in wanted:
        named = by_name.get(each.casefold()) if isinstance(each, str) else each
        if named is None or named not in ordered:
            name = each if isinstance(each, str) else to_sql(each)
            known = ", ".join(sorted(map(view.names.sql, ordered))) or "none"
            raise SkipstoneError(
                f"{name} is not among the sampled columns, or has no order; there are {known}."
            )
        found[named] = None
    return tuple(found)


def _names(expr: Expr, view: TableView) -> tuple[str, ...]:
    sql = view.names.sql(expr)
    return (sql, ".".join(view.names.paths.get(expr.path, expr.path))) if isinstance(expr, Column) else (sql,)

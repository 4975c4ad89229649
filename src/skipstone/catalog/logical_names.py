"""What stored columns are called in SQL: the other direction of :mod:`~skipstone.catalog.column_names`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skipstone.catalog.column_names import ColumnNames
from skipstone.predicate.expr import Expr, Literal, columns_of, type_of, with_columns
from skipstone.predicate.literals import literal_sql
from skipstone.predicate.partner import with_flags
from skipstone.predicate.render import to_sql

__all__ = ["LogicalNames"]


@dataclass(frozen=True, slots=True)
class LogicalNames:
    """Renders expressions over physical names as SQL over the names that a frame has.

    With ``gone_is_null`` an expression with a column that there is no more is NULL.
    """

    paths: Mapping[tuple[str, ...], tuple[str, ...]]
    gone_is_null: bool = False

    @classmethod
    def of(cls, names: ColumnNames) -> LogicalNames:
        """From a table's schema."""
        paths: dict[tuple[str, ...], tuple[str, ...]] = {}
        _descend(names, (), (), paths)
        return cls(paths)

    def sql(self, expr: Expr) -> str:
        """The expression as Spark SQL; a join-induced predicate is a column of its own."""
        if self.gone_is_null and self.lacks(expr):
            return literal_sql(Literal(None, type_of(expr)))
        return to_sql(with_columns(with_flags(expr), self.paths))

    def lacks(self, expr: Expr) -> bool:
        """Whether the expression has a column that there is no more, such as one that was dropped."""
        return any(column.path not in self.paths for column in columns_of(expr))

    def top_level(self, expr: Expr) -> list[str]:
        """The frame's columns that the expression reads."""
        return sorted({self.paths[column.path[:1]][0] for column in columns_of(expr)})


def _descend(
    names: ColumnNames,
    physical: tuple[str, ...],
    logical: tuple[str, ...],
    out: dict[tuple[str, ...], tuple[str, ...]],
) -> None:
    for name, resolved in names.fields.get(physical, {}).items():
        out[resolved.path] = (*logical, name)
        _descend(names, resolved.path, (*logical, name), out)

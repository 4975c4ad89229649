"""Which predicates must not become features.

The papers leave dates out, because a coarse partition by date prunes for them already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from skipstone.predicate.expr import And, Column, Expr, Literal, Or, columns_of, walk
from skipstone.predicate.types import Kind

__all__ = ["LeaveOut", "date_filters", "on_columns"]

LeaveOut = Callable[[Expr], bool]
"""True for a predicate that is left out."""

_TEMPORAL = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)


def date_filters(predicate: Expr) -> bool:
    """Leaves out what compares a date or a timestamp with a constant (002 section 7.3.1).

    A coarse partition by date prunes for those; a comparison of two date columns is not among them.
    """
    atoms = [node for node in walk(predicate) if not isinstance(node, And | Or | Column | Literal)]
    return any(_about_dates(atom) for atom in atoms)


def _about_dates(atom: Expr) -> bool:
    columns = columns_of(atom)
    dates = bool(columns) and all(column.type.kind in _TEMPORAL for column in columns)
    return dates and (len(columns) == 1 or any(isinstance(node, Literal) for node in walk(atom)))


def on_columns(paths: Iterable[tuple[str, ...]]) -> LeaveOut:
    """Leaves out what reads any of these columns."""
    chosen = frozenset(paths)
    return lambda predicate: any(column.path in chosen for column in columns_of(predicate))

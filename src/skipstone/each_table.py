"""One action for several tables that queries join: each gets what the whole workload asks of it.

A rewrite changes none of a table's rows, but it makes other files of them, and what the other tables know
about it through joins is known of files. So the smallest tables come first, and once all are laid out,
features about tables that were rewritten later are computed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from skipstone.actions.optimize import OptimizeReport
from skipstone.api import Table
from skipstone.errors import CancelledError, SkipstoneError

__all__ = ["Done", "for_each_table", "optimize_each"]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Done(Generic[Result]):
    """What was done for a table; ``result`` is None if nothing was, and ``why_not`` says why."""

    table: Table
    result: Result | None
    why_not: str = ""


def for_each_table(tables: Sequence[Table], action: Callable[[Table], Result]) -> list[Done[Result]]:
    """Do something with every table; one for which it cannot be done keeps no other from it."""
    done: list[Done[Result]] = []
    for table in tables:
        try:
            done.append(Done(table, action(table)))
        except CancelledError:
            raise
        except SkipstoneError as problem:
            done.append(Done(table, None, str(problem)))
    return done


def optimize_each(
    tables: Sequence[Table], optimize: Callable[[Table], OptimizeReport]
) -> list[Done[OptimizeReport]]:
    """Lay every table out, and bring what they know about each other up to date; in the order given."""
    sizes = {id(table): table.status().bytes for table in tables}
    smallest_first = sorted(tables, key=lambda table: sizes[id(table)])
    done = {id(each.table): each for each in for_each_table(smallest_first, optimize)}
    for table in smallest_first:
        if table.status().outdated_features:
            table.index()
    return [done[id(table)] for table in tables]

"""A log made small: equal scans as one, and a few scans that stand for all.

An estimate needs the mean over the log, not each of its queries: ``representatives`` draws scans in
proportion to how often they ran, at even distances through the log ordered by the columns that are filtered,
so that every kind of query keeps its share. What is fitted for good still sees every query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from skipstone.predicate.expr import Expr, columns_of
from skipstone.workload.predicates import LoggedFilter

__all__ = ["merged_entries", "representatives"]

MOST_ENTRIES = 2_000


def merged_entries(entries: Sequence[LoggedFilter]) -> tuple[LoggedFilter, ...]:
    """Equal scans as one with the sum of their weights, the newest ``MOST_ENTRIES`` if there are more.

    The weights of those that are left out go to the others in proportion.
    """
    merged: dict[tuple[Expr, tuple[str, ...]], LoggedFilter] = {}
    for entry in entries:
        key = (entry.filter, entry.columns)
        before = merged.pop(key, None)
        weight = entry.weight + (0.0 if before is None else before.weight)
        merged[key] = replace(entry, weight=weight)
    every = tuple(merged.values())
    kept = every[-MOST_ENTRIES:]
    factor = sum(entry.weight for entry in every) / max(sum(entry.weight for entry in kept), 1e-300)
    return kept if factor == 1.0 else tuple(replace(entry, weight=entry.weight * factor) for entry in kept)


def representatives(
    entries: Sequence[LoggedFilter], most: int, offset: float = 0.5
) -> tuple[LoggedFilter, ...]:
    """At most so many entries that stand for all of them; their weights have the same sum.

    With another ``offset``, from 0 to 1, others are drawn.

    >>> from skipstone.predicate.expr import Column, Comparison, Literal
    >>> from skipstone.predicate.types import INT
    >>> def scan(name, bound, weight):
    ...     return LoggedFilter(Comparison(">", Column((name,), INT), Literal(bound, INT)), weight)
    >>> log = [scan("x", 1, 1.0), scan("y", 1, 5.0), scan("x", 2, 2.0), scan("y", 2, 1.0)]
    >>> [(entry.filter.left.path[0], entry.weight) for entry in representatives(log, 3)]
    [('y', 6.0), ('x', 3.0)]
    """
    if len(entries) <= most:
        return tuple(entries)
    order = sorted(range(len(entries)), key=lambda index: _filtered(entries[index]))
    ends = np.cumsum([entries[index].weight for index in order])
    step = ends[-1] / most
    hit = np.searchsorted(ends, (np.arange(most) + offset) * step, side="right")
    drawn = np.bincount(np.minimum(hit, len(order) - 1), minlength=len(order))
    times = {order[index]: int(count) for index, count in enumerate(drawn) if count}
    return tuple(replace(entries[index], weight=float(times[index] * step)) for index in sorted(times))


def _filtered(entry: LoggedFilter) -> list[tuple[str, ...]]:
    return sorted(column.path for column in columns_of(entry.filter))

"""What Spark rules out by itself, from the values of partition columns.

Spark and Delta leave out partitions by conditions that read nothing but partition columns. skipstone has
statistics of these columns too, because other conditions join them with data (``p = 1 OR x > 5``), so it
rules out the same files; the credit is Spark's.
"""

from __future__ import annotations

from skipstone.predicate.expr import And, Column, Expr, columns_of, is_opaque
from skipstone.predicate.limits import within_limits
from skipstone.predicate.normalize import conjuncts

__all__ = ["on_partitions", "partition_filter"]


def on_partitions(part: Expr, partitions: frozenset[tuple[str, ...]]) -> bool:
    """Whether a condition reads partition columns and nothing else."""
    columns: frozenset[Column] = columns_of(part)
    return bool(columns) and all(column.path in partitions for column in columns) and not is_opaque(part)


def partition_filter(filter: Expr, partitions: frozenset[tuple[str, ...]]) -> Expr | None:
    """The part of a filter that Spark prunes partitions by; None if there is none."""
    parts = tuple(part for part in conjuncts(within_limits(filter)) if on_partitions(part, partitions))
    return None if not parts else And(parts) if len(parts) > 1 else parts[0]

"""Predicates that are too large or too deep to be worth looking at.

A filter is put into normal form before it is judged, and that takes more than linear time in how deep ANDs
and ORs are nested. Generated SQL can be nested hundreds of levels deep, people's is not. Beyond the limits a
predicate is not used: it becomes an opaque node, about which nothing is concluded.
"""

from __future__ import annotations

from functools import lru_cache

from skipstone.predicate.expr import And, Expr, Literal, Opaque, Or, children, columns_of, walk

__all__ = ["MOST_DEPTH", "MOST_LEVELS", "MOST_NODES", "leaves", "too_complex", "within_limits"]

MOST_NODES = 20_000
MOST_DEPTH = 200
"""How deep expressions may be nested in all."""
MOST_LEVELS = 40
"""How deep ANDs and ORs may be nested in each other."""


def within_limits(filter: Expr) -> Expr:
    """The filter with those conjuncts that are beyond the limits made opaque."""
    parts = filter.args if isinstance(filter, And) else (filter,)
    excess = [_excess(part) for part in parts]
    if not any(excess):
        return filter
    kept = tuple(
        Opaque(found, "TOO_COMPLEX", tuple(sorted(columns_of(part), key=lambda column: column.path)))
        if found
        else part
        for part, found in zip(parts, excess, strict=True)
    )
    return And(kept) if isinstance(filter, And) else kept[0]


def too_complex(part: Expr) -> bool:
    """Whether a predicate is so large that judging it would take longer than reading."""
    return sum(1 for node in walk(part) if not isinstance(node, Literal)) > MOST_NODES


@lru_cache(maxsize=4096)
def leaves(part: Expr) -> int:
    """How many predicates the ANDs and ORs of a predicate join."""
    return sum(leaves(arg) for arg in part.args) if isinstance(part, And | Or) else 1


def _excess(part: Expr) -> str:
    """What is too much about a predicate, if anything."""
    stack: list[tuple[Expr, int, int]] = [(part, 1, 1)]
    nodes = deepest = levels = 0
    while stack:
        node, depth, level = stack.pop()
        nodes += not isinstance(node, Literal)
        deepest, levels = max(deepest, depth), max(levels, level)
        below = level + isinstance(node, And | Or)
        stack.extend((child, depth + 1, below) for child in children(node))
    if levels > MOST_LEVELS or deepest > MOST_DEPTH:
        return f"a condition that is nested {deepest} levels deep"
    return f"a condition of {nodes:,} parts" if nodes > MOST_NODES else ""

"""Why a predicate could not be used: every conjunct that no statistic could judge, with a reason."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from skipstone.predicate.allows import allows
from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    In,
    Literal,
    Not,
    Opaque,
    Or,
    columns_of,
    type_of,
    walk,
)
from skipstone.predicate.limits import MOST_NODES, too_complex
from skipstone.predicate.readable import plain_constants, readable
from skipstone.pruning.blocks import BlockSet
from skipstone.pruning.budget import STEPS
from skipstone.pruning.reasons import Unused, UnusedCode
from skipstone.pruning.scope import Scope
from skipstone.pruning.value_sets import only_about

__all__ = ["curtailed", "unused_predicates"]


def unused_predicates(
    parts: tuple[Expr, ...], blocks: BlockSet, implied: Collection[int]
) -> tuple[Unused, ...]:
    """The conjuncts that served for no block; ``implied`` are the features that the filter implies."""
    # What is known is the same for no blocks at all, and costs nothing there.
    scope = Scope(blocks, np.empty(0, np.intp))
    served = frozenset[Column]().union(*(blocks.feature_columns[index] for index in implied))
    found = []
    for part in parts:
        if isinstance(part, Literal) or columns_of(part) & served:
            continue
        if (why := _why(part, scope)) is not None:
            found.append(why)
    return tuple(found)


def curtailed(parts: Sequence[Expr]) -> tuple[Unused, ...]:
    """The ORs that the work budget did not suffice for."""
    sentence = (
        "its alternatives were not compared with all other conditions: "
        f"the work budget of a decision, {STEPS:,} steps, was spent"
    )
    return tuple(Unused(part, UnusedCode.BUDGET, sentence) for part in parts)


def _why(part: Expr, scope: Scope) -> Unused | None:
    if too_complex(part):
        return Unused(part, UnusedCode.TOO_COMPLEX, f"the predicate has more than {MOST_NODES} nodes")
    if any(only_about(part, key) for key in scope.blocks.value_keys):
        return None
    if isinstance(part, Or):
        reasons = [why for why in (_why(arg, scope) for arg in part.args) if why]
        return _within(part, reasons[0]) if reasons else None
    if isinstance(part, And):
        reasons = [why for why in (_why(arg, scope) for arg in part.args) if why]
        return _within(part, reasons[0]) if len(reasons) == len(part.args) else None
    for node in walk(part):
        if isinstance(node, Opaque):
            text = plain_constants(node.text) or "a part"
            if node.code == "TOO_COMPLEX":
                return Unused(part, UnusedCode.OPAQUE, f"{text} is too much to be judged", node.code)
            sentence = f"{text} is not understood ({node.code})"
            return Unused(part, UnusedCode.OPAQUE, sentence, node.code)
    return _why_atom(part, scope)


def _within(part: Expr, why: Unused) -> Unused:
    sentence = f"{readable(why.predicate)} cannot be judged: {why.sentence}"
    return Unused(part, why.code, sentence, why.detail, why.subject)


def _why_atom(part: Expr, scope: Scope) -> Unused | None:
    if found := allows(part):
        expr, values = found.subject, found.possible
        if values.empty:
            return None
        if not values.bounded:
            return _no_counts(part, expr, scope)
        bounds = scope.bounds(expr)
        known = bounds.low is not None or bounds.high is not None
        return None if known else _missing(part, expr, scope)
    inner = part.arg if isinstance(part, Not) else part
    if isinstance(inner, Comparison):
        sides = [side for side in (inner.left, inner.right) if not isinstance(side, Literal)]
        for side in sides:
            bounds = scope.bounds(side)
            if bounds.low is None and bounds.high is None:
                return _missing(part, side, scope)
        if len({type_of(side).text for side in (inner.left, inner.right)}) == 1 and len(sides) == 2:
            return None
    if isinstance(inner, (Comparison, In)):
        return Unused(part, UnusedCode.TYPE_MISMATCH, "the types of the two sides differ")
    return Unused(part, UnusedCode.NO_BOUNDS, f"no statistic can judge {readable(part)}")


def _no_counts(part: Expr, expr: Expr, scope: Scope) -> Unused | None:
    """Predicates that only NULL counts speak about: IS NULL, and text search within."""
    statistics = scope.statistics(expr)
    if statistics is None and not isinstance(expr, Call):
        return _missing(part, expr, scope)
    if statistics is not None and not (statistics.nulls >= 0).any():
        return Unused(part, UnusedCode.NO_STATISTICS, f"no NULL count of {readable(expr)}")
    if _searches_texts(part):
        sentence = f"min/max say nothing about {readable(part)}; a value set or a feature would"
        return Unused(part, UnusedCode.NO_BOUNDS, sentence)
    if statistics is None and not scope.bounds(expr).informative:
        return _missing(part, expr, scope)
    return None


def _searches_texts(part: Expr) -> bool:
    """Whether the predicate looks inside texts, so that it says more than IS [NOT] NULL does."""
    inner = part.arg if isinstance(part, Not) else part
    return hasattr(inner, "pattern")


def _missing(part: Expr, expr: Expr, scope: Scope) -> Unused:
    name = readable(expr)
    if isinstance(expr, Column):
        if not expr.type.ordered:
            return Unused(part, UnusedCode.UNSUPPORTED_TYPE, f"{name} has the type {expr.type}")
        if expr not in scope.blocks.statistics and expr.path in scope.blocks.paths:
            return Unused(part, UnusedCode.TYPE_MISMATCH, f"the statistics on {name} are of another type")
        return Unused(part, UnusedCode.NO_STATISTICS, f"no statistics on {name}")
    for column in sorted(columns_of(expr), key=lambda column: column.path):
        if scope.statistics(column) is None:
            return _missing(part, column, scope)
    sentence = f"{name} is an expression without statistics"
    return Unused(part, UnusedCode.NOT_MONOTONE, sentence, subject=expr)

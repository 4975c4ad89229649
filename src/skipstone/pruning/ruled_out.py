"""Blocks that a rule rules out, and by what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skipstone.predicate.allowed import AllowedValues
from skipstone.predicate.expr import Expr
from skipstone.pruning.bounds import Bounds
from skipstone.pruning.exclude import cannot_match
from skipstone.pruning.masks import Mask, both, negated
from skipstone.pruning.reasons import Code

__all__ = ["RuledOut", "atom"]


@dataclass(frozen=True, slots=True, eq=False)
class RuledOut:
    """Blocks that one rule rules out. ``subject`` is what the statistics are about."""

    cannot_match: Mask
    code: Code
    subject: Expr | None
    predicate: Expr
    text: str = ""


def atom(part: Expr, expr: Expr, allowed: AllowedValues, bounds: Bounds) -> Iterator[RuledOut]:
    """What the bounds of one expression say about one predicate over it."""
    if allowed.empty:
        yield RuledOut(True, Code.CONTRADICTION, None, part)
        return
    mask = cannot_match(allowed, bounds)
    if not allowed.bounded:
        yield RuledOut(mask, Code.NULL_COUNT, expr, part)
        return
    if bounds.value is not True:
        yield RuledOut(both(mask, negated(bounds.value)), Code.NULL_COUNT, expr, part)
    yield RuledOut(mask, Code.MIN_MAX, expr, part)

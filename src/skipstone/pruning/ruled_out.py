"""What a rule finds: blocks that are ruled out, and by what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skipstone.predicate.admitted import Admitted
from skipstone.predicate.expr import Expr
from skipstone.predicate.ranges import ALL
from skipstone.pruning.bounds import Bounds
from skipstone.pruning.exclude import excluded
from skipstone.pruning.masks import Mask, both, negated
from skipstone.pruning.reasons import Code

__all__ = ["Finding", "atom"]


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """Blocks that one rule rules out. ``subject`` is what the statistics are about."""

    mask: Mask
    code: Code
    subject: Expr | None
    predicate: Expr
    text: str = ""


def atom(part: Expr, expr: Expr, found: Admitted, bounds: Bounds) -> Iterator[Finding]:
    """What the bounds of one expression say about one predicate over it."""
    if found.empty:
        yield Finding(True, Code.CONTRADICTION, None, part)
        return
    mask = excluded(found, bounds)
    if not found.ranges or found.ranges == ALL:
        yield Finding(mask, Code.NULL_COUNT, expr, part)
        return
    if bounds.value is not True:
        yield Finding(both(mask, negated(bounds.value)), Code.NULL_COUNT, expr, part)
    yield Finding(mask, Code.MIN_MAX, expr, part)

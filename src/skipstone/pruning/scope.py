"""The blocks under consideration, and what is known of any expression over them.

Bounds come from statistics that are tracked for the very expression, and for calls also from the
bounds of their arguments (:mod:`skipstone.pruning.monotone`); what both say holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from skipstone.predicate.expr import Call, Column, Expr, Literal, type_of
from skipstone.pruning.blocks import BlockSet, Statistics
from skipstone.pruning.bounds import UNKNOWN, Bounds, constant, from_statistics, meet, unknown
from skipstone.pruning.monotone import derive

__all__ = ["Scope"]

Some = TypeVar("Some", np.uint64, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The blocks under consideration: all of them, or those at ``index``."""

    blocks: BlockSet
    index: npt.NDArray[np.intp] | None = None
    memo: dict[Expr, Bounds] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.blocks) if self.index is None else len(self.index)

    def statistics(self, expr: Expr) -> Statistics | None:
        """The statistics tracked for this very expression, if they are of its type."""
        found = self.blocks.statistics.get(expr)
        return found if found is not None and found.type == type_of(expr) else None

    def bounds(self, expr: Expr) -> Bounds:
        """The bounds of a scalar expression over the blocks of this scope."""
        if (known := self.memo.get(expr)) is None:
            known = self.memo[expr] = self._find(expr)
        return known

    def narrow(self, words: npt.NDArray[Some]) -> npt.NDArray[Some]:
        """The entries of these blocks out of an array that has one per block of the table."""
        return words if self.index is None else words[self.index]

    def _find(self, expr: Expr) -> Bounds:
        if isinstance(expr, Literal):
            return constant(expr)
        if not isinstance(expr, (Column, Call)):
            return UNKNOWN
        found = self._tracked(expr)
        if isinstance(expr, Call):
            computed = derive(expr, tuple(self.bounds(arg) for arg in expr.args))
            return meet(found, computed) if computed.informative else found
        return found

    def _tracked(self, expr: Column | Call) -> Bounds:
        statistics = self.statistics(expr)
        if statistics is None:
            return unknown(expr.type)
        cached = self.blocks.derived.get(expr)
        if not isinstance(cached, Bounds):
            cached = self.blocks.derived[expr] = from_statistics(statistics, self.blocks.rows)
        return cached if self.index is None else cached.take(self.index)

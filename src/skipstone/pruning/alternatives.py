"""ORs inside a conjunction: a block is ruled out if each branch is, together with the other conjuncts.

Every OR is first judged by itself, which is linear in the filter. Then its branches are judged beside the
other conjuncts; then beside the branches of one more OR, and so on up to ``DEPTH`` ORs at once, so that the
product of two ORs is as good as its disjunctive form. Each round goes over all ORs before the next one
starts, and stops when the budget (:mod:`~skipstone.pruning.budget`) is spent.

A second OR can only say more in the context of a branch if the two have something in common: a column, or a
feature that reads a column of each. Others are passed over.

Example: neither OR of ``(a < 2 OR a > 7) AND (a = 5 OR b > 9)`` rules out a block with ``a`` in 0..9 and
``b`` in 0..9. In the context of the first OR, which is an atom over ``a``, the branch ``a = 5`` contradicts
it, and ``b > 9`` is ruled out alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from skipstone.predicate.allows import allows
from skipstone.predicate.expr import And, Column, Expr, Or, columns_of
from skipstone.pruning.filter_context import FilterContext, Parts
from skipstone.pruning.masks import Mask, both, either
from skipstone.pruning.reasons import Code
from skipstone.pruning.ruled_out import RuledOut
from skipstone.pruning.rules import Rules

__all__ = ["DEPTH", "Alternatives"]

DEPTH = 4
_BLOCKS_PER_STEP = 8192
_ORS_PER_STEP = 32


@dataclass(slots=True, eq=False)
class Alternatives:
    """Judges the ORs of a conjunction. ``curtailed`` are those for which the budget did not suffice."""

    rules: Rules
    curtailed: dict[Expr, None] = field(default_factory=dict)
    _alone: dict[Expr, Mask] = field(default_factory=dict)
    _columns: dict[int, frozenset[Column]] = field(default_factory=dict)
    _more: bool = False
    """Whether this round left out anything that the next one would look at."""

    def judge(self, top: FilterContext) -> Iterator[RuledOut]:
        """What the ORs of a filter rule out, first by themselves and then in ever more context."""
        ors = self._worthwhile(top.fresh)
        for part in ors:
            yield RuledOut(self._or_alone(part), Code.COMBINED, None, part)
        for depth in range(1, DEPTH + 1):
            self._more = False
            for index, part in enumerate(ors):
                if self.rules.budget.left == 0:
                    self.curtailed[part] = None
                    continue
                self.rules.budget.refused = False
                mask = self._every_branch(part, top, ors[index + 1 :], depth)
                if self.rules.budget.refused:
                    self.curtailed[part] = None
                yield RuledOut(mask, Code.COMBINED, None, part)
            if not self._more or self.curtailed:
                return

    def _worthwhile(self, parts: Parts) -> tuple[Or, ...]:
        """The ORs, but for those over one expression, which are atoms, where no feature could say more."""
        features = bool(self.rules.scope.blocks.features)
        return tuple(part for part in parts if isinstance(part, Or) and (features or not allows(part)))

    def _or_alone(self, part: Or) -> Mask:
        mask: Mask = True
        for branch in part.args:
            mask = both(mask, self.alone(branch))
            if not np.any(mask):
                return False
        return mask

    def alone(self, branch: Expr) -> Mask:
        """Where a branch cannot hold, whatever holds beside it."""
        if (known := self._alone.get(branch)) is None:
            context = FilterContext(_conjuncts(branch))
            known = self._by_rules(context, features=False)
            for part in self._worthwhile(context.fresh):
                known = either(known, self._or_alone(part))
            self._alone[branch] = known
        return known

    def _by_rules(self, context: FilterContext, *, features: bool = True) -> Mask:
        mask: Mask = False
        for part in context.fresh:
            for found in self.rules.atom(part):
                mask = either(mask, found.cannot_match)
        for found in self.rules.together(context, features=features):
            mask = either(mask, found.cannot_match)
        return mask

    def _every_branch(self, part: Or, context: FilterContext, later: tuple[Or, ...], depth: int) -> Mask:
        """Where no branch can hold together with what holds around the OR."""
        mask: Mask = True
        for branch in part.args:
            mask = both(mask, self._branch(branch, context, later, depth))
            if not np.any(mask):
                return False
        return mask

    def _branch(self, branch: Expr, context: FilterContext, later: tuple[Or, ...], depth: int) -> Mask:
        fresh = _conjuncts(branch)
        mask = self.alone(branch)
        if np.all(mask) or not self.rules.budget.take(self._steps(fresh)):
            return mask
        inner = FilterContext(fresh, context, set(context.served))
        mask = either(mask, self._by_rules(inner))
        nested = self._worthwhile(fresh)
        if depth == 1:
            self._more = self._more or bool(nested or later)
            return mask
        if not self.rules.budget.take(len(later) // _ORS_PER_STEP):
            return mask
        near, far = self._near(inner.new_columns, later)
        ors = (*nested, *near)
        for index, part in enumerate(ors):
            if np.all(mask):
                break
            mask = either(mask, self._every_branch(part, inner, (*ors[index + 1 :], *far), depth - 1))
        return mask

    def _steps(self, fresh: Parts) -> int:
        return (1 + len(fresh)) * (1 + len(self.rules.scope) // _BLOCKS_PER_STEP)

    def _near(
        self, columns: frozenset[Column], later: tuple[Or, ...]
    ) -> tuple[tuple[Or, ...], tuple[Or, ...]]:
        """The ORs that have something in common with a branch, and the others."""
        blocks = self.rules.scope.blocks
        within = {index for column in columns for index in blocks.feature_indices.get(column, ())}
        reach = columns.union(*(blocks.feature_columns[index] for index in within))
        near = tuple(part for part in later if not reach.isdisjoint(self._columns_of(part)))
        return near, tuple(part for part in later if reach.isdisjoint(self._columns_of(part)))

    def _columns_of(self, part: Or) -> frozenset[Column]:
        if (known := self._columns.get(id(part))) is None:
            known = self._columns[id(part)] = columns_of(part)
        return known


def _conjuncts(branch: Expr) -> Parts:
    return branch.args if isinstance(branch, And) else (branch,)

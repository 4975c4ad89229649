"""The rules by which a conjunction rules blocks out, by its conjuncts one by one and together.

A conjunction is judged by its *fresh* conjuncts: at the top all of them, inside a branch of an OR those
of the branch. Whatever the other conjuncts rule out by themselves has been ruled out outside already,
so here they only matter together with a fresh one: in the meet of all atoms over one expression, in a
value set, in the implication of a feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from skipstone.predicate.allows import allows
from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    Literal,
    Not,
    Or,
    columns_of,
    type_of,
)
from skipstone.predicate.implies import implies_compiled
from skipstone.predicate.limits import leaves
from skipstone.predicate.normalize import TRUE
from skipstone.predicate.nullness import not_null
from skipstone.pruning.blocks import ValueSets, Words
from skipstone.pruning.budget import Budget
from skipstone.pruning.exclude import cannot_match, pair_cannot_match
from skipstone.pruning.filter_context import FilterContext
from skipstone.pruning.masks import Mask, either, negated
from skipstone.pruning.reasons import Code
from skipstone.pruning.ruled_out import RuledOut, atom
from skipstone.pruning.scope import Scope
from skipstone.pruning.value_sets import only_about, satisfied, without_member

__all__ = ["Rules"]

_NAMED_FEATURES = 16


@dataclass(slots=True, eq=False)
class Rules:
    """The rules over one scope. ``implied`` collects the features that served in any context.

    ``curtailed`` are the ORs that were not compared with every feature, for want of budget.
    """

    scope: Scope
    budget: Budget = field(default_factory=Budget)
    implied: set[int] = field(default_factory=set)
    curtailed: dict[Expr, None] = field(default_factory=dict)
    _atoms: dict[Expr, list[RuledOut]] = field(default_factory=dict)
    _alone: dict[Expr, Mask] = field(default_factory=dict)
    _about: dict[Expr, list[int]] = field(default_factory=dict)
    _members: dict[tuple[Expr, Expr], tuple[Words, bool]] = field(default_factory=dict)
    _sets: dict[Expr, ValueSets] = field(default_factory=dict)
    _sets_met: dict[tuple[int, int], tuple[Words, bool]] = field(default_factory=dict)
    _contexts: list[FilterContext] = field(default_factory=list)
    """Held so that no other context gets the id of one that is remembered."""

    def together(self, context: FilterContext, *, features: bool = True) -> Iterator[RuledOut]:
        """What more the fresh conjuncts rule out together, and with those outside."""
        yield from self._meets(context)
        yield from self._value_sets(context)
        if features and self.scope.blocks.features:
            yield from self._features(context)

    def atom(self, part: Expr) -> list[RuledOut]:
        """What rules blocks out by one conjunct alone."""
        if (known := self._atoms.get(part)) is None:
            known = self._atoms[part] = list(self._judge_atom(part))
        return known

    def _judge_atom(self, part: Expr) -> Iterator[RuledOut]:
        if isinstance(part, Literal):
            yield RuledOut(part.value is not True, Code.CONTRADICTION, None, part)
        elif found := allows(part):
            yield from atom(part, found.subject, found.possible, self.scope.bounds(found.subject))
        elif not isinstance(part, Or):
            yield from self._pair(part)
            for expr in not_null(part):
                bounds = self.scope.bounds(expr)
                if isinstance(expr, (Column, Call)) and bounds.value is not True:
                    yield RuledOut(negated(either(bounds.value, bounds.nan)), Code.NULL_COUNT, expr, part)

    def _pair(self, part: Expr) -> Iterator[RuledOut]:
        match part:
            case Comparison(op=op, left=left, right=right):
                pass
            case Not(arg=Comparison(op=("=" | "<=>") as denied, left=left, right=right)):
                op = "!=" if denied == "=" else "not <=>"
            case _:
                return
        if type_of(left) == type_of(right) and type_of(left).ordered:
            mask = pair_cannot_match(op, self.scope.bounds(left), self.scope.bounds(right))
            yield RuledOut(mask, Code.MIN_MAX, None, part)

    def _meets(self, context: FilterContext) -> Iterator[RuledOut]:
        """All atoms over one expression at once, where that says more than one by one."""
        for expr, own in context.atoms.items():
            met = context.met(expr)
            if met is None or (len(own) == 1 and met == own[0][1]):
                continue  # there is but one, or the others add nothing to it
            if met.empty:
                yield RuledOut(True, Code.CONTRADICTION, None, _all(_named(context, expr)))
            elif not context.simple(expr):
                mask = cannot_match(met, self.scope.bounds(expr))
                yield RuledOut(mask, Code.COMBINED, expr, _all(_named(context, expr)))

    def _value_sets(self, context: FilterContext) -> Iterator[RuledOut]:
        for index in sorted({index for part in context.fresh for index in self._keys(part)}):
            key = self.scope.blocks.value_keys[index]
            words, null_holds = self._members_of(context, index)
            mask = without_member(self._narrow(key), words, null_holds, self.scope.bounds(key).null)
            about = [part for part in context.fresh if index in self._keys(part)]
            yield RuledOut(mask, Code.VALUE_SET, key, _all(about))

    def _members_of(self, context: FilterContext, index: int) -> tuple[Words, bool]:
        """The values of a dictionary that satisfy all conjuncts that are only about it; whether NULL does."""
        if (known := self._sets_met.get((id(context), index))) is None:
            key = self.scope.blocks.value_keys[index]
            found = [self._satisfied(part, key) for part in context.fresh if index in self._keys(part)]
            if context.outer is not None:
                found.append(self._members_of(context.outer, index))
            if not found:
                found.append(satisfied(TRUE, key, self._narrow(key)))
            known = reduce(np.bitwise_and, (words for words, _ in found)), all(null for _, null in found)
            self._sets_met[id(context), index] = known
            self._contexts.append(context)
        return known

    def _keys(self, part: Expr) -> list[int]:
        """The indices of the value sets that the predicate is only about."""
        if (known := self._about.get(part)) is None:
            blocks = self.scope.blocks
            candidates = blocks.value_set_indices.get(columns_of(part), ())
            known = [index for index in candidates if only_about(part, blocks.value_keys[index])]
            self._about[part] = known
        return known

    def _satisfied(self, part: Expr, key: Expr) -> tuple[Words, bool]:
        """The values of the key's dictionary that satisfy the predicate, and whether NULL does."""
        if (known := self._members.get((part, key))) is None:
            known = self._members[part, key] = satisfied(part, key, self._narrow(key))
        return known

    def _narrow(self, key: Expr) -> ValueSets:
        if key not in self._sets:
            sets = self.scope.blocks.statistics[key].values
            assert sets is not None
            words, known = self.scope.narrow(sets.words), self.scope.narrow(sets.known)
            self._sets[key] = ValueSets(sets.dictionary, words, known, sets.last)
        return self._sets[key]

    def _features(self, context: FilterContext) -> Iterator[RuledOut]:
        """Features that the conjunction implies: a block without one has no row to offer."""
        blocks = self.scope.blocks
        hits = [index for index in self._candidates(context) if self._follows(context, index)]
        context.served.update(hits)
        self.implied.update(hits)
        for index in hits[:_NAMED_FEATURES]:
            feature = blocks.features[index]
            yield RuledOut(self._absent([index]), Code.FEATURE, None, feature.predicate, feature.text)
        if rest := hits[_NAMED_FEATURES:]:
            yield RuledOut(self._absent(rest), Code.FEATURE, None, _all(context.fresh), f"{len(rest)} others")

    def _candidates(self, context: FilterContext) -> list[int]:
        """The features that read a column of a fresh conjunct, and none that no conjunct reads."""
        blocks = self.scope.blocks
        indices = {
            index for column in context.new_columns for index in blocks.feature_indices.get(column, ())
        }
        new = sorted(indices - context.served)
        return [index for index in new if blocks.feature_columns[index] <= context.columns]

    def _follows(self, context: FilterContext, index: int) -> bool:
        """Whether the conjunction implies a feature, as far as the budget lets us see."""
        blocks = self.scope.blocks
        needed, feature = blocks.feature_columns[index], blocks.features[index].predicate
        about = context.about(needed)
        ors = [part for part in about if isinstance(part, Or)]
        # At the top this is linear in the features. Everything else is a product of two numbers.
        if context.outer is None or self.budget.take(len(about)):
            if implies_compiled(context.compiled(needed, ors=False), feature):
                return True
            if not ors or self.budget.take(sum(map(leaves, ors))):
                return bool(ors) and implies_compiled(context.compiled(needed, ors=True), feature)
        self.curtailed.update(dict.fromkeys(ors))
        return False

    def _absent(self, indices: list[int]) -> Mask:
        """Where one of the features is known to be absent."""
        mask: Mask = False
        for word in {index // 64 for index in indices}:
            bits = np.uint64(sum(1 << index % 64 for index in indices if index // 64 == word))
            mask = either(mask, (self.scope.narrow(self.scope.blocks.absent[word]) & bits) != 0)
        return mask


def _named(context: FilterContext, expr: Expr) -> Sequence[Expr]:
    """The atoms about an expression, for a reason; reasons are only given at the top."""
    return [part for part, _ in context.atoms[expr]]


def _all(parts: Sequence[Expr]) -> Expr:
    return parts[0] if len(parts) == 1 else And(tuple(parts))

"""The rules by which a conjunction rules blocks out, with ORs judged inside their conjunction.

A conjunction is judged by its *fresh* conjuncts: at the top all of them, inside a branch of an OR those
of the branch. Whatever the other conjuncts rule out by themselves has been ruled out outside already,
so here they only matter together with a fresh one: in the meet of all atoms over one expression, in a
value set, in the implication of a feature.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from skipstone.predicate.admitted import Admitted, admitted
from skipstone.predicate.blocks import ValueSets, Words
from skipstone.predicate.exclude import excluded, excluded_pair
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
from skipstone.predicate.findings import Finding, atom
from skipstone.predicate.implies import implies
from skipstone.predicate.masks import Mask, both, either, negated
from skipstone.predicate.nullness import not_null
from skipstone.predicate.reasons import Code
from skipstone.predicate.scope import Scope
from skipstone.predicate.value_sets import only_about, satisfied, without_member

__all__ = ["Rules"]

BRANCHES = 128
DEPTH = 4
_NAMED_FEATURES = 16

Parts = tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Rules:
    """The rules over one scope. ``implied`` collects the features that served in any context."""

    scope: Scope
    implied: set[int] = field(default_factory=set)
    _branches_left: int = BRANCHES
    _atoms: dict[Expr, list[Finding]] = field(default_factory=dict)
    _alone: dict[Expr, Mask] = field(default_factory=dict)
    _about: dict[Expr, list[int]] = field(default_factory=dict)
    _members: dict[tuple[Expr, Expr], tuple[Words, bool]] = field(default_factory=dict)
    _sets: dict[Expr, ValueSets] = field(default_factory=dict)

    def alone(self, part: Expr) -> Iterator[Finding]:
        """What rules blocks out by one conjunct alone."""
        yield from self._atom(part)

    def together(self, parts: Parts) -> Iterator[Finding]:
        """What more the conjuncts rule out together, and by the branches of their ORs."""
        yield from self._together(parts, parts, set())
        yield from self._alternatives(parts, _ors(parts), DEPTH)

    def _atom(self, part: Expr) -> list[Finding]:
        if (known := self._atoms.get(part)) is None:
            known = self._atoms[part] = list(self._judge_atom(part))
        return known

    def _judge_atom(self, part: Expr) -> Iterator[Finding]:
        if isinstance(part, Literal):
            yield Finding(part.value is not True, Code.CONTRADICTION, None, part)
        elif found := admitted(part):
            yield from atom(part, *found, self.scope.bounds(found[0]))
        elif not isinstance(part, Or):
            yield from self._pair(part)
            for expr in not_null(part):
                bounds = self.scope.bounds(expr)
                if isinstance(expr, (Column, Call)) and bounds.value is not True:
                    yield Finding(negated(either(bounds.value, bounds.nan)), Code.NULL_COUNT, expr, part)

    def _pair(self, part: Expr) -> Iterator[Finding]:
        match part:
            case Comparison(op=op, left=left, right=right):
                pass
            case Not(arg=Comparison(op="=", left=left, right=right)):
                op = "!="
            case _:
                return
        if type_of(left) == type_of(right) and type_of(left).ordered:
            mask = excluded_pair(op, self.scope.bounds(left), self.scope.bounds(right))
            yield Finding(mask, Code.MIN_MAX, None, part)

    def _together(self, parts: Parts, fresh: Parts, served: set[int]) -> Iterator[Finding]:
        yield from self._meets(parts, fresh)
        yield from self._value_sets(parts, fresh)
        yield from self._features(parts, fresh, served)

    def _meets(self, parts: Parts, fresh: Parts) -> Iterator[Finding]:
        """All atoms over one expression at once, where that says more than one by one."""
        groups: dict[Expr, list[tuple[Expr, Admitted]]] = {}
        for part in parts:
            if found := admitted(part):
                groups.setdefault(found[0], []).append((part, found[1]))
        for expr, members in groups.items():
            if len(members) < 2 or not any(part in fresh for part, _ in members):
                continue
            met = reduce(lambda left, right: left & right, (found for _, found in members))
            predicate = And(tuple(part for part, _ in members))
            if met.empty:
                yield Finding(True, Code.CONTRADICTION, None, predicate)
            elif type_of(expr).floating or any(found.null or len(found.ranges) != 1 for _, found in members):
                yield Finding(excluded(met, self.scope.bounds(expr)), Code.COMBINED, expr, predicate)

    def _value_sets(self, parts: Parts, fresh: Parts) -> Iterator[Finding]:
        members: dict[int, list[Expr]] = {}
        for part in parts:
            for place in self._keys(part):
                members.setdefault(place, []).append(part)
        for place in sorted(members):
            key, about = self.scope.blocks.value_keys[place], members[place]
            if not any(part in fresh for part in about):
                continue
            found = [self._satisfied(part, key) for part in about]
            words = reduce(np.bitwise_and, (each[0] for each in found))
            null_holds = all(each[1] for each in found)
            mask = without_member(self._narrow(key), words, null_holds, self.scope.bounds(key).null)
            yield Finding(mask, Code.VALUE_SET, key, _all(tuple(about)))

    def _keys(self, part: Expr) -> list[int]:
        """The places of the value sets that the predicate is only about."""
        if (known := self._about.get(part)) is None:
            blocks = self.scope.blocks
            candidates = blocks.value_places.get(columns_of(part), ())
            known = [place for place in candidates if only_about(part, blocks.value_keys[place])]
            self._about[part] = known
        return known

    def _satisfied(self, part: Expr, key: Expr) -> tuple[Words, bool]:
        """The values of the key's dictionary that satisfy the predicate, and whether NULL does."""
        if (known := self._members.get((part, key))) is None:
            known = self._members[part, key] = satisfied(part, key, self._narrow(key).dictionary)
        return known

    def _narrow(self, key: Expr) -> ValueSets:
        if key not in self._sets:
            sets = self.scope.blocks.statistics[key].values
            assert sets is not None
            words, known = self.scope.narrow(sets.words), self.scope.narrow(sets.known)
            self._sets[key] = ValueSets(sets.dictionary, words, known)
        return self._sets[key]

    def _features(self, parts: Parts, fresh: Parts, served: set[int]) -> Iterator[Finding]:
        """Features that the conjunction implies: a block without one has no row to offer."""
        blocks = self.scope.blocks
        if not blocks.features:
            return
        query = _all(parts)
        columns = columns_of(query)
        new = frozenset[Column]().union(*map(columns_of, fresh))
        hits = [
            place
            for place, needed in enumerate(blocks.feature_columns)
            if place not in served and needed <= columns and needed & new
            if implies(query, blocks.features[place].predicate)
        ]
        served.update(hits)
        self.implied.update(hits)
        for place in hits[:_NAMED_FEATURES]:
            feature = blocks.features[place]
            yield Finding(self._absent([place]), Code.FEATURE, None, feature.predicate, feature.text)
        if rest := hits[_NAMED_FEATURES:]:
            yield Finding(self._absent(rest), Code.FEATURE, None, query, f"{len(rest)} others")

    def _absent(self, places: list[int]) -> Mask:
        """Where one of the features is known to be absent."""
        mask: Mask = False
        for word in {place // 64 for place in places}:
            bits = np.uint64(sum(1 << place % 64 for place in places if place // 64 == word))
            mask = either(mask, (self.scope.narrow(self.scope.blocks.absent[word]) & bits) != 0)
        return mask

    def _alternatives(self, parts: Parts, ors: Parts, depth: int) -> Iterator[Finding]:
        """ORs in turn; inside its branches only the later ones are judged again."""
        for place, part in enumerate(ors):
            assert isinstance(part, Or)
            if admitted(part) and not self.scope.blocks.features:
                continue  # over one expression, and judged as an atom
            others = tuple(other for other in parts if other != part)
            mask = self._every_branch(part, others, ors[place + 1 :], depth)
            yield Finding(mask, Code.COMBINED, None, part)

    def _every_branch(self, part: Or, others: Parts, later: Parts, depth: int) -> Mask:
        mask: Mask = True
        for branch in part.args:
            mask = both(mask, self._branch(branch, others, later, depth))
            if not np.any(mask):
                return False
        return mask

    def _branch(self, branch: Expr, others: Parts, later: Parts, depth: int) -> Mask:
        """Where a branch cannot hold together with the other conjuncts; alone if that gets too much."""
        fresh = branch.args if isinstance(branch, And) else (branch,)
        in_context = depth > 0 and self._branches_left > 0
        if not in_context:
            if branch not in self._alone:
                self._alone[branch] = _any(self._branch_findings(fresh, fresh, _ors(fresh), 0))
            return self._alone[branch]
        self._branches_left -= 1
        return _any(self._branch_findings((*others, *fresh), fresh, (*_ors(fresh), *later), depth - 1))

    def _branch_findings(self, parts: Parts, fresh: Parts, ors: Parts, depth: int) -> Iterator[Finding]:
        for part in fresh:
            yield from self._atom(part)
        yield from self._together(parts, fresh, set())
        yield from self._alternatives(parts, ors, depth)


def _any(findings: Iterable[Finding]) -> Mask:
    mask: Mask = False
    for finding in findings:
        mask = either(mask, finding.mask)
        if mask is True:
            break
    return mask


def _ors(parts: Parts) -> Parts:
    return tuple(part for part in parts if isinstance(part, Or))


def _all(parts: Parts) -> Expr:
    return parts[0] if len(parts) == 1 else And(parts)

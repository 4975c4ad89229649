"""Block pruning: which blocks have no row for which the filter is true.

Three-valued logic decides what "skip" may mean: a filter keeps a row only if it is true, so a block
is skipped if every row makes it false or NULL. Nothing below ever shows that a filter is false; it
shows that it cannot be true, which is the same for rows and never turned around by a NOT, because
filters come with negation pushed down to the atoms. What is unknown can be true.

Let the filter be a conjunction. A block is skipped if one of these rules it out:

* an atom over one expression, by min, max, NULL and NaN counts (:mod:`~skipstone.pruning.exclude`);
* all atoms over one expression together: ``x IN (1, 10) AND x > 5`` leaves 10;
* a comparison of two expressions, by the bounds of both;
* the value set of an expression that conjuncts are only about (:mod:`~skipstone.pruning.value_sets`);
* a feature that the conjunction implies and that no row of the block has (the union vector's bit is
  0). This is feature-based skipping, section 5 of "Fine-grained Partitioning for Aggressive Data
  Skipping" (SIGMOD 2014), with the query vector as a mask over 64 features at a time;
* what other tables hold for the rows of the block, where the filter asks for a partner that satisfies a
  condition: the partners' values are pruned by that condition like the rows of a block;
* an OR each of whose branches is ruled out, each judged together with the other conjuncts, so that a
  feature ``a AND b`` serves ``(a OR c) AND b`` as well.

Cost: a few vector operations over all blocks for each atom; implication is asked once per feature
and conjunction, never per block. Cheap rules come first, the others see only the surviving blocks if
these are few. What grows faster than the filter has a budget (:mod:`~skipstone.pruning.budget`): when it is
spent, the ORs that are left were judged by themselves only, and the decision says so.

Example: with bounds 0 to 9 of ``x`` the block is skipped for ``x > 20``, and for ``x IN (7, 99) AND x > 8``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from skipstone.predicate.allows import allows
from skipstone.predicate.expr import Expr, Literal
from skipstone.predicate.limits import too_complex
from skipstone.predicate.normalize import conjuncts
from skipstone.predicate.partner import partner_of
from skipstone.predicate.types import BOOLEAN
from skipstone.pruning.alternatives import Alternatives
from skipstone.pruning.blocks import BlockSet
from skipstone.pruning.budget import Budget
from skipstone.pruning.filter_context import FilterContext
from skipstone.pruning.masks import spread
from skipstone.pruning.reasons import MIGHT_MATCH, Answer, Code, PruneResult, Reason, reason
from skipstone.pruning.ruled_out import RuledOut
from skipstone.pruning.rules import Rules
from skipstone.pruning.scope import Scope
from skipstone.pruning.unused import curtailed, unused_predicates

__all__ = ["prune", "prune_block"]

TRUE = Literal(True, BOOLEAN)
_MOST_REASONS = 30_000


def prune(filter: Expr, blocks: BlockSet, budget: Budget | None = None) -> PruneResult:
    """Decide for every block whether rows might satisfy the filter, and say why not.

    The ``budget`` bounds the work that is more than linear in the filter.
    """
    parts = conjuncts(filter)
    usable = tuple(part for part in parts if not too_complex(part))
    ledger = _Ledger(Rules(Scope(blocks), budget or Budget()), np.zeros(len(blocks), np.int16))
    cheap: list[Expr] = []
    others: list[Expr] = []
    for part in usable:
        (cheap if _is_cheap(part, ledger.rules.scope) else others).append(part)
    if blocks.has_empty:
        ledger.record([RuledOut(blocks.rows == 0, Code.NO_ROWS, None, TRUE)])
    ledger.record(found for part in cheap for found in ledger.rules.atom(part))
    for part in sorted(others, key=_ranges):
        ledger.record(ledger.survivors().atom(part))
    judged = ledger.through_joins(usable, blocks)
    top, rules = FilterContext(usable), ledger.survivors()
    ledger.record(rules.together(top))
    alternatives = Alternatives(ledger.survivors())
    ledger.record(alternatives.judge(top))
    unjudged = tuple(part for part in parts if part not in judged)
    unused = unused_predicates(unjudged, blocks, ledger.rules.implied)
    if not np.all(ledger.verdict):
        unused += curtailed(tuple(alternatives.curtailed | ledger.rules.curtailed))
    return PruneResult(ledger.verdict != 0, ledger.verdict, tuple(ledger.reasons), unused)


def prune_block(filter: Expr, blocks: BlockSet, block: int = 0) -> Answer:
    """The answer for one block."""
    return prune(filter, blocks).answer(block)


def _is_cheap(part: Expr, scope: Scope) -> bool:
    """Whether judging all blocks costs next to nothing: constants, single ranges of stored numbers."""
    found = allows(part)
    if found is None or len(found.possible.ranges) > 1 or scope.statistics(found.subject) is None:
        return isinstance(part, Literal)
    return isinstance(scope.bounds(found.subject).low, np.ndarray)


def _ranges(part: Expr) -> int:
    """How many ranges a predicate allows, and so roughly what it costs."""
    found = allows(part)
    return len(found.possible.ranges) if found else 1


@dataclass(slots=True, eq=False)
class _Ledger:
    """The verdict on all blocks as it grows, and the rules over those that are left."""

    rules: Rules
    verdict: npt.NDArray[np.int16]
    reasons: list[Reason] = field(default_factory=lambda: [MIGHT_MATCH])

    def survivors(self) -> Rules:
        """The rules, over fewer blocks once most blocks of their scope are ruled out."""
        alive = len(self.verdict) - np.count_nonzero(self.verdict)
        if alive < len(self.rules.scope) // 2:
            left = Scope(self.rules.scope.blocks, np.flatnonzero(self.verdict == 0))
            self.rules = Rules(left, self.rules.budget, self.rules.implied, self.rules.curtailed)
        return self.rules

    def record(self, ruled_out: Iterable[RuledOut]) -> None:
        """Give every block that is newly ruled out the first reason for it."""
        useful: list[RuledOut] = []
        for found in ruled_out:
            if np.any(found.cannot_match) and len(useful) + len(self.reasons) < _MOST_REASONS:
                useful.append(found)
            if found.cannot_match is True:
                break
        if useful:
            self._write(_first(useful, len(self.rules.scope), len(self.reasons)))
            self.reasons += [reason(each.code, each.subject, each.predicate, each.text) for each in useful]

    def through_joins(self, parts: tuple[Expr, ...], blocks: BlockSet) -> set[Expr]:
        """Rule out blocks none of whose partners satisfies what a join asks of them.

        Each predicate is judged alone, for two of them may hold for two partners of one row. Returns those
        that something is known about.
        """
        judged: set[Expr] = set()
        for part in parts:
            partner = partner_of(part)
            partners = None if partner is None else blocks.joined.get(partner.join)
            if partner is None or partners is None:
                continue
            scope = self.survivors().scope
            found = prune(partner.where, partners, self.rules.budget)
            if len(found.unused) < len(conjuncts(partner.where)):
                judged.add(part)
            self.record([RuledOut(scope.narrow(found.skip), Code.PARTNER, None, part)])
        return judged

    def _write(self, late: npt.NDArray[np.int16]) -> None:
        index = self.rules.scope.index
        before = self.verdict if index is None else self.verdict[index]
        late *= before == 0
        if index is None:
            self.verdict += late
        else:
            self.verdict[index] = before + late


def _first(ruled_out: list[RuledOut], size: int, start: int) -> npt.NDArray[np.int16]:
    """Per block ``start`` plus the index of the first that rules it out; 0 for none.

    The greatest of the scores counted from behind is found without a branch per block, which makes
    this several times faster than assigning under a mask.
    """
    last = start + len(ruled_out)
    best = np.zeros(size, np.int16)
    score = np.empty(size, np.int16)
    for index, found in enumerate(ruled_out):
        np.multiply(spread(found.cannot_match, size), np.int16(len(ruled_out) - index), out=score)
        np.maximum(best, score, out=best)
    hit = best != 0
    np.subtract(np.int16(last), best, out=best)
    best *= hit
    return best

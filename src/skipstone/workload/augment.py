"""Augmentation: every query gets all predicates of the workload that subsume it (002 section 3.2).

After it, the number of queries that have a set of predicates is the number of queries that this set
subsumes, so that frequent sets can be mined. The paper asks whether one predicate of the query is stricter;
here the query's predicates are also taken together, as ``x >= 5 AND x <= 5`` is stricter than ``x = 5``.
That is what the check at planning time does too, so supports are exactly what skipping can use.

Only predicates that share a column can subsume one another. Pairs of predicates are checked first, at most
P·P of them; then each query against the predicates that two or more of its own share columns with, once per
combination of those. Cost: a few microseconds per check. Left out are conclusions from a tautology.

>>> from skipstone.predicate.expr import Column, Comparison, Literal
>>> from skipstone.predicate.types import INT
>>> from skipstone.workload.predicates import LoggedFilter, query_predicates
>>> x = Column(("x",), INT)
>>> log = [LoggedFilter(Comparison(">", x, Literal(n, INT))) for n in (21, 32)]
>>> augment(query_predicates(log)).has.tolist()
[[True, False], [True, True]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.predicate.expr import And, Expr, columns_of
from skipstone.predicate.implies import implies
from skipstone.workload.predicates import Bits, QueryPredicates

__all__ = ["Augmented", "augment"]

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Augmented:
    """``has[q, p]``: predicate p subsumes query q. ``stricter[p, r]``: every row of p is one of r."""

    has: Bits
    stricter: Bits

    def strictest(self, items: Sequence[int]) -> tuple[int, ...]:
        """The predicates of a set without those that another one of them entails."""
        kept: list[int] = []
        for item in items:
            if not self.stricter[kept, item].any():
                kept = [other for other in kept if not self.stricter[item, other]]
                kept.append(item)
        return tuple(kept)


def augment(sets: QueryPredicates) -> Augmented:
    """Which predicates subsume which queries, and one another."""
    known = tuple(dict.fromkeys((*sets.predicates, *(part for query in sets.parts for part in query))))
    numbered = {part: number for number, part in enumerate(known)}
    groups = _column_groups(known)
    pairs = _pairs(known, len(sets.predicates), groups)
    parts = [np.array([numbered[part] for part in query], np.int64) for query in sets.parts]
    has = np.zeros((len(parts), len(sets.predicates)), np.bool_)
    for query, numbers in enumerate(parts):
        has[query] = pairs[numbers].any(axis=0)
    _take_together(has, parts, known, groups)
    stricter = pairs[: len(sets.predicates)]
    # Implication is shown, not decided. Where it is shown for two predicates but not for some query of the
    # stricter one, counting the more general one out of a set would count queries in.
    return Augmented(has, stricter & _included(has))


def _included(has: Bits) -> Bits:
    """Which predicate's queries are all among another one's."""
    counts = has.astype(np.float32)
    both = counts.T @ counts
    included: Bits = both == np.diag(both)[:, None]
    return included


def _column_groups(known: tuple[Expr, ...]) -> list[int]:
    """The columns that each predicate reads, as bits; a struct counts as one column with its fields."""
    bits: dict[str, int] = {}
    groups = []
    for expr in known:
        names = sorted({column.path[0] for column in columns_of(expr)})
        groups.append(sum(1 << bits.setdefault(name, len(bits)) for name in names))
    return groups


def _pairs(known: tuple[Expr, ...], usable: int, groups: list[int]) -> Bits:
    pairs = np.zeros((len(known), usable), np.bool_)
    for p, strict in enumerate(known):
        for r in range(usable):
            if p == r or (groups[p] & groups[r] and implies(strict, known[r])):
                pairs[p, r] = True
    return pairs


def _take_together(has: Bits, parts: list[Numbers], known: tuple[Expr, ...], groups: list[int]) -> None:
    """Add the predicates that only several of a query's own predicates entail."""
    memo: dict[tuple[int, ...], dict[int, bool]] = {}
    joined: dict[tuple[int, ...], Expr] = {}
    for query, numbers in enumerate(parts):
        by_group: dict[int, tuple[int, ...]] = {}
        for r in np.flatnonzero(~has[query]).tolist():
            group = groups[r]
            if group not in by_group:
                by_group[group] = tuple(n for n in numbers.tolist() if groups[n] & group)
            related = by_group[group]
            if len(related) <= 1:
                continue
            answers = memo.setdefault(related, {})
            if r not in answers:
                if related not in joined:
                    joined[related] = And(tuple(known[n] for n in related))
                answers[r] = implies(joined[related], known[r])
            has[query, r] = answers[r]

"""Why a predicate or a set of predicates did not become a feature: a code and a sentence for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skipstone.predicate.expr import And, Expr
from skipstone.predicate.readable import readable
from skipstone.workload.augment import Augmented
from skipstone.workload.eliminate import Elimination
from skipstone.workload.mining import Mined
from skipstone.workload.predicates import QueryPredicates

__all__ = ["MOST_DROPPED", "REFUSED", "Candidates", "Dropped", "explain_dropped"]

MOST_DROPPED = 200
"""How many of them are kept with an analysis, the most used first."""
REFUSED = {
    "NOT_UNDERSTOOD": "a part of it is not understood, so nothing may be concluded from it",
    "LEFT_OUT": "predicates of this kind were left out on request",
}


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is no feature.

    ``code`` is one of NOT_UNDERSTOOD, LEFT_OUT, BELOW_THRESHOLD, REDUNDANT, BEYOND_NUM_FEATURES.
    """

    predicates: tuple[Expr, ...]
    support: float
    gain: float
    code: str
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What features were chosen from: queries, what subsumes them, frequent sets, and what those add."""

    sets: QueryPredicates
    augmented: Augmented
    mined: Mined
    elimination: Elimination

    def predicates(self, index: int) -> tuple[Expr, ...]:
        """Those of a frequent set, without the ones that another of them entails."""
        strictest = self.augmented.strictest(self.mined.sets[index])
        return tuple(self.sets.predicates[item] for item in strictest)


def explain_dropped(
    candidates: Candidates, threshold: float, num_features: int
) -> tuple[tuple[Dropped, ...], int]:
    """The most used candidates that were not chosen, and how many there are in all."""
    sets, mined = candidates.sets, candidates.mined
    chosen = set(candidates.elimination.ranked[:num_features])
    frequent = [s for s in np.flatnonzero(mined.support >= threshold).tolist() if s not in chosen]
    others = [*_refused(sets), *_rare(sets, candidates.augmented, threshold)]
    # Mined sets come by ascending support.
    listed = [_frequent(candidates, index, threshold, num_features) for index in frequent[-MOST_DROPPED:]]
    best = sorted((*others, *listed), key=lambda dropped: -dropped.support)
    return tuple(best[:MOST_DROPPED]), len(others) + len(frequent)


def _refused(sets: QueryPredicates) -> list[Dropped]:
    return [
        Dropped((each.predicate,), each.weight, 0.0, each.code, REFUSED[each.code]) for each in sets.refused
    ]


def _rare(sets: QueryPredicates, augmented: Augmented, threshold: float) -> list[Dropped]:
    support = sets.weights @ augmented.has
    rare = np.flatnonzero(support < threshold).tolist()
    sentence = "it subsumes queries that ran {:g} times, fewer than the threshold of {:g}"
    return [
        Dropped((sets.predicates[p],), float(support[p]), 0.0, "BELOW_THRESHOLD", text)
        for p in rare
        if (text := sentence.format(support[p], threshold))
    ]


def _frequent(candidates: Candidates, index: int, threshold: float, num_features: int) -> Dropped:
    support = float(candidates.mined.support[index])
    gain = float(candidates.elimination.gain[index])
    if candidates.elimination.kept[index]:
        code = "BEYOND_NUM_FEATURES"
        sentence = f"{num_features} features add more than its {gain:g} queries"
    else:
        code = "REDUNDANT"
        sentence = (
            f"stricter or earlier features subsume all but {gain:g} of its {support:g} queries, "
            f"and the threshold is {threshold:g}"
        ) + _nearest(candidates, index)
    return Dropped(candidates.predicates(index), support, gain, code, sentence)


def _nearest(candidates: Candidates, index: int) -> str:
    """The kept set before this one that takes most of its queries."""
    mined = candidates.mined
    kept = np.flatnonzero(candidates.elimination.kept[:index])
    if not len(kept):
        return ""
    taken = (mined.queries[kept] & mined.queries[index]) @ candidates.sets.weights
    parts = candidates.predicates(int(kept[int(np.argmax(taken))]))
    return f"; most of them: {readable(And(parts) if len(parts) > 1 else parts[0])}"

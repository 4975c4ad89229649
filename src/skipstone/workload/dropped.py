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

__all__ = ["MOST_DROPPED", "REFUSED", "Dropped", "explain_dropped"]

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


def explain_dropped(
    sets: QueryPredicates,
    augmented: Augmented,
    mined: Mined,
    elimination: Elimination,
    threshold: float,
    num_features: int,
) -> tuple[tuple[Dropped, ...], int]:
    """The most used candidates that were not chosen, and how many there are in all."""
    chosen = set(elimination.ranked[:num_features])
    frequent = [s for s in np.flatnonzero(mined.support >= threshold).tolist() if s not in chosen]
    others = [*_refused(sets), *_rare(sets, augmented, threshold)]
    # Mined sets come by ascending support.
    listed = [
        _frequent(sets, augmented, mined, elimination, place, threshold, num_features)
        for place in frequent[-MOST_DROPPED:]
    ]
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


def _frequent(
    sets: QueryPredicates,
    augmented: Augmented,
    mined: Mined,
    elimination: Elimination,
    place: int,
    threshold: float,
    num_features: int,
) -> Dropped:
    support, gain = float(mined.support[place]), float(elimination.gain[place])
    if elimination.kept[place]:
        code = "BEYOND_NUM_FEATURES"
        sentence = f"{num_features} features add more than its {gain:g} queries"
    else:
        code = "REDUNDANT"
        sentence = (
            f"stricter or earlier features subsume all but {gain:g} of its {support:g} queries, "
            f"and the threshold is {threshold:g}"
        ) + _nearest(sets, augmented, mined, elimination, place)
    predicates = tuple(sets.predicates[item] for item in augmented.strictest(mined.sets[place]))
    return Dropped(predicates, support, gain, code, sentence)


def _nearest(
    sets: QueryPredicates, augmented: Augmented, mined: Mined, elimination: Elimination, place: int
) -> str:
    """The kept set before this one that takes most of its queries."""
    kept = np.flatnonzero(elimination.kept[:place])
    if not len(kept):
        return ""
    taken = (mined.queries[kept] & mined.queries[place]) @ sets.weights
    best = kept[int(np.argmax(taken))]
    parts = tuple(sets.predicates[item] for item in augmented.strictest(mined.sets[best]))
    return f"; most of them: {readable(And(parts) if len(parts) > 1 else parts[0])}"

"""From a query log to features (002 section 3), as a list of steps.

1. :mod:`predicates`: queries as sets of conjunctive predicates.
2. :mod:`augment`: every query gets the predicates that subsume it.
3. :mod:`validate`: threshold and number of features, where they are not given.
4. :mod:`mining`: frequent closed sets of predicates.
5. :mod:`eliminate`: sets that add too little are removed; the best remain.

A feature's ``predicates`` are those of its set without the ones that another of them entails; its
``weight`` w_j, like its support, is the weight of the queries that it subsumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skipstone.predicate.expr import And, Expr
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import Feature
from skipstone.workload.augment import Augmented, augment
from skipstone.workload.dropped import Candidates, Dropped, explain_dropped
from skipstone.workload.eliminate import eliminate
from skipstone.workload.leave_out import LeaveOut
from skipstone.workload.mining import MOST_SETS, Mined, mine
from skipstone.workload.predicates import LoggedFilter, QueryPredicates, query_predicates
from skipstone.workload.validate import CrossValidation, Validation, validate

__all__ = ["Analysis", "MinedFeature", "PredicateUse", "analyze"]


@dataclass(frozen=True, slots=True)
class MinedFeature:
    """A set of conjunctive predicates worth a bit.

    ``gain`` is I(F), the weight of the queries that no stricter feature subsumes. ``queries`` are the numbers
    of the log entries that the feature subsumes.
    """

    predicates: tuple[Expr, ...]
    predicate: Expr
    support: float
    gain: float
    queries: tuple[int, ...] = ()

    @property
    def weight(self) -> float:
        """w_j: how many queries the feature subsumes, each as often as it ran."""
        return self.support

    @property
    def feature(self) -> Feature:
        """The feature as the block catalog stores it."""
        return Feature(self.predicate, to_sql(self.predicate))


@dataclass(frozen=True, slots=True)
class PredicateUse:
    """How often a predicate is written in the log, and how often something at least as strict is."""

    predicate: Expr
    used: float
    support: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a log says about a table.

    ``complete_from`` is the support from which on every frequent set was found: the threshold, unless there
    were too many sets. ``dropped`` lists at most as many as are worth reading; ``dropped_count`` is all.
    """

    features: tuple[MinedFeature, ...]
    predicates: tuple[PredicateUse, ...]
    dropped: tuple[Dropped, ...]
    dropped_count: int
    threshold: float
    num_features: int
    complete_from: float
    frequent_sets: int
    weight: float
    unfiltered: float
    never_true: float
    validation: Validation | None = None


def analyze(
    entries: Sequence[LoggedFilter],
    *,
    threshold: float | None = None,
    num_features: int | None = None,
    leave_out: LeaveOut | None = None,
    seed: int = 0,
) -> Analysis:
    """Mine features; the threshold and their number are cross-validated where they are not given."""
    sets = query_predicates(entries, leave_out)
    augmented = augment(sets)
    validation = None
    if threshold is None or num_features is None:
        validation = validate(sets, augmented, threshold, num_features, CrossValidation(seed=seed))
        threshold, num_features = validation.best.threshold, validation.best.num_features
    mined = mine(augmented.has, sets.weights, threshold, MOST_SETS)
    elimination = eliminate(mined, sets.weights, threshold)
    chosen = elimination.ranked[:num_features]
    features = tuple(_feature(sets, augmented, mined, index, elimination.gain[index]) for index in chosen)
    candidates = Candidates(sets, augmented, mined, elimination)
    dropped, dropped_count = explain_dropped(candidates, threshold, num_features)
    return Analysis(
        features,
        _uses(sets, augmented),
        dropped,
        dropped_count,
        threshold,
        num_features,
        mined.threshold,
        len(mined.sets),
        float(sum(entry.weight for entry in entries)),
        sets.unfiltered,
        sets.never_true,
        validation,
    )


def _feature(
    sets: QueryPredicates, augmented: Augmented, mined: Mined, index: int, gain: float
) -> MinedFeature:
    items = augmented.strictest(mined.sets[index])
    predicates = tuple(sets.predicates[item] for item in items)
    subsumed = mined.queries[index]
    entries = np.flatnonzero((sets.query_of >= 0) & subsumed[sets.query_of]) if len(subsumed) else ()
    return MinedFeature(
        predicates,
        normalize_filter(And(predicates)) if len(predicates) > 1 else predicates[0],
        float(mined.support[index]),
        float(gain),
        tuple(int(entry) for entry in entries),
    )


def _uses(sets: QueryPredicates, augmented: Augmented) -> tuple[PredicateUse, ...]:
    used = sets.weights @ sets.own
    support = sets.weights @ augmented.has
    order = sorted(range(len(sets.predicates)), key=lambda p: (-used[p], -support[p], p))
    return tuple(PredicateUse(sets.predicates[p], float(used[p]), float(support[p])) for p in order)

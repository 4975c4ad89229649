"""The threshold T and the number of features, by cross-validation over the log (002 section 6).

For every split of the log, features are mined from one part and judged by the other. A low T gives strict
features that fit the past and miss new queries; a high one gives general features, or none. By default
a held-out query counts with the share of its predicates that are *explained*: some chosen feature subsumes
the query and has a predicate that subsumes this one. It looks at the workload only. ``score`` may put
something better in its place, such as the share of a sample's rows that would be skipped. Every feature
costs ``cost_per_feature`` of the full score, so that one that helps fewer queries than that is not taken.

Mining runs once per split, with the lowest threshold; higher ones keep part of what was found. Thresholds are
weights of the whole log and are scaled down for the part that is learnt from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from skipstone.predicate.expr import And, Expr
from skipstone.predicate.normalize import normalize_filter
from skipstone.workload.augment import Augmented
from skipstone.workload.eliminate import eliminate
from skipstone.workload.folds import split
from skipstone.workload.mining import mine
from skipstone.workload.predicates import Bits, QueryPredicates

__all__ = ["MOST_FEATURES", "Choice", "CrossValidation", "Score", "Validation", "validate"]

MOST_FEATURES = 64
_SHARES = (0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
_SIZES_FOR_A_CALLABLE = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64)
_FEWEST_RUNS = 8
_MOST_SETS = 5_000


class Score(Protocol):
    """How good features are for queries that they were not mined from; more is better, 1 is perfect."""

    def __call__(self, features: Sequence[Expr], held_out: Sequence[tuple[Expr, float]]) -> float:
        """``held_out`` are filters and their weights."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """A threshold and a number of features; ``score`` is the mean over the splits, costs deducted."""

    threshold: float
    num_features: int
    score: float


@dataclass(frozen=True, slots=True)
class Validation:
    """What was chosen, what was compared (the best size of every threshold), and why in a sentence."""

    best: Choice
    compared: tuple[Choice, ...]
    splits: int
    in_time: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """How the log is split, how features are judged, and what share of the full score each costs."""

    folds: int = 5
    seed: int = 0
    score: Score | None = None
    cost_per_feature: float = 0.001


@dataclass(frozen=True, slots=True)
class _Compared:
    """The thresholds and numbers of features that are tried."""

    thresholds: list[float]
    sizes: list[int]


_Weights = npt.NDArray[np.float64]
_DEFAULT = CrossValidation()


def validate(
    sets: QueryPredicates,
    augmented: Augmented,
    threshold: float | None = None,
    num_features: int | None = None,
    how: CrossValidation = _DEFAULT,
) -> Validation:
    """Choose what is not given."""
    total = float(sets.weights.sum())
    thresholds = [threshold] if threshold is not None else _thresholds(total)
    splits = split(sets, how.folds, how.seed)
    if total < _FEWEST_RUNS or len(splits.learn) <= 1:
        few = Choice(thresholds[0] if threshold is not None else 1.0, num_features or MOST_FEATURES, math.nan)
        return Validation(few, (), 0, False, "the log is too short for cross-validation")
    sizes = [num_features] if num_features is not None else _sizes(how.score)
    curves = np.zeros((len(thresholds), len(sizes)))
    for learn, judge in zip(splits.learn, splits.judge, strict=True):
        curves += _curves(sets, augmented, (learn, judge), _Compared(thresholds, sizes), how.score)
    curves /= len(splits.learn)
    curves -= how.cost_per_feature * np.array(sizes)
    compared = tuple(_best(thresholds[row], sizes, curves[row]) for row in range(len(thresholds)))
    best = max(compared, key=lambda choice: (round(choice.score, 9), choice.threshold, -choice.num_features))
    order = "in time" if splits.in_time else "at random"
    sentence = f"best of {len(thresholds)} thresholds over {len(splits.learn)} splits of the log {order}"
    return Validation(best, compared, len(splits.learn), splits.in_time, sentence)


def _thresholds(total: float) -> list[float]:
    """Shares of the log; below two runs there is nothing to generalise."""
    return sorted({float(max(2, round(total * share))) for share in _SHARES})


def _sizes(score: Score | None) -> list[int]:
    return list(_SIZES_FOR_A_CALLABLE) if score is not None else list(range(1, MOST_FEATURES + 1))


def _best(threshold: float, sizes: list[int], curve: _Weights) -> Choice:
    index = int(np.argmax(np.round(curve, 9)))  # the first, hence the fewest features
    return Choice(threshold, sizes[index], float(curve[index]))


def _curves(
    sets: QueryPredicates,
    augmented: Augmented,
    split: tuple[_Weights, _Weights],
    compared: _Compared,
    score: Score | None,
) -> _Weights:
    """The score of one split, into queries to learn from and to judge by, for every threshold and size."""
    learn, judge = split
    sizes = compared.sizes
    past = learn > 0
    items = np.flatnonzero(sets.own[past].any(axis=0))
    weights = learn[past]
    scale = weights.sum() / sets.weights.sum()
    mined = mine(augmented.has[np.ix_(past, items)], weights, min(compared.thresholds) * scale, _MOST_SETS)
    rows = []
    for threshold in compared.thresholds:
        ranked = eliminate(mined, weights, threshold * scale).ranked[: max(sizes)]
        features = [items[list(mined.sets[index])] for index in ranked]
        if score is None:
            explained = np.concatenate(([0.0], _explained(sets, augmented, judge, features)))
            rows.append([explained[min(size, len(features))] for size in sizes])
        else:
            rows.append([_scored(score, sets, judge, features[:size]) for size in sizes])
    return np.array(rows)


def _explained(
    sets: QueryPredicates,
    augmented: Augmented,
    judge: _Weights,
    features: Sequence[npt.NDArray[np.int64]],
) -> _Weights:
    """The explained share of the held-out queries after each feature."""
    queries = np.flatnonzero(judge)
    own, has = sets.own[queries], augmented.has[queries]
    each = judge[queries] / np.maximum(own.sum(axis=1), 1)
    done = np.zeros_like(own)
    shares = []
    for items in features:
        subsumed: Bits = np.all(has[:, items], axis=1)
        done |= subsumed[:, None] & augmented.stricter[:, items].any(axis=1)
        shares.append(float(each @ (done & own).sum(axis=1) / judge.sum()))
    return np.array(shares)


def _scored(
    score: Score,
    sets: QueryPredicates,
    judge: _Weights,
    features: Sequence[npt.NDArray[np.int64]],
) -> float:
    exprs = [normalize_filter(And(tuple(sets.predicates[item] for item in items))) for items in features]
    held_out = [(_filter(sets.parts[query]), float(judge[query])) for query in np.flatnonzero(judge).tolist()]
    return score(exprs, held_out)


def _filter(parts: tuple[Expr, ...]) -> Expr:
    return normalize_filter(And(parts)) if len(parts) > 1 else parts[0]

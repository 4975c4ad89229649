"""Commonality and stability of filters: whether a log is fit to learn from (002 section 2.1, figure 3).

* Commonality: predicates by descending frequency; a point (x, y) says that the most frequent x % of them are
  used by y % of the queries, that is, y % have at least one of them. Steep is good.
* Stability: queries in the order of their arrival; a point (x, y) says that the predicates of the first x %
  are used by y % of all. With nothing but new predicates the curve is y = x. So as not to depend on one
  starting point, the log is cut into windows and their curves are averaged.

Queries count as often as they ran; those without an understood predicate do not count.

>>> from skipstone.predicate.expr import Column, Comparison, Literal
>>> from skipstone.predicate.types import INT
>>> from skipstone.workload.predicates import LoggedFilter, query_predicates
>>> log = [LoggedFilter(Comparison("=", Column(("x",), INT), Literal(n, INT))) for n in (1, 1, 2, 1)]
>>> drawn = curves(query_predicates(log), windows=1)
>>> drawn.commonality.y.tolist()
[0.0, 75.0, 100.0]
>>> drawn.stability.x.tolist(), drawn.stability.y.tolist()
([0.0, 25.0, 50.0, 75.0, 100.0], [0.0, 75.0, 75.0, 100.0, 100.0])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from skipstone.workload.folds import arrival_order
from skipstone.workload.predicates import QueryPredicates

__all__ = ["Curve", "Curves", "curves"]

Percent = npt.NDArray[np.float64]
_WINDOWS = 5
_FEWEST_IN_A_WINDOW = 4


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Points in percent, from (0, 0)."""

    x: Percent
    y: Percent

    def at(self, x: float) -> float:
        """The curve's height between its points."""
        return float(np.interp(x, self.x, self.y)) if len(self.x) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Figure 3 of the paper for one log."""

    commonality: Curve
    stability: Curve


def curves(sets: QueryPredicates, windows: int = _WINDOWS) -> Curves:
    """Both curves; a log of few queries is cut into fewer windows."""
    used = [number for number in arrival_order(sets.entries) if sets.query_of[number] >= 0]
    numbers: dict[object, int] = {}
    parts = [[numbers.setdefault(part, len(numbers)) for part in query] for query in sets.parts]
    rows = [parts[sets.query_of[number]] for number in used]
    weights = np.array([sets.entries[number].weight for number in used], np.float64)
    windows = max(1, min(windows, len(rows) // _FEWEST_IN_A_WINDOW))
    cuts = np.linspace(0, len(rows), windows + 1).astype(int)
    pieces = [_stability(rows[a:b], weights[a:b]) for a, b in pairwise(cuts.tolist())]
    return Curves(_commonality(rows, weights, len(numbers)), _mean(pieces))


def _commonality(rows: Sequence[Sequence[int]], weights: Percent, predicates: int) -> Curve:
    frequency = np.zeros(predicates)
    for row, weight in zip(rows, weights, strict=True):
        frequency[row] += weight
    rank = np.empty(predicates, np.int64)
    rank[np.argsort(-frequency, kind="stable")] = np.arange(predicates)
    # A query is reached with the most frequent of its predicates.
    reached = np.array([rank[row].min() for row in rows], np.int64)
    return _accumulated(reached, weights, predicates)


def _stability(rows: Sequence[Sequence[int]], weights: Percent) -> Curve:
    first: dict[int, int] = {}
    for index, row in enumerate(rows):
        for predicate in row:
            first.setdefault(predicate, index)
    reached = np.array([min(first[predicate] for predicate in row) for row in rows], np.int64)
    by_query = _accumulated(reached, weights, len(rows))
    seen = np.concatenate(([0.0], np.cumsum(weights)))
    return Curve(100.0 * seen / max(seen[-1], 1e-300), by_query.y)


def _accumulated(reached: npt.NDArray[np.int64], weights: Percent, steps: int) -> Curve:
    gained = np.bincount(reached, weights, steps) if len(reached) else np.zeros(steps)
    heights = np.concatenate(([0.0], np.cumsum(gained)))
    return Curve(np.linspace(0.0, 100.0, steps + 1), 100.0 * heights / max(weights.sum(), 1e-300))


def _mean(pieces: Sequence[Curve]) -> Curve:
    if len(pieces) == 1:
        return pieces[0]
    x = np.linspace(0.0, 100.0, 101)
    return Curve(x, np.mean([np.interp(x, piece.x, piece.y) for piece in pieces], axis=0))

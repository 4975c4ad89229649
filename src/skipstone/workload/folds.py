"""Splits of a query log into queries to learn from and queries to judge by.

A log with timestamps is split in time, as it will be used: learn from the past, judge by what came next.
Of ``folds + 1`` stretches of equal weight, split i learns from the first i and is judged by the one after.
Without timestamps the runs of the queries are dealt out in a seeded random order, as in ordinary
cross-validation. A query that ran many times is on both sides then, which is right: recurring filters are
the point.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from skipstone.workload.predicates import LoggedFilter, QueryPredicates

__all__ = ["Folds", "arrival_order", "split"]


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Per split the weight of every distinct query on either side, shape (splits, queries)."""

    learn: npt.NDArray[np.float64]
    judge: npt.NDArray[np.float64]
    in_time: bool


def split(sets: QueryPredicates, folds: int, seed: int) -> Folds:
    """Split the log, in time where all its entries have a timestamp."""
    used = [number for number in arrival_order(sets.entries) if sets.query_of[number] >= 0]
    in_time = bool(used) and all(sets.entries[number].timestamp is not None for number in used)
    pieces = _stretches(sets, used, folds + 1) if in_time else _dealt(sets, used, folds, seed)
    if in_time:
        learn, judge = np.cumsum(pieces, axis=0)[:-1], pieces[1:]
    else:
        learn, judge = pieces.sum(axis=0) - pieces, pieces
    usable = (learn.sum(axis=1) > 0) & (judge.sum(axis=1) > 0)
    return Folds(learn[usable], judge[usable], in_time)


def arrival_order(entries: Sequence[LoggedFilter]) -> list[int]:
    """The entries by time where they all have one, as they were logged otherwise."""
    order = list(range(len(entries)))
    if all(entry.timestamp is not None for entry in entries):
        order.sort(key=lambda number: _moment(entries[number].timestamp))
    return order


def _moment(timestamp: datetime | None) -> float:
    """Seconds since 1970; a timestamp without a zone counts as UTC, so that all can be compared."""
    if timestamp is None:
        return 0.0
    return (timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)).timestamp()


def _stretches(sets: QueryPredicates, used: Sequence[int], count: int) -> npt.NDArray[np.float64]:
    pieces = np.zeros((count, len(sets.weights)))
    total = sum(sets.entries[number].weight for number in used)
    passed = 0.0
    for number in used:
        weight = sets.entries[number].weight
        pieces[min(count - 1, int((passed + weight / 2) / total * count)), sets.query_of[number]] += weight
        passed += weight
    return pieces


def _dealt(sets: QueryPredicates, used: Sequence[int], count: int, seed: int) -> npt.NDArray[np.float64]:
    chance = random.Random(seed)
    order = sorted(used, key=lambda _: chance.random())
    pieces = np.zeros((count, len(sets.weights)))
    turn = 0
    for number in order:
        weight = sets.entries[number].weight
        runs = max(1, round(weight))
        everywhere, rest = divmod(runs, count)
        query = sets.query_of[number]
        pieces[:, query] += everywhere * weight / runs
        for step in range(rest):
            pieces[(turn + step) % count, query] += weight / runs
        turn += rest
    return pieces

"""How large a share of a table's blocks has keys like those of one block.

That says whether blocks can be skipped by the keys of a join before any key is known: if a table is laid out
by date, the dates of a block are in few others, and the values of a random key are in all of them. The keys
of some 16 blocks, spread over all of them, are taken as the range between their bounds, and each range is
judged like a filter, so that whatever is known about the blocks counts.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from skipstone.catalog.decide import decide
from skipstone.catalog.merge import Catalog
from skipstone.predicate.expr import And, Call, Comparison, Expr, Literal, type_of
from skipstone.pruning.blocks import Statistics

__all__ = ["key_share"]

_MOST_RANGES = 16


def key_share(key: Expr, catalog: Catalog, settings: Mapping[str, str]) -> float | None:
    """The mean share over some blocks; None if no bounds are known. ``key`` is in normal form."""
    subject = _subject(key, catalog.blocks.statistics)
    if subject is None:
        return None
    filters = _ranges(subject, catalog.blocks.statistics[subject])
    shares = [1.0 - float(np.mean(decide(filter_, catalog, settings).skip)) for filter_ in filters]
    return float(np.mean(shares)) if shares else None


def _subject(key: Expr, statistics: Mapping[Expr, Statistics]) -> Expr | None:
    """The key if it has statistics, or what it is a cast of, which says about as much."""
    while key not in statistics and isinstance(key, Call) and key.name == "cast":
        (key,) = key.args
    found = statistics.get(key)
    return key if found is not None and found.type == type_of(key) and found.type.ordered else None


def _ranges(subject: Expr, statistics: Statistics) -> list[Expr]:
    """The ranges of some blocks, spread over all of them; each once."""
    bounds = zip(statistics.low.to_pylist(), statistics.high.to_pylist(), strict=True)
    known = [(low, high) for low, high in bounds if low is not None and high is not None]
    chosen = np.unique(np.linspace(0, len(known) - 1, min(len(known), _MOST_RANGES)).astype(np.int64))
    type_ = type_of(subject)
    return [
        And((Comparison(">=", subject, Literal(low, type_)), Comparison("<=", subject, Literal(high, type_))))
        for low, high in dict.fromkeys(known[index] for index in chosen)
    ]

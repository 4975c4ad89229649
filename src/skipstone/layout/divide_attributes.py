"""Dividing the attributes of a table among several trees, one for each replica.

Heterogeneous replicas ("Robust Data Partitioning for Ad-hoc Query Processing", section 5.2.3) have trees over
different attributes, so each attribute gets more cuts in its own tree, and a query goes to the replica that
serves it. The thesis leaves open which attributes go together. Here those that follow one another do: a cut
by one narrows the other too, so together they need few more cuts than one of them alone.

How closely b follows a is measured by ranges (:mod:`~skipstone.layout.extents`): rows are put into 20 blocks
in the order of a, and b follows as far as a range of b scans less than all of them. Attributes of which one
follows the other closely enough are a group. What an attribute *needs* in a tree is 1, less how closely it
follows another one there. Groups go to trees one by one, the largest first, each to the tree that then needs
least.

With queries, attributes that are mostly compared together are a group too, for a query goes to one replica,
and what an attribute needs counts by how often it is asked for; one that nobody asks for still counts a
little.

Cost: attributes^2 extents of at most ``_MOST_ROWS`` rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from skipstone.errors import SkipstoneError
from skipstone.layout.attributes import Attribute, attributes
from skipstone.layout.extents import RangeNumbers, shares_scanned
from skipstone.layout.sample import WorkloadView
from skipstone.layout.table_view import TableView
from skipstone.predicate.expr import Column, Expr, columns_of, type_of

__all__ = ["divide_attributes", "following"]

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
_MOSTLY, _UNASKED = 0.5, 0.1
"""The share of the queries on the rarer of two attributes from which on they are kept together, and what an
attribute counts that no query compares."""
_MOST_ROWS = 20_000
_BLOCKS = 20
_CHANCE, _CLOSELY = 0.2, 0.35
"""Following up to the first may be chance; from the second on attributes are kept together."""


def divide_attributes(
    view: TableView, trees: int, queries: WorkloadView | None = None
) -> tuple[tuple[Expr, ...], ...]:
    """The attributes of each tree, in the order of the table's columns; no tree is without any."""
    wanted = [expr for expr in view.sample.columns if isinstance(expr, Column) and type_of(expr).ordered]
    found, _ = attributes(view.sample.columns, wanted)
    if not 1 <= trees <= len(found):
        raise SkipstoneError(
            f"There are {len(found):,} columns that can be cut; they do not make {trees:,} trees."
        )
    follow = following(found, view.seed)
    together, weights = _asked([each.expr for each in found], queries)
    tied = (np.maximum(follow, follow.T) >= _CLOSELY) | together

    def need(group: Sequence[int]) -> float:
        return _need(group, follow, weights)

    shares: list[list[int]] = [[] for _ in range(trees)]
    # The largest first, so that the small ones can level out what they leave.
    for group in sorted(_groups(tied), key=lambda group: (-need(group), group)):
        min(shares, key=lambda share: need([*share, *group])).extend(group)
    _fill_empty(shares, need)
    return tuple(tuple(found[number].expr for number in sorted(share)) for share in shares)


def following(found: Sequence[Attribute], seed: int = 0) -> Floats:
    """How closely attribute b follows a, from 0 to 1, at [a, b]; 0 of itself."""
    # Rows of one value are in no order: that in which they were sampled follows other columns.
    some = np.random.default_rng(seed).permutation(len(found[0].codes))[:_MOST_ROWS]
    codes = [each.codes[some] for each in found]
    numbers = RangeNumbers.of(codes, [each.null for each in found])
    follow = np.zeros((len(found), len(found)))
    for number, each in enumerate(codes):
        blocks = np.array_split(np.argsort(each, kind="stable"), _BLOCKS)
        scanned = shares_scanned(numbers, [block for block in blocks if len(block)])
        # Of few values each block scans one at least.
        follow[number] = (1.0 - scanned) / np.maximum(1.0 - numbers.narrowest, 1e-9)
    follow[follow < _CHANCE] = 0.0
    np.fill_diagonal(follow, 0.0)
    return np.minimum(follow, 1.0)


def _asked(found: Sequence[Expr], queries: WorkloadView | None) -> tuple[Flags, Floats]:
    """Which attributes are mostly compared together, and what each counts by how often it is compared."""
    count = len(found)
    if queries is None or not queries.weights.sum():
        return np.zeros((count, count), np.bool_), np.ones(count)
    both = np.zeros((count, count))
    for filter_, weight in zip(queries.filters, queries.weights.tolist(), strict=True):
        compared = columns_of(filter_)
        numbers = [number for number, expr in enumerate(found) if expr in compared]
        both[np.ix_(numbers, numbers)] += weight
    asked = np.diag(both).copy()
    rarer = np.maximum(np.minimum.outer(asked, asked), 1e-300)
    return (both / rarer >= _MOSTLY) & (both > 0), np.maximum(asked / max(asked.max(), 1e-300), _UNASKED)


def _groups(tied: Flags) -> list[list[int]]:
    """Attributes that are tied to one another, directly or through others."""
    left, groups = set(range(len(tied))), []
    while left:
        group, waiting = [], [min(left)]
        while waiting:
            number = waiting.pop()
            if number not in left:
                continue
            left.remove(number)
            group.append(number)
            waiting += np.flatnonzero(tied[number]).tolist()
        groups.append(sorted(group))
    return groups


def _need(group: Sequence[int], follow: Floats, weights: Floats) -> float:
    """How many independent attributes a group is worth: of each, what does not follow those before it."""
    inside = follow[np.ix_(group, group)]
    total, known = 0.0, np.zeros(len(group))
    # What most others follow first.
    for number in np.argsort(-inside.sum(axis=1), kind="stable"):
        total += float(weights[group[number]] * (1.0 - known[number]))
        known = np.maximum(known, inside[number])
    return total


def _fill_empty(shares: list[list[int]], need: Callable[[Sequence[int]], float]) -> None:
    """Groups may be fewer than trees: then the largest share gives some away."""
    while not all(shares):
        largest = max(shares, key=lambda share: (len(share) > 1, need(share)))
        next(share for share in shares if not share).append(largest.pop())

"""Which features say the same about the rows, so that clustering by one of them clusters by all.

Section 4.2.2 and algorithms 2 and 3 of "Self-organising layouts for Delta" (thesis).

*Sort index* (section 4.2.2.1): rows are sorted by one expression, and of all pairs of rows the share is
counted in which the other expression ascends as well: k / kmax, 1 for ascending, 0 for descending order. A
pair of expressions is correlated when the index is below ε or above 1 - ε in both directions. The thesis
names false positives: a constant column looks sorted by everything, and looks as if it sorted everything when
the sample came in order. They come from ties, so here

* a pair of rows counts only where the sorted expression differs, so a constant has nothing to sort (0.5);
* a pair that ties in what is sorted by counts one half, as if ties were in random order. Sorting by the year
  does not sort the days within it, whereas sorting by day sorts the years; only one direction holds.

Where no values repeat this is exactly the thesis's k / kmax; with D of Somers it is (1 + D) / 2. Rows whose
sorted expression is NULL are left out, since NULL widens no minimum or maximum; as what is sorted by, NULL
is the lowest value. Cost: O(n log n), vectorised, instead of O(n²).

*Mean-square contingency* (section 4.2.2, after CORDS) measures whether one value determines the other, which
is enough for predicates: Σ (n_ij - n_i. n_.j)² / (n_i. n_.j) over shares of rows.

>>> sort_index(np.arange(5), np.array([1, 3, 5, 2, 4]))
0.7
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "EPSILON",
    "PHI",
    "Bits",
    "Codes",
    "Traversal",
    "contingencies",
    "mean_square_contingency",
    "same_order",
    "sort_index",
    "traverse",
]

Bits = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

EPSILON = 0.1
"""Two expressions share an order if nine in ten pairs of rows agree on it: a date and one some weeks later do
over years, a date and one of a year later do not."""
PHI = 0.8
"""Two predicates are one if their mean-square contingency exceeds this: they differ in about one of twenty
rows."""


def sort_index(by: Codes, of: Codes) -> float:
    """How far sorting rows by one expression sorts another one; codes are ranks, negative ones NULL."""
    known = np.flatnonzero(of >= 0)
    x = np.unique(np.maximum(by[known], -1), return_inverse=True)[1]
    y = np.unique(of[known], return_inverse=True)[1]
    differing = _pairs(len(y)) - _tied(y)
    if differing == 0:
        return 0.5
    tied = _tied(x) - _tied(x * (len(y) + 1) + y)
    descending = _inversions(y[np.lexsort((y, x))])
    return float((differing - tied - descending + tied / 2) / differing)


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _tied(codes: npt.NDArray[np.int64]) -> int:
    counts = np.unique(codes, return_counts=True)[1].astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


def _inversions(codes: npt.NDArray[np.int64]) -> int:
    """How many pairs descend.

    From the highest bit down, rows are grouped by the bits above: within a group every 1 before a 0 is a
    descent, and no pair is counted at two bits.
    """
    total, rows = 0, codes
    for bit in reversed(range(int(codes.max(initial=0)).bit_length())):
        ones = rows >> bit & 1
        before = np.cumsum(ones) - ones
        group = rows >> (bit + 1)
        start = np.searchsorted(group, group)
        total += int(((before - before[start]) * (1 - ones)).sum())
        rows = rows[np.argsort(rows >> bit, kind="stable")]
    return total


def same_order(codes: Sequence[Codes], epsilon: float = EPSILON) -> Bits:
    """Algorithm 2 for Z candidates: which pairs sort one another, in either direction of the order."""
    found = np.zeros((len(codes), len(codes)), np.bool_)
    for one, by in enumerate(codes):
        for other, of in enumerate(codes):
            if one != other and (one < other or found[other, one]):
                found[one, other] = abs(sort_index(by, of) - 0.5) > 0.5 - epsilon
    return np.asarray(found & found.T)


def mean_square_contingency(one: Codes, other: Codes) -> float:
    """0 for independent columns, min(d1, d2) - 1 if one determines the other; so 0 to 1 for booleans."""
    x = np.unique(one, return_inverse=True)[1]
    y = np.unique(other, return_inverse=True)[1]
    joint = np.zeros((int(x.max(initial=0)) + 1, int(y.max(initial=0)) + 1))
    np.add.at(joint, (x, y), 1 / max(len(x), 1))
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return float(((joint - expected) ** 2 / np.where(expected > 0, expected, 1)).sum())


def contingencies(bits: Bits) -> Floats:
    """The mean-square contingency of all pairs of columns of bits; 0 with a column that is constant.

    For 2 x 2 tables the sum is (n_11 - n_1. n_.1)² / (n_1. n_0. n_.1 n_.0), one matrix product for all.
    """
    values = bits.astype(np.float64)
    share = values.mean(axis=0) if len(bits) else np.zeros(bits.shape[1])
    spread = share * (1 - share)
    apart = values.T @ values / max(len(bits), 1) - share[:, None] * share[None, :]
    scale = spread[:, None] * spread[None, :]
    return np.asarray(np.where(scale > 0, apart**2 / np.where(scale > 0, scale, 1), 0.0))


@dataclass(frozen=True, slots=True)
class Traversal:
    """``correlated`` has the primary vertex of each correlated one; ``rest`` were never visited."""

    primary: tuple[int, ...]
    correlated: dict[int, int]
    rest: tuple[int, ...]


def traverse(edges: Bits, frequency: Sequence[float], most: int) -> Traversal:
    """Algorithm 3: primary vertices, the most frequent first, at most ``most`` of them.

    Visiting a vertex cuts its edges and those among its neighbours. A neighbour that is left without edges is
    correlated; one that has others may still become primary. (The pseudo-code of the thesis tests degrees
    before cutting; its text and figure 4.5 do not.)
    """
    left = edges.copy()
    primary: list[int] = []
    correlated: dict[int, int] = {}
    for vertex in sorted(range(len(frequency)), key=lambda index: (-frequency[index], index)):
        if len(primary) == most:
            break
        if vertex in correlated:
            continue
        primary.append(vertex)
        near = np.flatnonzero(left[vertex])
        left[vertex, near] = left[near, vertex] = False
        left[np.ix_(near, near)] = False
        correlated |= {int(other): vertex for other in near if not left[other].any()}
    rest = (index for index in range(len(frequency)) if index not in primary and index not in correlated)
    return Traversal(tuple(primary), correlated, tuple(rest))

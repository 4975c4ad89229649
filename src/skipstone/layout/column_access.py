"""What a workload reads of a table, reduced to what column groups are chosen by (GSOP, VLDB 2016, 4.2).

Three tables of bits stand for queries, columns, features and rows: which columns a query reads (C^q), which
features subsume it (F^q), and which features the rows have, as distinct vectors with counts. Queries that are
the same in both respects are one query that is run more often.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from skipstone.layout.pack import pack

__all__ = ["Bits", "ColumnAccess", "Floats", "Indices"]

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ColumnAccess:
    """Queries, by the columns that they read and the features that subsume them; rows, by their features.

    ``vectors[i]`` are the features of ``counts[i]`` rows. Query q reads the columns ``columns[q]``, is
    subsumed by the features ``features[q]`` and is run ``weights[q]`` times. Blocks have about ``block_rows``
    rows, and a group is blocked by at most ``most_vectors`` distinct vectors; about 3,000 are what the paper
    found to balance the effect and the cost of blocking.
    """

    vectors: Bits
    counts: Floats
    columns: Bits
    features: Bits
    weights: Floats
    block_rows: float
    most_vectors: int = 3_000

    @property
    def rows(self) -> float:
        """How many rows there are."""
        return float(self.counts.sum())

    @cached_property
    def words(self) -> npt.NDArray[np.uint64]:
        """The vectors, 64 bits in a word."""
        return pack(self.vectors)

    def reading(self, group: Bits) -> Bits:
        """The queries that read some column of a group: W^G."""
        return np.asarray(self.columns[:, group].any(axis=1))

    def merged(self) -> ColumnAccess:
        """The same with each kind of query once."""
        if len(self.columns) == 0:
            return self
        words = pack(np.concatenate([self.columns, self.features], axis=1))
        _, first, kind = np.unique(words, axis=0, return_index=True, return_inverse=True)
        weights = np.asarray(np.bincount(kind.reshape(-1), self.weights, len(first)), np.float64)
        order = np.argsort(first)
        kept = first[order]
        return replace(self, columns=self.columns[kept], features=self.features[kept], weights=weights[order])

    def projected(self, features: Indices) -> tuple[Indices, Indices]:
        """Numbers for the vectors, the same where they agree on some features; one vector of each number."""
        chosen = np.zeros((1, self.vectors.shape[1]), np.bool_)
        chosen[0, features] = True
        mask = pack(chosen)[0]
        number = np.zeros(len(self.vectors), np.int64)
        first = np.zeros(min(1, len(self.vectors)), np.int64)
        for word in np.flatnonzero(mask):
            _, value = np.unique(self.words[:, word] & mask[word], return_inverse=True)
            both = number * (int(value.max(initial=0)) + 1) + value
            _, first, number = np.unique(both, return_index=True, return_inverse=True)
        return number, first

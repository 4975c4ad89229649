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

__all__ = ["Bits", "Codes", "ColumnAccess", "Floats", "Indices", "distinct"]

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint64]
_ONE = np.uint64(1)
_CODE_BITS = np.uint64(32)
"""Features at a time: after renumbering, a code has room for as many more."""


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
    def by_feature(self) -> npt.NDArray[np.uint64]:
        """The bits of each feature together, which is how projections read them."""
        return np.ascontiguousarray(self.vectors.T).astype(np.uint64)

    @cached_property
    def lacking(self) -> Floats:
        """The share of the rows that each feature lets its queries skip at best."""
        return np.asarray(1.0 - self.counts @ self.vectors / max(self.rows, 1e-300))

    @cached_property
    def asked(self) -> Floats:
        """How often each query asks for each feature."""
        return np.asarray(self.features * self.weights[:, None])

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

    def extended(self, code: Codes, features: Indices) -> Codes:
        """Codes of the vectors after more features; two vectors had and will have the same if they agree."""
        at_once = int(_CODE_BITS)
        for start in range(0, len(features), at_once):
            if code.max(initial=0) >> _CODE_BITS:
                code = np.unique(code, return_inverse=True)[1].reshape(-1).astype(np.uint64)
            for feature in features[start : start + at_once]:
                code = (code << _ONE) | self.by_feature[feature]
        return code

    def projected(self, features: Indices) -> tuple[Indices, Indices]:
        """Numbers for the vectors, the same where they agree on some features; one vector of each number."""
        code = self.extended(np.zeros(len(self.vectors), np.uint64), features)
        _, first, number = np.unique(code, return_index=True, return_inverse=True)
        return number.reshape(-1), first


def distinct(code: Codes) -> int:
    """How many codes there are."""
    ordered = np.sort(code)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + min(1, len(ordered))

"""Balanced MaxSkip: gather feature vectors into blocks that lose as little skipping as possible.

Section 4 of "Fine-grained Partitioning for Aggressive Data Skipping" (SIGMOD 2014). A block P with union
vector u lets the workload skip C(P) = |P| Σ_k w_k (1 - u_k) rows. Every vector starts as a block of its
own and the two blocks whose union loses least are merged, until blocks have ``min_size`` rows; what is
merged from two blocks below ``min_size`` stays below twice that. The change by a merge is section 4.4's

    δ(P, Q) = |P| Σ_k w_k (u_k - u_k ∨ v_k) + |Q| Σ_k w_k (v_k - u_k ∨ v_k)  <=  0

which, with s = Σ w_k u_k, t = Σ w_k v_k and the overlap o = Σ w_k u_k v_k, is -(|P| (t - o) + |Q| (s -
o)): summing the rows of a block's few bits gives its overlap, and so the changes, with all others.

Vectors of ``min_size`` rows or more are blocks at once, and are split where they reach the limit. The
limit is below 2 * min_size, or ``max_size`` if given (the maximum block size of the re-implementation on
Spark): no merge exceeds it. A block that is left over below ``min_size`` joins the finished block that it
hurts least and where it fits, else it stands alone.

Cost: each block keeps its best partner. When that partner is gone, what it offered remains a lower bound,
so a block is only looked at again when it comes up as the best. O(n² m) for the first partners and O(n m)
for each merge and each second look, of which there are about as many as merges: O(n² m) in all, with O(n
m) memory.

Example (Table I of the re-implementation): of the vectors 010, 001, 000, 110 with 12, 11, 19, 10 rows and
weights 50, 20, 10, the second and third lose least, 19 * 10 rows:

>>> vectors = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 1, 0]], bool)
>>> merge_changes(vectors, np.array([12, 11, 19, 10]), np.array([50, 20, 10]))[1].tolist()
[-340.0, 0.0, -190.0, -870.0]
>>> cluster(vectors, np.array([12, 11, 19, 10]), np.array([50, 20, 10]), 22).block_of.tolist()
[0, 1, 1, 0]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Clustering", "cluster", "merge_changes", "rows_skipped"]

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
_FEW_BITS = 24
"""Of so few bits the rows are summed faster than a matrix is multiplied, which may start threads besides."""
_CROWDED = 0.8
"""The share of slots in use below which the others are given up."""


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """Blocks ``block_of[i]`` to ``block_of[i] + ways[i] - 1`` take vector i; ``ways`` is mostly 1.

    ``unions`` and ``sizes`` describe the blocks. They are numbered by their first vector.
    """

    block_of: npt.NDArray[np.int32]
    ways: npt.NDArray[np.int32]
    unions: Bits
    sizes: Floats


def rows_skipped(unions: Bits, sizes: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """C(P) of section 4.1, equations 1 and 2: the rows that the workload skips, over all queries."""
    return float(np.asarray(sizes, np.float64) @ (~unions @ np.asarray(weights, np.float64)))


def merge_changes(unions: Bits, sizes: npt.ArrayLike, weights: npt.ArrayLike) -> Floats:
    """δ of every pair of blocks; 0 on the diagonal."""
    rows = np.asarray(sizes, np.float64)
    weighted = unions * np.asarray(weights, np.float64)
    overlap = weighted @ unions.T
    own = weighted.sum(axis=1)
    loss = rows[:, None] * (own[None, :] - overlap) + rows[None, :] * (own[:, None] - overlap)
    np.fill_diagonal(loss, 0)
    return np.asarray(0.0 - loss)


def cluster(
    vectors: Bits,
    counts: npt.ArrayLike,
    weights: npt.ArrayLike,
    min_size: float,
    max_size: float | None = None,
) -> Clustering:
    """Gather distinct vectors, each standing for ``counts`` rows, into blocks.

    Ties are broken by the order of the vectors, so the same input gives the same blocks.
    """
    rows = np.asarray(counts, np.float64)
    limit = np.nextafter(2 * min_size, 0) if max_size is None else max_size
    large = (rows >= min_size) | (rows > limit)
    ways = np.where(rows > limit, np.ceil(rows / limit), 1).astype(np.int32)
    blocks: list[list[int]] = [[int(vector)] for vector in np.flatnonzero(large)]
    small = np.flatnonzero(~large)
    if len(small):
        merging = _Merging(vectors[small], rows[small], np.asarray(weights, np.float64), min_size, limit)
        blocks += [[int(small[member]) for member in block] for block in merging.run()]
    merged = _without_small_blocks(blocks, vectors, rows, np.asarray(weights, np.float64), (min_size, limit))
    return _numbered(merged, vectors, rows, ways)


def _without_small_blocks(
    blocks: list[list[int]], vectors: Bits, rows: Floats, weights: Floats, allowed: tuple[float, float]
) -> list[list[int]]:
    """Blocks below the smallest allowed size join the one that they hurt least, if any has room."""
    min_size, limit = allowed
    sizes = np.array([rows[block].sum() for block in blocks])
    unions = np.array([vectors[block].any(axis=0) for block in blocks])
    for index in np.flatnonzero(sizes < min_size):
        if sizes[index] >= min_size:
            continue
        overlap = unions @ (weights * unions[index])
        own = unions @ weights
        loss = sizes[index] * (own - overlap) + sizes * (own[index] - overlap)
        loss[(sizes + sizes[index] > limit) | (sizes == 0)] = np.inf
        loss[index] = np.inf
        host = int(np.argmin(loss))
        if np.isfinite(loss[host]):
            blocks[host] = blocks[host] + blocks[index]
            blocks[index] = []
            sizes[host] += sizes[index]
            sizes[index] = 0
            unions[host] |= unions[index]
    return [block for block in blocks if block]


def _numbered(
    blocks: list[list[int]], vectors: Bits, rows: Floats, ways: npt.NDArray[np.int32]
) -> Clustering:
    block_of: npt.NDArray[np.int32] = np.zeros(len(vectors), np.int32)
    unions: list[Bits] = []
    sizes: list[float] = []
    for block in sorted(blocks, key=min):
        parts = int(ways[block[0]]) if len(block) == 1 else 1
        block_of[block] = len(sizes)
        unions += [np.asarray(vectors[block].any(axis=0))] * parts
        sizes += [float(rows[block].sum()) / parts] * parts
    shape = (len(sizes), vectors.shape[1])
    return Clustering(block_of, ways, np.array(unions, np.bool_).reshape(shape), np.array(sizes))


class _Merging:
    """The bottom-up procedure; block i keeps slot i, a merged pair the slot of one of them."""

    def __init__(self, vectors: Bits, rows: Floats, weights: Floats, min_size: float, limit: float) -> None:
        # The weight of each bit of a block, features first: a union has few bits, whose rows are summed.
        self.weighted = np.ascontiguousarray((vectors * weights).T)
        self.sizes = rows.copy()
        self.min_size, self.limit = min_size, limit
        self.members: list[list[int]] = [[index] for index in range(len(rows))]
        self.own = self.weighted.sum(axis=0)
        self.alive = np.ones(len(rows), np.bool_)
        # The sizes of blocks that may be merged; nothing has room for the others.
        self.taken = rows.copy()
        self.partner: Indices = np.zeros(len(rows), np.int64)
        self.loss: Floats = np.full(len(rows), np.inf)
        self.fresh = np.ones(len(rows), np.bool_)
        for index in range(len(rows)):
            self._look_again(index)

    def run(self) -> list[list[int]]:
        """The finished blocks, then those that found no partner."""
        done: list[list[int]] = []
        living = len(self.sizes)
        while living:
            one = int(np.argmin(self.loss))
            if not np.isfinite(self.loss[one]):
                break
            if not self.fresh[one]:
                self._look_again(one)
                continue
            other = int(self.partner[one])
            self._merge(one, other)
            living -= 1
            if self.sizes[one] >= self.min_size:
                done.append(self.members[one])
                self._leave(one)
                living -= 1
            else:
                self._offer(one)
            if living < _CROWDED * len(self.sizes):
                self._compact()
        return done + [self.members[index] for index in np.flatnonzero(self.alive)]

    def _losses(self, index: int) -> Floats:
        """-δ of a block with all others; infinite where they must not be merged. All the time goes here."""
        bits = np.flatnonzero(self.weighted[:, index])
        if len(bits) <= _FEW_BITS:
            overlap = np.add.reduce(self.weighted.take(bits, axis=0))
        else:
            overlap = (self.weighted[:, index] > 0).astype(np.float64) @ self.weighted
        loss: Floats = self.own - overlap
        loss *= self.sizes[index]
        np.subtract(self.own[index], overlap, out=overlap)
        overlap *= self.sizes
        loss += overlap
        np.putmask(loss, self.taken + self.sizes[index] > self.limit, np.inf)
        loss[index] = np.inf
        return loss

    def _look_again(self, index: int) -> None:
        losses = self._losses(index)
        best = int(losses.argmin())
        self.partner[index], self.loss[index] = best, losses[best]
        self.fresh[index] = True

    def _merge(self, one: int, other: int) -> None:
        both = self.weighted[:, one]
        np.maximum(both, self.weighted[:, other], out=both)
        self.sizes[one] += self.sizes[other]
        self.taken[one] = self.sizes[one]
        self.own[one] = both.sum()
        self.members[one] = self.members[one] + self.members[other]
        self._leave(other)
        # What the old block offered to others is no more.
        self.fresh[self.partner == one] = False

    def _leave(self, index: int) -> None:
        self.alive[index] = False
        self.taken[index] = np.inf
        self.loss[index] = np.inf
        self.fresh[self.partner == index] = False

    def _offer(self, index: int) -> None:
        """Find the new block's best partner, and offer the new block to the others."""
        losses = self._losses(index)
        best = int(losses.argmin())
        self.partner[index], self.loss[index] = best, losses[best]
        self.fresh[index] = True
        better = self.alive & (losses < self.loss)
        # A bound that is not fresh is still below what all blocks but the new one offer.
        self.partner[better] = index
        self.loss[better] = losses[better]
        self.fresh[better] = True

    def _compact(self) -> None:
        kept = np.flatnonzero(self.alive)
        new_index = np.zeros(len(self.sizes), np.int64)
        new_index[kept] = np.arange(len(kept))
        self.fresh = self.fresh[kept]
        self.partner = new_index[self.partner[kept]]
        self.weighted = np.ascontiguousarray(self.weighted[:, kept])
        self.sizes, self.own = self.sizes[kept], self.own[kept]
        self.loss, self.alive, self.taken = self.loss[kept], self.alive[kept], self.taken[kept]
        self.members = [self.members[index] for index in kept]

"""Groups of blocks that are joined together, and what makes them a join.

A group joins its left blocks with its right blocks, and of these only the rows with a key in its range. The
law, for a side whose rows have to be joined once: each of its rows is in exactly one group, and all blocks
of the other side that may have the same key are in that group. The union of the groups' joins is then the
join: every pair of rows meets exactly once, and whether a row has a partner is known where the row is. An
inner join needs one such side, outer, semi and anti joins need those sides whose rows they keep, a full
join both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from skipstone.joining.spans import NULL_KEY, Spans, meets
from skipstone.pruning.blocks import Counts
from skipstone.pruning.masks import Flags

__all__ = ["Group", "Grouping", "Tables", "is_join"]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Some blocks of both tables; their keys from the rank ``low`` up to and without ``high`` are joined."""

    left: Counts
    right: Counts
    low: int
    high: int

    def blocks(self, side: int) -> Counts:
        """Those of the left (0) or the right (1) table."""
        return self.right if side else self.left

    def having(self, side: int, blocks: Counts) -> Group:
        """The group with other blocks on one side."""
        return replace(self, right=blocks) if side else replace(self, left=blocks)


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The blocks of both sides; ``keeps`` says of each side whether rows without a partner are in the result.

    ``keys`` is how many ranks there are.
    """

    left: Spans
    right: Spans
    keys: int
    keeps: tuple[bool, bool] = (False, False)

    @property
    def sides(self) -> tuple[Spans, Spans]:
        """Left and right."""
        return self.left, self.right

    @property
    def total(self) -> int:
        """What both weigh."""
        return self.left.total + self.right.total

    @property
    def larger(self) -> int:
        """The side that weighs more: 0 or 1."""
        return int(self.right.total > self.left.total)

    def may_repeat(self, side: int) -> bool:
        """Whether rows of a side may be in several groups without a range that tells them apart."""
        return not self.keeps[side]

    @property
    def whole(self) -> Group:
        """All blocks in one group."""
        return Group(self.left.alive, self.right.alive, NULL_KEY, self.keys)

    def part(self, group: Group, low: int, high: int) -> Group:
        """The blocks of a group that may have keys in a range, to be joined by these."""
        left, right = (side.overlapping(group.blocks(i), low, high) for i, side in enumerate(self.sides))
        return Group(left, right, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Groups, and the name of the algorithm that formed them."""

    name: str
    tables: Tables
    groups: tuple[Group, ...]

    @classmethod
    def of(cls, name: str, tables: Tables, groups: Iterable[Group]) -> Grouping:
        """Without the groups that have no row of the result."""
        return cls(name, tables, tuple(group for group in groups if _has_rows(group, tables.keeps)))

    def weights(self, side: int) -> Counts:
        """What each group weighs on one side."""
        weight = self.tables.sides[side].weight
        return np.array([weight[group.blocks(side)].sum() for group in self.groups], np.int64)

    @property
    def cost(self) -> Counts:
        """What each group reads, the input cost of 004 section 4.2.2."""
        return self.weights(0) + self.weights(1)

    def times_read(self, side: int) -> float:
        """How often a side is read, on average."""
        total = self.tables.sides[side].total
        return float(self.weights(side).sum()) / total if total else 0.0

    def repeated(self, side: int) -> Flags:
        """The blocks of a side that several groups read."""
        counts = np.zeros(len(self.tables.sides[side]), np.int64)
        for group in self.groups:
            counts[group.blocks(side)] += 1
        return counts > 1

    def needs_ranges(self, side: int) -> bool:
        """Whether rows of a side have to be told apart by the range of a group."""
        ranges = {(group.low, group.high) for group in self.groups}
        return len(ranges) > 1 and bool(self.repeated(side).any())


def _has_rows(group: Group, keeps: tuple[bool, bool]) -> bool:
    some = [len(group.left) > 0, len(group.right) > 0]
    return all(some) or (keeps[0] and some[0]) or (keeps[1] and some[1])


def is_join(grouping: Grouping) -> bool:
    """Whether the groups obey the law; cheap enough to look at each grouping before it is used."""
    keeps = grouping.tables.keeps
    owners = [side for side in (0, 1) if keeps[side]]
    if owners:
        return all(_owned(grouping, side) for side in owners)
    return _owned(grouping, 0) or _owned(grouping, 1)


def _owned(grouping: Grouping, side: int) -> bool:
    """Whether each row of a side is in one group, with all blocks of the other side that may have its key."""
    own, other = grouping.tables.sides[side], grouping.tables.sides[1 - side]
    pieces = [_pieces(group, side, own) for group in grouping.groups]
    for group, (_, low, high) in zip(grouping.groups, pieces, strict=True):
        partners = meets(low, high, other.low, other.high + 1)
        if not np.isin(np.flatnonzero(partners), group.blocks(1 - side)).all():
            return False
    found = [np.concatenate(column) for column in zip(*[*pieces, _ends(own)], strict=True)]
    block, low, high = (column[np.lexsort((found[1], found[0]))] for column in found)
    # What lies between one piece of a block and the next; a block's last piece is empty and ends it.
    same = block[1:] == block[:-1]
    if (low[1:] < high[:-1])[same].any():
        return False
    firsts = np.concatenate([[True], ~same])
    starts = np.where(firsts, own.low[block], np.concatenate([[0], high[:-1]]))
    gaps = starts < low
    return not (gaps.any() and (grouping.tables.keeps[side] or _meet_any(starts[gaps], low[gaps], other)))


def _pieces(group: Group, side: int, own: Spans) -> tuple[Counts, Counts, Counts]:
    """The keys that a group has of each of its blocks."""
    blocks = own.overlapping(group.blocks(side), group.low, group.high)
    return (
        blocks,
        np.maximum(own.low[blocks], group.low),
        np.minimum(own.high[blocks] + 1, group.high),
    )


def _ends(own: Spans) -> tuple[Counts, Counts, Counts]:
    """An empty piece at the end of each block that has any key."""
    return own.alive, own.high[own.alive] + 1, own.high[own.alive] + 1


def _meet_any(low: Counts, high: Counts, other: Spans) -> bool:
    return bool(meets(low, high, other.low, other.high + 1).any())

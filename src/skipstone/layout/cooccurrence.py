"""How many rows of a node have two predicates at once, for all pairs: C = BᵀB without the product.

For a cut a and an atom b, C[a, b] counts the rows with both. It shows at once what each cut would do: b
vanishes on the yes side if C[a, b] is 0 and on the no side if C[a, b] equals the number of rows with b.

Predicates over the same columns have few joint outcomes: a hundred thresholds on a date cut its values
into a hundred classes. So each row is reduced to one small class number per group of predicates, a pair
of groups is counted by one histogram of class pairs, and a small product spreads that histogram to the
predicates: C[g, h] = T_gᵀ H T_h. For n rows, m predicates and G groups this takes G² n / 2 additions in
place of m² n multiplications. Nodes with few rows are multiplied instead, which is cheaper there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Bits", "Counted", "Group", "Groups", "Indices", "group_predicates"]

Bits = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]
Counted = npt.NDArray[np.float32]
_MOST_CLASSES = 2_000
_ROWS_AT_ONCE = 65_536
_BITS_AT_ONCE = 8


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Predicates that are counted together: each row's class and which predicates a class satisfies."""

    members: Indices
    classes: npt.NDArray[np.int32]
    table: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.table)


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """All predicates, in groups; ``home`` and ``column`` say in which group a predicate is and where."""

    groups: tuple[Group, ...]
    home: Indices
    column: Indices

    def bits(self, rows: Indices, predicate: int) -> Bits:
        """Which of the rows satisfy a predicate."""
        group = self.groups[self.home[predicate]]
        held: Bits = group.table[:, self.column[predicate]].astype(np.bool_)
        return np.asarray(held[group.classes[rows]])

    def together(self, rows: Indices, cuts: Indices, atoms: Indices) -> Counted:
        """Counts of rows with both, for (cuts, atoms); one more row and column count each alone."""
        # Some builds of BLAS raise the flag for invalid values on finite numbers.
        with np.errstate(invalid="ignore"):
            return self._together(rows, cuts, atoms)

    def _together(self, rows: Indices, cuts: Indices, atoms: Indices) -> Counted:
        pairs = len(np.unique(self.home[cuts])) * len(np.unique(self.home[atoms]))
        # One entry of a histogram costs about as much as 40 multiplications of a matrix product.
        if 40 * pairs * (len(rows) + 3_000) < len(cuts) * len(atoms) * len(rows):
            return self._by_histogram(rows, cuts, atoms)
        return self._by_product(rows, cuts, atoms)

    def _by_product(self, rows: Indices, cuts: Indices, atoms: Indices) -> Counted:
        out: Counted = np.zeros((len(cuts) + 1, len(atoms) + 1), np.float32)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[start : start + _ROWS_AT_ONCE]
            out += self._matrix(some, cuts).T @ self._matrix(some, atoms)
        return out

    def _matrix(self, rows: Indices, predicates: Indices) -> Counted:
        """The predicates' bits on the rows, and a last column of ones."""
        out: Counted = np.ones((len(rows), len(predicates) + 1), np.float32)
        for number, mine, table in self._tables(predicates):
            out[:, mine] = table[self.groups[number].classes[rows]]
        return out

    def _by_histogram(self, rows: Indices, cuts: Indices, atoms: Indices) -> Counted:
        out: Counted = np.empty((len(cuts) + 1, len(atoms) + 1), np.float32)
        left, right = list(self._tables(cuts)), list(self._tables(atoms))
        numbers = {number for number, _, _ in (*left, *right)}
        classes = {number: self.groups[number].classes[rows].astype(np.int64) for number in numbers}
        counts = {
            number: np.bincount(classes[number], minlength=len(self.groups[number])).astype(np.float32)
            for number in numbers
        }
        histograms: dict[tuple[int, int], Counted] = {}
        for g, mine, table in left:
            out[mine, -1] = counts[g] @ table
            for h, others, spread in right:
                out[np.ix_(mine, others)] = table.T @ self._joint(g, h, classes, counts, histograms) @ spread
        for h, others, spread in right:
            out[-1, others] = counts[h] @ spread
        out[-1, -1] = len(rows)
        return out

    def _joint(
        self,
        g: int,
        h: int,
        classes: dict[int, npt.NDArray[np.int64]],
        counts: dict[int, Counted],
        known: dict[tuple[int, int], Counted],
    ) -> Counted:
        """How many rows are in class i of group g and in class j of group h."""
        if g == h:
            return np.diag(counts[g])
        if (h, g) in known:
            return known.pop((h, g)).T
        width = len(self.groups[h])
        flat = np.bincount(classes[g] * width + classes[h], minlength=len(self.groups[g]) * width)
        known[g, h] = flat.reshape(-1, width).astype(np.float32)
        return known[g, h]

    def _tables(self, predicates: Indices) -> list[tuple[int, Indices, Counted]]:
        """Per group: its number, where its predicates are among the given ones, and their table."""
        homes = self.home[predicates]
        found = []
        for number in np.unique(homes):
            mine = np.flatnonzero(homes == number)
            found.append((int(number), mine, self.groups[number].table[:, self.column[predicates[mine]]]))
        return found


def group_predicates(bits: Sequence[Bits], subjects: Sequence[object]) -> Groups:
    """Group predicates, given as one array of bits each, by what they are about."""
    members: dict[object, list[int]] = {}
    for number, subject in enumerate(subjects):
        members.setdefault(subject, []).append(number)
    groups: list[Group] = []
    for numbers in members.values():
        groups += _groups(bits, numbers)
    home: Indices = np.empty(len(subjects), np.int64)
    column: Indices = np.empty(len(subjects), np.int64)
    for number, group in enumerate(groups):
        home[group.members] = number
        column[group.members] = np.arange(len(group.members))
    return Groups(tuple(groups), home, column)


def _groups(bits: Sequence[Bits], numbers: list[int]) -> list[Group]:
    """One group, or several where the predicates have too many joint outcomes."""
    classes: Indices = np.zeros(len(bits[numbers[0]]), np.int64)
    for index in range(0, len(numbers), _BITS_AT_ONCE):
        outcome = np.zeros(len(classes), np.uint8)
        for bit, number in enumerate(numbers[index : index + _BITS_AT_ONCE]):
            outcome |= bits[number].view(np.uint8) << np.uint8(bit)
        split = classes * 256 + outcome
        present = np.bincount(split) > 0
        if index and np.count_nonzero(present) > _MOST_CLASSES:
            return [*_groups(bits, numbers[:index]), *_groups(bits, numbers[index:])]
        # Classes are renumbered each time, so they never outgrow the rows.
        classes = (np.cumsum(present) - 1)[split]
    first = np.unique(classes, return_index=True)[1]
    table = np.stack([bits[number][first] for number in numbers], axis=1).astype(np.float32)
    return [Group(np.array(numbers, np.int64), classes.astype(np.int32), table)]

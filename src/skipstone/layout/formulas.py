"""Filters over atoms, compiled so that many situations are judged at once.

A situation says of every atom whether it has vanished: whether no row of a block, or of a child of a
node, makes it TRUE. A conjunction cannot hold there when one of its parts has vanished, a disjunction
when all of its branches have. A part that is not understood never vanishes.

Queries are held as conjunctions: a table of their atoms, one row per query, and the disjunctions among
their parts, whose branches are conjunctions again. Judging takes one OR over all queries and situations
for each atom of the longest conjunction. Cost: O(atoms per query * queries * situations), in vector
operations.

>>> queries = compile_formulas([("and", (0, ("or", (1, 2))))], 3)
>>> vanished = np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0]], bool)  # atoms by situations
>>> queries.skipped(vanished).tolist()
[[True, True, False]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.layout.sample import Formula

__all__ = ["Conjunctions", "compile_formulas", "holds"]

Bits = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Conjunctions:
    """``atoms[i]`` are the atoms of conjunction i; unused entries hold an atom that never vanishes.

    Disjunction d is a part of conjunction ``owner[d]``; its branches are the conjunctions of ``branches``
    from ``first[d]`` on. ``owner`` is sorted. ``count`` is the number of atoms, of which two further ones
    are imagined: number ``count`` never vanishes and number ``count + 1`` always has.
    """

    atoms: Indices
    owner: Indices
    first: Indices
    branches: Conjunctions | None
    count: int

    def __len__(self) -> int:
        return len(self.atoms)

    def used(self) -> Indices:
        """The atoms that any of the conjunctions has, in order."""
        own = np.unique(self.atoms)
        own = own[own < self.count]
        return own if self.branches is None else np.union1d(own, self.branches.used())

    def skipped(self, vanished: Bits) -> Bits:
        """Which conjunctions cannot hold, for (atoms, situations): an array (conjunctions, situations)."""
        never = np.zeros((1, vanished.shape[1]), np.bool_)
        return self.judge(np.concatenate([vanished, never, ~never]))

    def judge(self, vanished: Bits) -> Bits:
        """The same, for atoms that are followed by one that never and one that always vanishes."""
        out: Bits = np.zeros((len(self), vanished.shape[1]), np.bool_)
        for index in range(self.atoms.shape[1]):
            column = self.atoms[:, index]
            busy = np.flatnonzero(column != self.count)
            if len(busy) == len(self):
                out |= vanished[column]
            elif len(busy):
                out[busy] |= vanished[column[busy]]
        if self.branches is not None and len(self.owner):
            gone = np.logical_and.reduceat(self.branches.judge(vanished), self.first, axis=0)
            starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
            out[self.owner[starts]] |= np.logical_or.reduceat(gone, starts, axis=0)
        return out

    def take(self, chosen: Indices) -> Conjunctions:
        """Some of the conjunctions; ``chosen`` is sorted."""
        atoms = self.atoms[chosen]
        if self.branches is None:
            return Conjunctions(atoms, self.owner, self.first, None, self.count)
        new_index = np.full(len(self), -1, np.int64)
        new_index[chosen] = np.arange(len(chosen))
        kept = new_index[self.owner] >= 0
        sizes = np.diff(np.append(self.first, len(self.branches)))
        if not kept.any():
            none = np.zeros(0, np.int64)
            return Conjunctions(atoms, none, none, None, self.count)
        branches = self.branches.take(np.flatnonzero(np.repeat(kept, sizes)))
        first = np.concatenate([[0], np.cumsum(sizes[kept])[:-1]]).astype(np.int64)
        return Conjunctions(atoms, new_index[self.owner[kept]], first, branches, self.count)


def compile_formulas(formulas: Sequence[Formula], atoms: int) -> Conjunctions:
    """Formulas over atoms 0 to ``atoms - 1`` as conjunctions."""
    rows: list[list[int]] = []
    owner: list[int] = []
    first: list[int] = []
    branches: list[Formula] = []
    for number, formula in enumerate(formulas):
        row: list[int] = []
        for part in _conjuncts(formula):
            if isinstance(part, bool):
                row += [] if part else [atoms + 1]
            elif isinstance(part, int):
                row.append(part)
            else:
                owner.append(number)
                first.append(len(branches))
                branches += part[1]
        rows.append(row)
    table = np.full((len(rows), max(map(len, rows), default=0)), atoms, np.int64)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    nested = compile_formulas(branches, atoms) if branches else None
    return Conjunctions(table, np.array(owner, np.int64), np.array(first, np.int64), nested, atoms)


def _conjuncts(formula: Formula) -> Sequence[Formula]:
    if isinstance(formula, tuple):
        if formula[0] == "and":
            return [part for inner in formula[1] for part in _conjuncts(inner)]
        if not formula[1]:
            return [False]
    return [formula]


def holds(formula: Formula, bits: Bits) -> Bits:
    """The rows that satisfy a formula; what is not understood may always hold."""
    if isinstance(formula, bool):
        return np.full(len(bits), formula)
    if isinstance(formula, int):
        return bits[:, formula]
    parts = [holds(part, bits) for part in formula[1]]
    if not parts:
        return np.full(len(bits), formula[0] == "and")
    return np.asarray((np.logical_and if formula[0] == "and" else np.logical_or).reduce(parts), np.bool_)

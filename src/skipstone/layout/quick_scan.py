"""What a workload scans of virtual blocks, quickly enough to compare hundreds of ways to cut them.

:mod:`simulate` builds the statistics of all blocks and prunes query by query. Here the rules that matter are
applied to all queries and blocks at once, on ranks instead of values: an atom has vanished from a block

* if its constants lie outside the block's bounds of the expression that it compares,
* if no value of the block satisfies it, where indexing keeps the values, or
* if it is a tracked feature that no row of the block has.

What else pruning knows (features that are implied, several predicates on one column taken together) is left
out, so the answer is never smaller than that of :mod:`simulate`.

Only the atoms of the queries are looked at, and the constants of a column are looked up together. Cost per
call: a sort of the rows, a few reductions per column, and O(atoms per query * queries * blocks) bit
operations.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.layout.assignment import Numbers
from skipstone.layout.filtered import atoms_of, subjects
from skipstone.layout.formulas import Conjunctions, compile_formulas
from skipstone.layout.pack import pack
from skipstone.layout.ranks import Ranked, rank
from skipstone.layout.sample import Formula, Sample, WorkloadView
from skipstone.layout.simulate import feature_bits
from skipstone.predicate.evaluate import order_key
from skipstone.predicate.expr import And, Comparison, Expr, In, Literal, Or, Value, type_of
from skipstone.predicate.normalize import conjuncts
from skipstone.pruning.blocks import MOST_VALUES, SET_KINDS, Feature, Words
from skipstone.workload.candidates import compared

__all__ = ["QuickScan"]

Bits = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]
Ends = tuple[float, float]
RankOf = Callable[[Value], Ends]


@dataclass(frozen=True, slots=True, eq=False)
class _Subject:
    """The atoms about one expression: ``ends`` are the lowest and highest ranks that satisfy each of them.

    ``values`` has a bit for the value of each row, and ``masks`` those that satisfy each atom; None where
    there are too many values.
    """

    atoms: Indices
    codes: npt.NDArray[np.int32]
    ends: npt.NDArray[np.float64]
    values: Words | None
    masks: Words


@dataclass(frozen=True, slots=True, eq=False)
class QuickScan:
    """A workload over sampled rows. Made by :meth:`of`."""

    queries: Conjunctions
    weights: npt.NDArray[np.float64]
    subjects: tuple[_Subject, ...]
    flags: Words
    flagged: Indices

    @classmethod
    def of(cls, sample: Sample, queries: WorkloadView, features: Sequence[Feature]) -> QuickScan:
        """Prepare the rows and the queries; ``features`` are those that are tracked."""
        bits = sample.bits
        indices = {atom: index for index, atom in enumerate(queries.atoms)}
        flags: dict[int, Bits] = {}
        numbers: dict[Expr, int] = {}
        for feature in features:
            rows = feature_bits(feature.predicate, indices, bits)
            if rows is not None:
                # AND and OR are no atoms; queries that have them as a conjunct get a further one.
                number = indices.get(feature.predicate, len(indices) + len(numbers))
                if isinstance(feature.predicate, And | Or):
                    numbers[feature.predicate] = number
                flags[number] = rows
        pairs = zip(queries.formulas, queries.filters, strict=True)
        formulas = [_with(formula, filter_, numbers) for formula, filter_ in pairs]
        table = np.stack(list(flags.values()), axis=1) if flags else np.zeros((len(bits), 0), np.bool_)
        return cls(
            compile_formulas(formulas, len(indices) + len(numbers)),
            queries.weights,
            tuple(_subjects(sample, queries, {atom for formula in formulas for atom in atoms_of(formula)})),
            pack(table),
            np.array(list(flags), np.int64),
        )

    def scanned(self, numbers: Numbers) -> float:
        """The share of rows that the queries scan when row i lies in block ``numbers[i]``."""
        order = np.argsort(numbers, kind="stable")
        _, starts = np.unique(numbers[order], return_index=True)
        vanished = np.zeros((self.queries.count, len(starts)), np.bool_)
        for subject in self.subjects:
            vanished[subject.atoms] = _vanished(subject, order, starts)
        union = np.bitwise_or.reduceat(self.flags[order], starts, axis=0)
        for index, atom in enumerate(self.flagged):
            vanished[atom] |= (union[:, index // 64] >> np.uint64(index % 64) & np.uint64(1)) == 0
        rows = np.diff(np.append(starts, len(order)))
        kept = (~self.queries.skipped(vanished)) @ rows.astype(np.float64)
        return float(kept @ self.weights / max(self.weights.sum() * len(order), 1.0))


def _with(formula: Formula, filter_: Expr, numbers: dict[Expr, int]) -> Formula:
    more = [numbers[part] for part in conjuncts(filter_) if part in numbers] if numbers else []
    return ("and", (formula, *more)) if more else formula


def _subjects(sample: Sample, queries: WorkloadView, used: AbstractSet[int]) -> list[_Subject]:
    about: dict[Expr, list[int]] = {}
    for atom, key in subjects(sample, queries, used).items():
        about.setdefault(key, []).append(atom)
    found = []
    for key, atoms in about.items():
        column = rank(sample.columns[key])
        bits = sample.bits[:, atoms]
        rank_of = _ranks(column)
        ends = [
            _ends(queries.atoms[atom], key, column, rank_of, bits[:, index])
            for index, atom in enumerate(atoms)
        ]
        values, masks = _values(key, column, bits)
        found.append(_Subject(np.array(atoms), column.codes, np.array(ends), values, masks))
    return found


def _ends(atom: Expr, key: Expr, column: Ranked, rank_of: RankOf, true: Bits) -> Ends:
    """Between which ranks an atom may be TRUE; a constant that does not occur lies between two."""
    match atom:
        case Comparison(op, left, Literal(value)) if left == key:
            at, next_ = rank_of(value)
            return {
                "<": (-np.inf, at - 0.5 if at == next_ - 1 else at),
                "<=": (-np.inf, at),
                ">": (next_ - 0.5, np.inf),
                ">=": (at, np.inf),
            }.get(op, (at, at))
        case In(arg, values) if arg == key:
            found = [rank_of(each.value)[0] for each in values if each.value is not None]
            return (min(found), max(found)) if found else (np.inf, -np.inf)
    codes = column.codes[true]
    if compared(atom) is None or not len(codes):
        return -np.inf, np.inf
    return float(codes.min()), float(codes.max())


def _ranks(column: Ranked) -> RankOf:
    """The rank of a value, and that of the next; half a rank where the value does not occur."""
    keys = [order_key(value) for value in column.values]

    def rank_of(value: Value) -> Ends:
        wanted = order_key(value)
        at = bisect_left(keys, wanted)
        occurs = at < len(keys) and keys[at] == wanted
        return (at, at + 1) if occurs else (at - 0.5, at)

    return rank_of


def _values(key: Expr, column: Ranked, bits: Bits) -> tuple[Words | None, Words]:
    masks = np.zeros(bits.shape[1], np.uint64)
    if type_of(key).kind not in SET_KINDS or not 0 < len(column.array) <= MOST_VALUES:
        return None, masks
    # NULL has a bit of its own.
    each = np.uint64(1) << np.where(column.codes < 0, 63, column.codes).astype(np.uint64)
    for index in range(bits.shape[1]):
        masks[index] = np.bitwise_or.reduce(each[bits[:, index]], initial=np.uint64(0))
    return each, masks


def _vanished(subject: _Subject, order: npt.NDArray[np.intp], starts: npt.NDArray[np.intp]) -> Bits:
    if subject.values is not None:
        union = np.bitwise_or.reduceat(subject.values[order], starts)
        return np.asarray((subject.masks[:, None] & union[None, :]) == 0)
    codes = subject.codes[order]
    low = np.minimum.reduceat(np.where(codes < 0, np.iinfo(np.int32).max, codes), starts)
    high = np.maximum.reduceat(codes, starts)
    ends = subject.ends
    empty = np.logical_and.outer(np.isfinite(ends).any(axis=1), high < 0)
    return np.asarray((ends[:, :1] > high[None, :]) | (ends[:, 1:] < low[None, :]) | empty)

"""Statistics beyond a layout's own: for predicates that need a feature bit.

Bounds and value sets say nothing about patterns, about two columns together, and about equality on a column
with many values. Rows need not be placed by such a predicate for its bit to skip blocks: they may lie well
already, or along with something that they are placed by ("Self-organising layouts for Delta", thesis,
section 4.3, calls these additional features).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pyarrow.compute as pc

from skipstone.layout.filtered import atoms_of, subjects
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.predicate.expr import Column, Comparison, Expr, IsNull, Literal, Not, is_opaque
from skipstone.predicate.partner import partners_in
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import MOST_VALUES, Feature

__all__ = ["additional_features", "atoms_needing_bits", "needs_feature_bit"]

_MOST = 32
_RANGE = ("<", "<=", ">", ">=")


def needs_feature_bit(sample: Sample, queries: WorkloadView) -> Callable[[Expr], bool]:
    """Whether a predicate needs a feature bit: bounds and value sets of the sample do not decide it."""
    about = {queries.atoms[number]: key for number, key in subjects(sample, queries).items()}
    values = {key: pc.count_distinct(column).as_py() for key, column in sample.columns.items()}

    def decide(predicate: Expr) -> bool:
        if partners_in(predicate):
            return True
        if (
            isinstance(predicate, Comparison)
            and predicate.op in _RANGE
            and isinstance(predicate.right, Literal)
        ):
            return False
        plain = predicate.arg if isinstance(predicate, Not) else predicate
        if isinstance(plain, IsNull) and (isinstance(plain.arg, Column) or plain.arg in values):
            return False
        return predicate not in about or values[about[predicate]] > MOST_VALUES

    return decide


def atoms_needing_bits(sample: Sample, queries: WorkloadView) -> list[int]:
    """The numbers of the atoms that need a feature bit, those that most queries ask for first."""
    weights: dict[int, float] = defaultdict(float)
    for formula, weight in zip(queries.formulas, queries.weights.tolist(), strict=True):
        for atom in atoms_of(formula):
            weights[atom] += weight
    needs_bit, atoms = needs_feature_bit(sample, queries), queries.atoms
    ordered = sorted(weights, key=lambda atom: (-weights[atom], atom))
    return [atom for atom in ordered if not is_opaque(atoms[atom]) and needs_bit(atoms[atom])]


def additional_features(sample: Sample, queries: WorkloadView) -> tuple[Feature, ...]:
    """The atoms that need a feature bit and that most queries ask for."""
    found = (queries.atoms[atom] for atom in atoms_needing_bits(sample, queries)[:_MOST])
    return tuple(Feature(atom, to_sql(atom)) for atom in found)

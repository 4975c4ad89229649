"""Statistics beyond a layout's own: for predicates that only a bit of their own can tell.

Bounds and value sets tell nothing about patterns, about two columns together, and about equality on a column
with many values. Rows need not be placed by such a predicate for its bit to skip blocks: they may lie well
already, or along with something that they are placed by ("Self-organising layouts for Delta", thesis,
section 4.3, calls these additional features).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pyarrow.compute as pc

from skipstone.layout.filtered import atoms_of, subjects
from skipstone.layout.sample import Fitting
from skipstone.predicate.expr import Column, Comparison, Expr, IsNull, Literal, Not, is_opaque
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import MOST_VALUES, Feature

__all__ = ["additional_features", "asked_for", "hidden"]

_MOST = 32
_RANGE = ("<", "<=", ">", ">=")


def hidden(fitting: Fitting) -> Callable[[Expr], bool]:
    """Whether bounds and value sets of the sample's columns and expressions cannot tell a predicate."""
    about = {fitting.workload.atoms[number]: key for number, key in subjects(fitting).items()}
    values = {key: pc.count_distinct(column).as_py() for key, column in fitting.sample.columns.items()}

    def decide(predicate: Expr) -> bool:
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


def asked_for(fitting: Fitting) -> list[int]:
    """The numbers of the workload's hidden atoms, those that most queries ask for first."""
    weights: dict[int, float] = defaultdict(float)
    for formula, weight in zip(fitting.workload.formulas, fitting.workload.weights.tolist(), strict=True):
        for atom in atoms_of(formula):
            weights[atom] += weight
    is_hidden, atoms = hidden(fitting), fitting.workload.atoms
    ordered = sorted(weights, key=lambda atom: (-weights[atom], atom))
    return [atom for atom in ordered if not is_opaque(atoms[atom]) and is_hidden(atoms[atom])]


def additional_features(fitting: Fitting) -> tuple[Feature, ...]:
    """The hidden atoms of the workload that most queries ask for."""
    found = (fitting.workload.atoms[atom] for atom in asked_for(fitting)[:_MOST])
    return tuple(Feature(atom, to_sql(atom)) for atom in found)

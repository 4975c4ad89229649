"""Which ordered columns the workload filters on most: what to sort, bucket and spread by.

A column's score is the weight of each query times the share of rows that its predicates on this column
alone rule out: the filter is evaluated with every atom about anything else taken as true, so ORs count
only when all their branches are about the column. Cost: queries * columns * a few thousand sampled rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from skipstone.layout.formulas import holds
from skipstone.layout.sample import Formula, Sample, WorkloadView
from skipstone.predicate.expr import Expr, type_of, walk
from skipstone.pruning.value_sets import only_about

__all__ = ["atoms_of", "most_filtered", "sort_keys", "subjects"]

_ROWS = 4_000


def subjects(sample: Sample, queries: WorkloadView, used: AbstractSet[int] | None = None) -> dict[int, Expr]:
    """Atoms that are about exactly one of the sample's columns or expressions, and which that is.

    ``month(d) = 3`` is about ``month(d)`` where the sample has it, and not about ``d``. With ``used`` only
    these atoms are looked at.
    """
    keys = sorted(
        (key for key in sample.columns if type_of(key).ordered),
        key=lambda key: -sum(1 for _ in walk(key)),
    )
    found = {}
    for number, atom in enumerate(queries.atoms):
        if used is not None and number not in used:
            continue
        key = next((key for key in keys if only_about(atom, key)), None)
        if key is not None:
            found[number] = key
    return found


def most_filtered(sample: Sample, queries: WorkloadView) -> tuple[tuple[Expr, float], ...]:
    """Columns with the weight of rows that they let the workload rule out, the most useful first."""
    bits = sample.bits
    some = bits[:: max(1, len(bits) // _ROWS)]
    about = subjects(sample, queries)
    scores: dict[Expr, float] = {}
    for formula, weight in zip(queries.formulas, queries.weights, strict=True):
        for key in {about[atom]: None for atom in sorted(atoms_of(formula)) if atom in about}:
            share = holds(_only(formula, key, about), some).mean() if len(some) else 1.0
            if share < 1.0:
                scores[key] = scores.get(key, 0.0) + float(weight * (1.0 - share))
    return tuple(sorted(scores.items(), key=lambda item: -item[1]))


def sort_keys(sample: Sample, queries: WorkloadView, most: int = 3) -> tuple[Expr, ...]:
    """What to sort the rows of a block by, so that row groups and pages can be skipped too."""
    return tuple(key for key, _ in most_filtered(sample, queries)[:most])


def atoms_of(formula: Formula) -> set[int]:
    """The numbers of the atoms in a formula."""
    if isinstance(formula, bool):
        return set()
    if isinstance(formula, int):
        return {formula}
    return {atom for part in formula[1] for atom in atoms_of(part)}


def _only(formula: Formula, key: Expr, about: Mapping[int, Expr]) -> Formula:
    """The formula with everything that is not about the key taken as true."""
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, int):
        return formula if about.get(formula) == key else True
    return formula[0], tuple(_only(part, key, about) for part in formula[1])

"""Feature selection: what to lay rows out by, and what only to keep statistics of.

Algorithm 1 of "Self-organising layouts for Delta" (thesis), section 4.3, as a list of steps: candidates by
the log alone (:mod:`candidates`), correlations on sampled rows (:mod:`correlation`), and the traversal that
sets one feature of each correlated group to work. At most four expressions become Z dimensions, since each
further one takes skipping power from the others; predicates become bits. What is correlated or left over is
*additional*: it gets statistics and no say in where rows go. A predicate beyond the most frequent
:data:`MOST_ADDITIONAL` of these gets none either.

A candidate that all rows agree on cannot distinguish them and is additional too, rather than being taken for
sorted. All sampled rows are asked, for a predicate that few of them satisfy skips most, and where even these
agree but are not the whole table, the reason says so. Correlations need no more than a few thousand rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from skipstone.predicate.expr import Expr
from skipstone.predicate.readable import readable
from skipstone.workload.candidates import (
    GAMMA,
    THETA,
    NotChosen,
    SopCandidate,
    ZCandidate,
    sop_candidates,
    z_candidates,
)
from skipstone.workload.correlation import EPSILON, PHI, Bits, Codes, contingencies, same_order, traverse
from skipstone.workload.predicates import QueryPredicates

__all__ = ["COMPARED_ROWS", "MOST_ADDITIONAL", "MOST_SOP", "MOST_Z", "Selection", "Thresholds", "select"]

MOST_Z = 4
MOST_SOP = 64
"""Each costs an evaluation per row, and further ones are rare; vectors could hold any number."""
MOST_ADDITIONAL = 64
"""Additional predicates that get a bit: each costs an evaluation per row when blocks are written."""
COMPARED_ROWS = 4_000
"""How many sampled rows are compared to find correlations."""
_MOST_COMPARED = 256
T = TypeVar("T", Bits, Codes)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """θ comparison points, γ queries (None: one in a hundred), ε of the sort index, φ of the contingency."""

    theta: int = THETA
    gamma: float | None = None
    epsilon: float = EPSILON
    phi: float = PHI


@dataclass(frozen=True, slots=True)
class Selection:
    """The features to lay rows out by; those with statistics only; and the others. Most frequent first.

    ``thresholds`` are those that were applied.
    """

    z: tuple[ZCandidate, ...]
    sop: tuple[SopCandidate, ...]
    additional: tuple[NotChosen, ...]
    dropped: tuple[NotChosen, ...]
    thresholds: Thresholds


def select(
    sets: QueryPredicates,
    values: Mapping[Expr, Codes],
    bits: Callable[[Expr], Bits | None],
    thresholds: Thresholds | None = None,
    table_rows: float = 0.0,
) -> Selection:
    """Choose features.

    ``values`` are the sampled rows' ranks of expressions that have an order, ``bits`` says which rows
    satisfy a predicate (None if unknown). ``table_rows`` is how many rows there are; if that is not more than
    were sampled, the sample is the table.
    """
    limits = thresholds or Thresholds()
    if limits.gamma is None:
        limits = replace(limits, gamma=GAMMA * float(sets.weights.sum()))
    candidates, few = z_candidates(sets, limits.theta)
    ordered = tuple(each for each in candidates if each.expr in values)
    z, z_more = _choose_z(ordered, values, limits, table_rows)
    predicates, rare = sop_candidates(sets, {each.expr for each in ordered}, limits.gamma)
    sop, sop_more, unknown = _choose_sop(predicates, bits, limits, table_rows)
    kept, beyond = _with_a_bit(sop_more)
    without_order = (
        NotChosen(each.expr, "z", each.frequency, "NO_ORDER", _NO_ORDER, each.points)
        for each in candidates
        if each.expr not in values
    )
    return Selection(
        z,
        sop,
        (*sorted(z_more, key=lambda each: -each.frequency), *kept),
        (*without_order, *few, *unknown, *beyond, *rare),
        limits,
    )


_NO_ORDER = "its values have no order that blocks could be cut by"
_UNKNOWN = "it cannot be evaluated on the sample"
_CERTAINTY = 3
"""If none of n drawn rows differs, then with 95 % certainty less than 3 in n of all rows do."""


def _constant(sampled: int, table_rows: float) -> tuple[str, str]:
    """The code and the sentence for what all sampled rows agree on."""
    if table_rows <= sampled:
        return "CONSTANT", f"all {sampled:,} rows agree on it, so it does not distinguish rows"
    return "CONSTANT_IN_SAMPLE", (
        f"all {sampled:,} sampled rows of {table_rows:,.0f} agree on it; if any row differs, then probably "
        f"less than one in {max(1, sampled // _CERTAINTY):,}"
    )


def _some(rows: T) -> T:
    """The rows that correlations are looked for in."""
    return rows[:: max(1, len(rows) // COMPARED_ROWS)]


def _with_a_bit(more: Sequence[NotChosen]) -> tuple[list[NotChosen], list[NotChosen]]:
    """The additional predicates that get a bit, the most frequent first; and those that do not."""
    ordered = sorted(more, key=lambda each: -each.frequency)
    sentence = (
        f"{MOST_ADDITIONAL} additional predicates are asked for more often, and each bit costs an evaluation "
        "per row; rows are not laid out by it because "
    )
    beyond = [
        replace(each, code="BEYOND_STATISTICS", sentence=sentence + each.sentence)
        for each in ordered[MOST_ADDITIONAL:]
    ]
    return ordered[:MOST_ADDITIONAL], beyond


def _choose_z(
    candidates: tuple[ZCandidate, ...], values: Mapping[Expr, Codes], limits: Thresholds, table_rows: float
) -> tuple[tuple[ZCandidate, ...], list[NotChosen]]:
    """P3 and P4."""
    varied = [each for each in candidates if len(np.unique(values[each.expr])) > 1]
    more = [
        NotChosen(each.expr, "z", each.frequency, *_constant(len(values[each.expr]), table_rows), each.points)
        for each in candidates
        if each not in varied
    ]
    varied, late = varied[:_MOST_COMPARED], varied[_MOST_COMPARED:]
    edges = same_order([_some(values[each.expr]) for each in varied], limits.epsilon)
    found = traverse(edges, [each.frequency for each in varied], MOST_Z)
    for index, owner in sorted(found.correlated.items()):
        each = varied[index]
        sentence = f"rows in the order of {readable(varied[owner].expr)} are in its order too"
        more.append(NotChosen(each.expr, "z", each.frequency, "CORRELATED", sentence, each.points))
    for each in (*(varied[index] for index in found.rest), *late):
        sentence = f"{MOST_Z} expressions are asked for more often, and more dimensions would weaken each"
        more.append(NotChosen(each.expr, "z", each.frequency, "BEYOND_DIMENSIONS", sentence, each.points))
    return tuple(varied[index] for index in found.primary), more


def _choose_sop(
    candidates: tuple[SopCandidate, ...],
    bits: Callable[[Expr], Bits | None],
    limits: Thresholds,
    table_rows: float,
) -> tuple[tuple[SopCandidate, ...], list[NotChosen], list[NotChosen]]:
    """P7 and P8."""
    rows = [(each, bits(each.predicate)) for each in candidates]
    known = [(each, row) for each, row in rows if row is not None]
    unknown = [
        NotChosen(each.predicate, "sop", each.frequency, "NOT_SAMPLED", _UNKNOWN)
        for each, row in rows
        if row is None
    ]
    varied = [(each, row) for each, row in known if row.any() and not row.all()]
    more = [
        NotChosen(each.predicate, "sop", each.frequency, *_constant(len(row), table_rows))
        for each, row in known
        if not row.any() or row.all()
    ]
    names = [each for each, _ in varied]
    table = np.stack([_some(row) for _, row in varied], axis=1) if varied else np.zeros((0, 0), np.bool_)
    edges = contingencies(table) > limits.phi
    np.fill_diagonal(edges, False)
    found = traverse(edges, [each.frequency for each in names], MOST_SOP)
    for index, owner in sorted(found.correlated.items()):
        sentence = f"in the sampled rows it hardly differs from {readable(names[owner].predicate)}"
        each = names[index]
        more.append(NotChosen(each.predicate, "sop", each.frequency, "CORRELATED", sentence))
    for index in found.rest:
        sentence = f"{MOST_SOP} predicates are asked for more often"
        each = names[index]
        more.append(NotChosen(each.predicate, "sop", each.frequency, "BEYOND_FEATURES", sentence))
    return tuple(names[index] for index in found.primary), more, unknown

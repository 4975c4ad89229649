"""Feature selection: what to lay rows out by, and what only to keep statistics of.

Algorithm 1 of "Self-organising layouts for Delta" (thesis), section 4.3, as a list of steps: candidates by
the log alone (:mod:`candidates`), correlations on sampled rows (:mod:`correlation`), and the traversal that
sets one feature of each correlated group to work. At most four expressions become Z dimensions, since each
further one takes skipping power from the others; predicates become bits. What is correlated or left over is
*additional*: it gets statistics and no say in where rows go.

A candidate that all sampled rows agree on cannot tell rows apart and is additional too, rather than being
taken for sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from skipstone.predicate.expr import Expr
from skipstone.predicate.render import to_sql
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

__all__ = ["COMPARED_ROWS", "MOST_SOP", "MOST_Z", "Selection", "Thresholds", "select"]

MOST_Z = 4
MOST_SOP = 64
"""As many as one word of a union vector holds."""
COMPARED_ROWS = 4_000
"""How many sampled rows are compared to find correlations."""
_MOST_COMPARED = 256


@dataclass(frozen=True, slots=True)
class Thresholds:
    """θ comparison points, γ queries (None: one in a hundred), ε of the sort index, φ of the contingency."""

    theta: int = THETA
    gamma: float | None = None
    epsilon: float = EPSILON
    phi: float = PHI


@dataclass(frozen=True, slots=True)
class Selection:
    """The features to lay rows out by, most frequent first; those with statistics only; and the others.

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
) -> Selection:
    """Choose features.

    ``values`` are the sampled rows' ranks of expressions that have an order, ``bits`` tells which rows
    satisfy a predicate (None if unknown).
    """
    limits = thresholds or Thresholds()
    if limits.gamma is None:
        limits = replace(limits, gamma=GAMMA * float(sets.weights.sum()))
    candidates, few = z_candidates(sets, limits.theta)
    ordered = tuple(each for each in candidates if each.expr in values)
    z, z_more = _choose_z(ordered, values, limits)
    predicates, rare = sop_candidates(sets, {each.expr for each in ordered}, limits.gamma)
    sop, sop_more, unknown = _choose_sop(predicates, bits, limits)
    without_order = (
        NotChosen(each.expr, "z", each.frequency, "NO_ORDER", _NO_ORDER, each.points)
        for each in candidates
        if each.expr not in values
    )
    return Selection(z, sop, (*z_more, *sop_more), (*without_order, *few, *unknown, *rare), limits)


_NO_ORDER = "its values have no order that blocks could be cut by"
_CONSTANT = "all sampled rows agree on it, so it cannot tell rows apart"
_UNKNOWN = "it cannot be evaluated on the sample"


def _choose_z(
    candidates: tuple[ZCandidate, ...], values: Mapping[Expr, Codes], limits: Thresholds
) -> tuple[tuple[ZCandidate, ...], list[NotChosen]]:
    """P3 and P4."""
    varied = [each for each in candidates if len(np.unique(values[each.expr])) > 1]
    more = [
        NotChosen(each.expr, "z", each.frequency, "CONSTANT", _CONSTANT, each.points)
        for each in candidates
        if each not in varied
    ]
    varied, late = varied[:_MOST_COMPARED], varied[_MOST_COMPARED:]
    edges = same_order([values[each.expr] for each in varied], limits.epsilon)
    found = traverse(edges, [each.frequency for each in varied], MOST_Z)
    for place, owner in sorted(found.correlated.items()):
        each = varied[place]
        sentence = f"rows in the order of {to_sql(varied[owner].expr)} are in its order too"
        more.append(NotChosen(each.expr, "z", each.frequency, "CORRELATED", sentence, each.points))
    for each in (*(varied[place] for place in found.rest), *late):
        sentence = f"{MOST_Z} expressions are asked for more often, and more dimensions would weaken each"
        more.append(NotChosen(each.expr, "z", each.frequency, "BEYOND_DIMENSIONS", sentence, each.points))
    return tuple(varied[place] for place in found.primary), more


def _choose_sop(
    candidates: tuple[SopCandidate, ...], bits: Callable[[Expr], Bits | None], limits: Thresholds
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
    constant = [each for each, row in known if not row.any() or row.all()]
    more = [NotChosen(each.predicate, "sop", each.frequency, "CONSTANT", _CONSTANT) for each in constant]
    names = [each for each, _ in varied]
    step = max(1, len(varied[0][1]) // COMPARED_ROWS) if varied else 1
    table = np.stack([row[::step] for _, row in varied], axis=1) if varied else np.zeros((0, 0), np.bool_)
    edges = contingencies(table) > limits.phi
    np.fill_diagonal(edges, False)
    found = traverse(edges, [each.frequency for each in names], MOST_SOP)
    for place, owner in sorted(found.correlated.items()):
        sentence = f"the sampled rows tell it hardly apart from {to_sql(names[owner].predicate)}"
        each = names[place]
        more.append(NotChosen(each.predicate, "sop", each.frequency, "CORRELATED", sentence))
    for place in found.rest:
        sentence = f"{MOST_SOP} predicates are asked for more often"
        each = names[place]
        more.append(NotChosen(each.predicate, "sop", each.frequency, "BEYOND_FEATURES", sentence))
    return tuple(names[place] for place in found.primary), more, unknown

"""Which expressions are worth a Z dimension and which predicates a bit, by the log alone.

Steps P1, P2, P5 and P6 of algorithm 1 of "Self-organising layouts for Delta" (thesis), section 4.3. A
predicate ``Expr1 op constant`` with ``op`` one of ``> >= < <= =``, a member of an IN list or a prefix of a
text, and Expr1 over exactly one column, makes Expr1 a *Z candidate*: minimum and maximum of Expr1 answer it,
whatever the constant. Expr1 may be any expression. Z candidates with fewer than θ distinct comparison points
are given up, and every predicate that no Z candidate serves is an *SOP candidate* if queries of weight γ have
it.

* θ is 3 by default: a constant range ``x BETWEEN 1 AND 5`` has two comparison points, and whatever is always
  compared with the same constants is served better by a bit than by one of four dimensions.
* γ is one in a hundred queries by default: a rarer predicate cannot save more than a hundredth of what is
  read, and each bit costs an evaluation per row.

The thesis counts filters; here a query counts once per candidate, or ``BETWEEN`` would count double.
Predicates that follow from an OR for a single column count for Z as well. Cost: linear in the log.

>>> from skipstone.predicate.expr import Column
>>> from skipstone.predicate.types import INT
>>> from skipstone.workload.predicates import LoggedFilter, query_predicates
>>> x, y = Column(("x",), INT), Column(("y",), INT)
>>> log = [Comparison("=", x, Literal(n, INT)) for n in range(4)] + [Comparison("=", y, Literal(1, INT))] * 4
>>> sets = query_predicates([LoggedFilter(each) for each in log])
>>> [(c.expr.path, c.frequency, c.points) for c in z_candidates(sets)[0]]
[(('x',), 4.0, 4)]
>>> [(c.predicate.left.path, c.frequency) for c in sop_candidates(sets, [x])[0]]
[(('y',), 4.0)]
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from skipstone.predicate.expr import Call, Column, Comparison, Expr, In, Like, Literal, Match, columns_of
from skipstone.predicate.patterns import NotPortable, segments
from skipstone.workload.dropped import REFUSED
from skipstone.workload.predicates import QueryPredicates

__all__ = [
    "GAMMA",
    "THETA",
    "NotChosen",
    "SopCandidate",
    "ZCandidate",
    "compared",
    "sop_candidates",
    "z_candidates",
]

THETA = 3
GAMMA = 0.01
"""Share of the queries' weight that a predicate needs."""

_OPERATORS = frozenset(("<", "<=", "=", "<=>", ">=", ">"))


@dataclass(frozen=True, slots=True)
class ZCandidate:
    """An expression that queries of weight ``frequency`` compare with ``points`` distinct constants."""

    expr: Expr
    frequency: float
    points: int


@dataclass(frozen=True, slots=True)
class SopCandidate:
    """A predicate that queries of weight ``frequency`` have."""

    predicate: Expr
    frequency: float


@dataclass(frozen=True, slots=True)
class NotChosen:
    """A candidate that rows are not laid out by, and why. ``kind`` is ``z`` or ``sop``."""

    expr: Expr
    kind: str
    frequency: float
    code: str
    sentence: str
    points: int = 0


def compared(predicate: Expr) -> tuple[Expr, tuple[object, ...]] | None:
    """The expression over one column that a predicate compares with constants, and the constants."""
    match predicate:
        case Comparison(op, subject, Literal() as point) if op in _OPERATORS:
            found: tuple[Expr, tuple[object, ...]] = subject, (point,)
        case In(subject, values):
            found = subject, tuple(value for value in values if value.value is not None)
        case Match("starts_with", subject, text) if text:
            found = subject, (text,)
        case Like(subject, pattern, escape) if prefix := _prefix(pattern, escape):
            found = subject, (prefix,)
        case _:
            return None
    simple = isinstance(found[0], Column | Call) and len(columns_of(found[0])) == 1
    return found if simple else None


def _prefix(pattern: str, escape: str) -> str:
    """The characters that a LIKE pattern begins with."""
    try:
        first = segments(pattern, escape)[0]
    except NotPortable:
        return ""
    known = first.index(None) if None in first else len(first)
    return "".join(char or "" for char in first[:known])


def z_candidates(
    sets: QueryPredicates, theta: int = THETA
) -> tuple[tuple[ZCandidate, ...], tuple[NotChosen, ...]]:
    """P1 and P2: expressions with enough comparison points, the most frequent first; and the others."""
    indices: dict[Expr, list[int]] = {}
    points: dict[Expr, set[object]] = {}
    for index, predicate in enumerate(sets.predicates):
        if (found := compared(predicate)) is not None:
            indices.setdefault(found[0], []).append(index)
            points.setdefault(found[0], set()).update(found[1])
    kept, dropped = [], []
    for expr, mine in indices.items():
        frequency, count = float(sets.weights[sets.own[:, mine].any(axis=1)].sum()), len(points[expr])
        if count >= theta:
            kept.append(ZCandidate(expr, frequency, count))
        else:
            sentence = (
                f"it is compared with {_constants(count)} only, and θ is {theta}; a bit serves it better"
            )
            dropped.append(NotChosen(expr, "z", frequency, "FEW_POINTS", sentence, count))
    return (
        tuple(sorted(kept, key=lambda each: -each.frequency)),
        tuple(sorted(dropped, key=lambda each: -each.frequency)),
    )


def _constants(count: int) -> str:
    return f"{count} constant{'' if count == 1 else 's'}"


def sop_candidates(
    sets: QueryPredicates, served: Collection[Expr], gamma: float | None = None
) -> tuple[tuple[SopCandidate, ...], tuple[NotChosen, ...]]:
    """P5 and P6: frequent predicates that compare none of the ``served`` expressions; and the rare ones.

    ``gamma`` is a weight of queries; by default the share :data:`GAMMA` of all.
    """
    least = GAMMA * float(sets.weights.sum()) if gamma is None else gamma
    frequency: dict[Expr, float] = {}
    for parts, weight in zip(sets.parts, sets.weights.tolist(), strict=True):
        for part in parts:
            frequency[part] = frequency.get(part, 0.0) + weight
    kept, dropped = [], []
    for predicate, weight in frequency.items():
        found = compared(predicate)
        if found is not None and found[0] in served:
            continue
        if weight >= least:
            kept.append(SopCandidate(predicate, weight))
        else:
            sentence = f"queries that ran {weight:g} times have it, fewer than γ = {least:g}"
            dropped.append(NotChosen(predicate, "sop", weight, "RARE", sentence))
    dropped += _refused(sets)
    return (
        tuple(sorted(kept, key=lambda each: -each.frequency)),
        tuple(sorted(dropped, key=lambda each: -each.frequency)),
    )


def _refused(sets: QueryPredicates) -> list[NotChosen]:
    return [
        NotChosen(each.predicate, "sop", each.weight, each.code, REFUSED[each.code]) for each in sets.refused
    ]

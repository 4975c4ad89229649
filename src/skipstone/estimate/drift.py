"""Drift: how far the recent queries are from those that a layout was fitted for.

Two things are measured, both between 0 and 1.

* ``distance`` compares what is asked: the total variation distance of the frequencies of predicate forms
  (predicates without their constants, since a filter on yesterday has another constant every day). Two
  samples of one workload are apart too, the more so the smaller they are; ``noise`` is how far to expect.
* ``unserved`` says what it matters to the layout: the share of queries none of whose predicates it serves.
  A predicate is served if it is about an expression that rows are ordered by, or implies a predicate that
  rows are placed by. ``unserved_before`` is the same for the workload of the layout.

The drift is the greater of the distance beyond noise and the increase of the unserved share. It only raises
the question whether old data should be laid out anew; cost and benefit answer it.

>>> from skipstone.predicate.expr import Column, Comparison, Literal
>>> from skipstone.predicate.types import INT
>>> x, y = (Column((name,), INT) for name in "xy")
>>> old = [(Comparison(">", x, Literal(n, INT)), 50.0) for n in (1, 2)]
>>> new = [(Comparison(">", x, Literal(9, INT)), 50.0), (Comparison("<", y, Literal(1, INT)), 50.0)]
>>> found = drift(old, new, (x,), ())
>>> found.distance, round(found.noise, 2), found.unserved, found.unserved_before, found.score
(0.5, 0.05, 0.5, 0.0, 0.5)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Opaque,
    Or,
    columns_of,
    walk,
)
from skipstone.predicate.implies import implies
from skipstone.predicate.normalize import conjuncts, normalize_filter

__all__ = ["Drift", "distance", "drift", "form_of", "forms_of"]

_RANGES = ("<", "<=", ">", ">=")
Weighted = Sequence[tuple[Expr, float]]


@dataclass(frozen=True, slots=True)
class Drift:
    """How far a workload has moved away; ``queries`` is the weight of the recent ones."""

    distance: float
    noise: float
    unserved: float
    unserved_before: float
    queries: float

    @property
    def score(self) -> float:
        """The drift, between 0 and 1."""
        return max(self.distance - self.noise, self.unserved - self.unserved_before, 0.0)

    def to_dict(self) -> dict[str, float]:
        """For JSON."""
        return {**asdict(self), "score": self.score}


def drift(fitted: Weighted, recent: Weighted, ordered: Sequence[Expr], predicates: Sequence[Expr]) -> Drift:
    """Compare the workload that a layout was fitted for with a recent one.

    ``ordered`` and ``predicates`` are what the layout places rows by.
    """
    before, now = _merged(fitted), _merged(recent)
    served = _Served(ordered, predicates)
    forms = (_forms(before), _forms(now)) if before and now else ({}, {})
    return Drift(
        distance=distance(*forms),
        noise=_noise(*forms, sum(before.values()), sum(now.values())),
        unserved=served.missing(now),
        unserved_before=served.missing(before),
        queries=sum(now.values()),
    )


def _merged(workload: Weighted) -> dict[Expr, float]:
    merged: dict[Expr, float] = {}
    for filter_, weight in workload:
        normal = normalize_filter(filter_)
        merged[normal] = merged.get(normal, 0.0) + weight
    return merged


def _forms(workload: Mapping[Expr, float]) -> dict[str, float]:
    """Shares of predicate forms; the weight of a query is shared by its predicates."""
    found: dict[str, float] = {}
    total = sum(workload.values())
    for filter_, weight in workload.items():
        forms = {form_of(part) for part in conjuncts(filter_) if not _is_null_test(part)} or {"(all rows)"}
        for form in forms:
            found[form] = found.get(form, 0.0) + weight / total / len(forms)
    return found


def forms_of(workload: Weighted) -> dict[str, float]:
    """What is asked: the shares of predicate forms, most frequent first."""
    found = _forms(_merged(workload))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def distance(before: Mapping[str, float], now: Mapping[str, float]) -> float:
    """The total variation distance of two distributions of forms."""
    forms = before.keys() | now.keys()
    return min(1.0, 0.5 * sum(abs(before.get(form, 0.0) - now.get(form, 0.0)) for form in sorted(forms)))


def _noise(
    before: Mapping[str, float], now: Mapping[str, float], queries_before: float, queries_now: float
) -> float:
    """The expected distance of two samples of so many queries from what both have in common.

    The difference of two shares is about normal; the mean of its absolute value is its deviation times
    the square root of 2 / pi.
    """
    queries = queries_before + queries_now
    found = 0.0
    for form in sorted(before.keys() | now.keys()):
        both = before.get(form, 0.0) * queries_before + now.get(form, 0.0) * queries_now
        share = both / queries
        found += math.sqrt(max(share * (1 - share), 0.0) * (1 / queries_before + 1 / queries_now))
    return 0.5 * math.sqrt(2 / math.pi) * found


def _is_null_test(predicate: Expr) -> bool:
    return isinstance(predicate, Not) and isinstance(predicate.arg, IsNull)


def form_of(expr: Expr) -> str:
    """A predicate without its constants; both directions of a comparison are one form.

    >>> from skipstone.predicate.types import INT
    >>> form_of(Comparison(">=", Column(("x",), INT), Literal(3, INT)))
    '(x range ?)'
    """
    match expr:
        case Column(path):
            return ".".join(path)
        case Literal():
            return "?"
        case Call(name, args):
            return f"{name}({', '.join(form_of(arg) for arg in args)})"
        case Comparison(op, left, right):
            return f"({form_of(left)} {'range' if op in _RANGES else 'equals'} {form_of(right)})"
        case In(arg):
            return f"({form_of(arg)} equals ?)"
        case IsNull(arg):
            return f"({form_of(arg)} is null)"
        case Like(arg):
            return f"({form_of(arg)} like ?)"
        case Match(kind, arg):
            return f"({form_of(arg)} {kind} ?)"
        case Not(arg):
            return f"not {form_of(arg)}"
        case And(args) | Or(args):
            word = "and" if isinstance(expr, And) else "or"
            return f"{word}({', '.join(sorted({form_of(arg) for arg in args}))})"
        case Opaque(_, code, columns):
            return f"{code}({', '.join(sorted(form_of(column) for column in columns))})"


class _Served:
    """What a layout serves: ordered expressions, and predicates that rows are placed by."""

    def __init__(self, ordered: Sequence[Expr], predicates: Sequence[Expr]) -> None:
        # A cut such as x < 7 orders the blocks by x as far as it goes.
        ranges = [cut.left for cut in predicates if isinstance(cut, Comparison) and cut.op in _RANGES]
        self._ordered = {expr for expr in (*ordered, *ranges) if columns_of(expr)}
        self._predicates = tuple(predicates)

    def missing(self, workload: Mapping[Expr, float]) -> float:
        """The share of the queries that nothing serves."""
        total = sum(workload.values())
        lost = sum(weight for filter_, weight in workload.items() if not self._serves(filter_))
        return lost / total if total else 0.0

    def _serves(self, filter_: Expr) -> bool:
        parts = [part for part in conjuncts(filter_) if not _is_null_test(part)]
        if any(not self._ordered.isdisjoint(walk(part)) for part in parts):
            return True
        return any(implies(part, predicate) for part in (*parts, filter_) for predicate in self._predicates)

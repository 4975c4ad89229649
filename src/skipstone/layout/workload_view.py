"""The filters of a workload as formulas over shared atoms: what layouts are fitted on.

A filter keeps its full AND and OR structure. Its leaves are atoms, each of which is evaluated once for all
queries. A part that is not understood may always hold, so it is ``True`` in the formula; what remains can
only be more general than the filter. Equal filters become one query with the sum of their weights.

>>> from skipstone.predicate.expr import Column, Comparison
>>> from skipstone.predicate.types import INT
>>> x, y = (Comparison("=", Column((name,), INT), Literal(1, INT)) for name in "xy")
>>> view = workload_view([x, Or((x, y)), And((y, x)), x])
>>> view.formulas, view.weights.tolist()
((0, ('or', (0, 1)), ('and', (0, 1))), [2.0, 1.0, 1.0])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from skipstone.layout.sample import Formula, WorkloadView
from skipstone.predicate.expr import And, Expr, Literal, Or, is_opaque
from skipstone.predicate.normalize import normalize_filter

__all__ = ["workload_view"]


def workload_view(
    filters: Sequence[Expr], weights: Sequence[float] | npt.NDArray[np.float64] | None = None
) -> WorkloadView:
    """The view of these filters; ``weights`` are how often each query ran, once by default."""
    counts = [1.0] * len(filters) if weights is None else [float(weight) for weight in weights]
    merged: dict[Expr, float] = {}
    for filter_, weight in zip(filters, counts, strict=True):
        normal = normalize_filter(filter_)
        merged[normal] = merged.get(normal, 0.0) + weight
    atoms: dict[Expr, int] = {}
    formulas = tuple(_formula(normal, atoms) for normal in merged)
    return WorkloadView(tuple(atoms), formulas, tuple(merged), np.array(list(merged.values()), np.float64))


def _formula(normal: Expr, atoms: dict[Expr, int]) -> Formula:
    match normal:
        case And(args):
            return _junction("and", [_formula(arg, atoms) for arg in args])
        case Or(args):
            return _junction("or", [_formula(arg, atoms) for arg in args])
        case Literal(value):
            return value is True
        case _ if is_opaque(normal):
            return True
        case _:
            return atoms.setdefault(normal, len(atoms))


def _junction(kind: str, parts: list[Formula]) -> Formula:
    """True decides an OR and says nothing in an AND; False the other way round."""
    decisive = kind == "or"
    # An atom's number may equal 0 or 1, which Python takes for False and True.
    if any(part is decisive for part in parts):
        return decisive
    left = tuple(part for part in parts if not isinstance(part, bool))
    if not left:
        return not decisive
    return left[0] if len(left) == 1 else (kind, left)

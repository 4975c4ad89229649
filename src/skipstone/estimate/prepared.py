"""What fitting and judging layouts needs of a table and its workload, drawn once for all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.catalog.snapshot import Snapshot
from skipstone.catalog.tracked import Tracked
from skipstone.layout.additional import additional_features
from skipstone.layout.contract import Fitted
from skipstone.layout.sample import Drawn, Fitting, WorkloadView
from skipstone.layout.view import workload_view
from skipstone.predicate.codec import canonical_text
from skipstone.predicate.expr import Column, Expr
from skipstone.pruning.blocks import Counts, Feature
from skipstone.workload.analysis import Analysis
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import BrokenQuery

__all__ = ["Asked", "Prepared", "default_block_bytes", "fingerprint_of", "view_of"]

_MIB = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The queries that layouts are judged by; ``bits`` are those of the view's atoms."""

    entries: tuple[LoggedFilter, ...]
    view: WorkloadView
    bits: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A snapshot, its workload, the mined features and a sample of the files at ``places``.

    Layouts are fitted for ``entries`` and judged by ``asked``. ``logged`` are the entries with their filters
    as they were logged, where predicates that cannot be used were left out of them.
    """

    snapshot: Snapshot
    places: Counts
    entries: tuple[LoggedFilter, ...]
    unusable: tuple[BrokenQuery, ...]
    analysis: Analysis
    fitting: Fitting
    drawn: Drawn
    total_rows: int
    partition: Tracked | None
    fingerprint: str
    asked: Asked
    logged: tuple[LoggedFilter, ...] = ()

    @property
    def bytes(self) -> int:
        """The stored bytes of the files that were prepared."""
        return self.snapshot.bytes_of(self.places)

    @property
    def logged_workload(self) -> tuple[tuple[Expr, float], ...]:
        """The distinct filters as they were logged, each with its weight."""
        view = view_of(self.logged) if self.logged else self.fitting.workload
        return tuple(zip(view.filters, view.weights.tolist(), strict=True))

    def features_of(self, fitted: Fitted) -> tuple[Feature, ...]:
        """The features whose bits blocks of this layout get: the mined ones, its own, and additional ones."""
        fitting = self.fitting
        every = (*fitting.features, *fitted.features, *additional_features(fitting))
        return tuple({feature.predicate: feature for feature in reversed(every)}.values())[::-1]

    def expressions_of(self, fitted: Fitted) -> tuple[Expr, ...]:
        """The expressions that get statistics: the layout's own, and all that the workload compares."""
        every = dict.fromkeys((*fitted.expressions, *self.fitting.sample.columns))
        return tuple(expr for expr in every if not isinstance(expr, Column))


def view_of(entries: Sequence[LoggedFilter]) -> WorkloadView:
    """The entries' filters as formulas over shared atoms."""
    return workload_view([entry.filter for entry in entries], [entry.weight for entry in entries])


def fingerprint_of(view: WorkloadView) -> str:
    """A text that tells one workload from another."""
    lines = sorted(f"{canonical_text(f)} {w}" for f, w in zip(view.filters, view.weights, strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def default_block_bytes(size: int) -> int:
    """Blocks of 1 to 64 MiB, such that there are about 64 of them in a small table."""
    return min(64 * _MIB, max(_MIB, size // 64))

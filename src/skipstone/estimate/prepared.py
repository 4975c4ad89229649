"""What fitting and judging layouts needs of a table and its workload, drawn once for all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from skipstone.catalog.snapshot import Snapshot
from skipstone.catalog.tracked import Tracked
from skipstone.layout.additional import additional_features
from skipstone.layout.contract import Design, Needs
from skipstone.layout.layouts import fit_layout, needs_of, options_for
from skipstone.layout.sample import Drawn, WorkloadView
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.layout.workload_view import workload_view
from skipstone.predicate.codec import canonical_text
from skipstone.predicate.expr import Column, Expr
from skipstone.predicate.joined_column import about_known_column, columns_asked
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import Counts, Feature
from skipstone.workload.analysis import Analysis
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import BrokenQuery

__all__ = ["Asked", "Prepared", "default_block_bytes", "default_block_rows", "fingerprint_of", "view_of"]

_MIB = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The queries that layouts are judged by; ``bits`` are those of the view's atoms."""

    entries: tuple[LoggedFilter, ...]
    view: WorkloadView
    bits: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A snapshot, its workload, the mined features and a sample of the files at ``file_indices``.

    Layouts are fitted for ``entries`` and judged by ``asked``; there may be none. ``layouts`` are those that
    can be fitted. ``logged`` are the entries with their filters
    as they were logged, where predicates that cannot be used were left out of them. ``options`` are those
    that only some layouts have.
    """

    snapshot: Snapshot
    file_indices: Counts
    entries: tuple[LoggedFilter, ...]
    unusable: tuple[BrokenQuery, ...]
    analysis: Analysis
    view: TableView
    workload: FitWorkload
    drawn: Drawn
    total_rows: int
    partition: Tracked | None
    layouts: tuple[str, ...]
    fingerprint: str
    asked: Asked
    logged: tuple[LoggedFilter, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """The stored bytes of the files that were prepared."""
        return self.snapshot.bytes_of(self.file_indices)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The stored names of the table's columns."""
        return tuple(path[0] for path in self.snapshot.names.display if len(path) == 1)

    @property
    def logged_workload(self) -> tuple[tuple[Expr, float], ...]:
        """The distinct filters as they were logged, each with its weight."""
        view = view_of(self.logged) if self.logged else self.workload.queries
        return tuple(zip(view.filters, view.weights.tolist(), strict=True))

    def needs(self, layout: str) -> Needs:
        """What the layout of this name needs."""
        return needs_of(layout, self.options)

    def fit(self, layout: str) -> Design:
        """The layout of this name, with those of the options that it has."""
        workload = self.workload if self.workload.queries.filters else None
        return fit_layout(layout, self.view, workload, options_for(layout, self.options))

    def features_of(self, design: Design) -> tuple[Feature, ...]:
        """The features whose bits blocks of this design get: the mined ones, its own, and additional ones."""
        additional = additional_features(self.view.sample, self.workload.queries)
        every = (*self.workload.features, *design.group.features, *additional)
        return tuple({feature.predicate: feature for feature in reversed(every)}.values())[::-1]

    def judging_features(self, design: Design) -> tuple[Feature, ...]:
        """The same, and all else that blocks will be judged by: what value sets of joined columns decide."""
        atoms = self.workload.queries.atoms
        known = columns_asked(atoms)
        more = (Feature(atom, to_sql(atom)) for atom in atoms if about_known_column(atom, known))
        every = (*self.features_of(design), *more)
        return tuple({feature.predicate: feature for feature in reversed(every)}.values())[::-1]

    def expressions_of(self, design: Design) -> tuple[Expr, ...]:
        """The expressions that get statistics: the design's own, and all that the workload compares."""
        every = dict.fromkeys((*design.group.expressions, *self.view.sample.columns))
        return tuple(expr for expr in every if not isinstance(expr, Column))


def view_of(entries: Sequence[LoggedFilter]) -> WorkloadView:
    """The entries' filters as formulas over shared atoms."""
    return workload_view([entry.filter for entry in entries], [entry.weight for entry in entries])


def fingerprint_of(view: WorkloadView) -> str:
    """A fingerprint of the workload."""
    lines = sorted(f"{canonical_text(f)} {w}" for f, w in zip(view.filters, view.weights, strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def default_block_bytes(size: int) -> int:
    """Blocks of 1 to 64 MiB, such that there are about 64 of them in a small table."""
    return min(64 * _MIB, max(_MIB, size // 64))


def default_block_rows(size: int, rows: int) -> int:
    """How many rows a block has by default, in a table of so many bytes and rows."""
    return max(1, int(rows * default_block_bytes(size) / max(size, 1)))

"""What logged queries read of a table and its replicas, by statistics alone: no row is looked at.

Each query reads the copies that :mod:`~skipstone.catalog.choose_copies` would choose for it now. So it can be
told what the queries would read without some replica, and, for base files that a replica does not hold any
more or not yet, what they would read if it did: there as large a share of the rows as of those that it has.
Cost: two decisions a query, and a choice for each set of replicas that is asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skipstone.catalog.choose_copies import Choice, CopyState, Skips, choose_copies
from skipstone.catalog.decide import decide
from skipstone.catalog.replicas import Flags, Replicas
from skipstone.catalog.snapshot import Snapshot
from skipstone.estimate.benefit import Scanned
from skipstone.estimate.cost import Extent
from skipstone.estimate.cost_inputs import CostInputs
from skipstone.predicate.expr import Expr
from skipstone.pruning.blocks import Counts
from skipstone.workload.predicates import LoggedFilter

__all__ = ["CopyCosts", "Worth"]

Floats = npt.NDArray[np.float64]
_LEAST_SHARE = 1e-3


@dataclass(frozen=True, slots=True)
class Worth:
    """What a replica saves in one run of the log, and what it would save more once it is refreshed."""

    seconds_saved: float
    refresh_seconds_saved: float


@dataclass(frozen=True, slots=True, eq=False)
class _Reads:
    """What one query may skip, of the files of the table and of those of the replicas."""

    base: Flags
    own: Flags
    skips: Skips


class CopyCosts:
    """The files of a table and of its replicas, with their rows; ``valid`` are the partitions to be read."""

    def __init__(self, snapshot: Snapshot, replicas: Replicas, valid: Flags, inputs: CostInputs) -> None:
        self._snapshot, self._replicas, self._valid, self._inputs = snapshot, replicas, valid, inputs
        self._entries = snapshot.files.indices_in(inputs.catalog.files)
        self._base_entry = replicas.covered.indices_in(inputs.catalog.files)
        self._file_of = replicas.covered.indices_in(snapshot.files, same_rows=True)
        self._rows = self._rows_of(snapshot.files.sizes, self._entries)
        self._own_rows = np.maximum(replicas.catalog.blocks.rows, 0).astype(np.float64)

    def _rows_of(self, sizes: Counts, entries: Counts) -> Floats:
        """The rows of files, by their size where the catalog does not know them."""
        per_row = self._inputs.sizes.of().bytes
        guessed = sizes / per_row if per_row else np.zeros(len(sizes))
        known = np.append(self._inputs.catalog.blocks.rows, -1)[entries]
        return np.where(known >= 0, known, guessed).astype(np.float64)

    def worth(self, entries: Sequence[LoggedFilter], replica: str) -> Worth:
        """What the entries save by a replica, and would save by refreshing it."""
        mine = np.array([part.replica == replica for part in self._replicas.parts], np.bool_)
        held = np.zeros(len(self._rows) + 1, np.bool_)
        held[self._file_of[(mine & self._valid)[self._replicas.covered_by]]] = True
        missing = ~held[:-1]
        saved = more = 0.0
        for entry in entries:
            reads = self._reads(entry.filter)
            present = self._choice(reads, self._valid)
            now = self._seconds(entry, *self._read(reads, present))
            without = self._choice(reads, self._valid & ~mine)
            saved += entry.weight * (self._seconds(entry, *self._read(reads, without)) - now)
            more += entry.weight * self._saved_by_refresh(entry, reads, present, (mine, missing))
        return Worth(max(saved, 0.0), more)

    def badly_served(self, entries: Sequence[LoggedFilter]) -> tuple[LoggedFilter, ...]:
        """The entries, each with as much of its weight as the share of the rows that it reads now.

        A copy that is made for these is good at what the others are not.
        """
        total = max(float(self._rows.sum()), 1.0)
        found = []
        for entry in entries:
            reads = self._reads(entry.filter)
            rows, _ = self._read(reads, self._choice(reads, self._valid))
            found.append(replace(entry, weight=entry.weight * max(rows / total, _LEAST_SHARE)))
        return tuple(found)

    def scanned(self, filters: Sequence[Expr], base: Scanned) -> Scanned:
        """What queries read of all copies; ``base`` is what they would read of the table alone."""
        total = max(float(self._rows.sum()), 1.0)
        share, blocks = base.share.copy(), base.blocks.copy()
        for number, filter_ in enumerate(filters):
            reads = self._reads(filter_)
            rows, files = self._read(reads, self._choice(reads, self._valid))
            alone_rows, alone_files = self._read(reads, self._choice(reads, self._valid & False))
            share[number] = np.clip(share[number] + (rows - alone_rows) / total, 0.0, 1.0)
            blocks[number] = max(blocks[number] + files - alone_files, 0.0)
        return Scanned(share, blocks)

    def _reads(self, filter_: Expr) -> _Reads:
        inputs, replicas = self._inputs, self._replicas
        base = decide(filter_, inputs.catalog, inputs.settings).skip
        own = decide(filter_, replicas.catalog, inputs.settings).skip
        return _Reads(~np.append(base, False)[self._entries], ~own, Skips(base, self._base_entry, own))

    def _choice(self, reads: _Reads, valid: Flags) -> Choice:
        state = CopyState(valid=tuple(np.flatnonzero(valid).tolist()))
        return choose_copies(self._replicas, state, self._snapshot.schema, self._inputs.settings, reads.skips)

    def _read(self, reads: _Reads, choice: Choice) -> tuple[float, float]:
        """Rows and files that are read of the chosen copies."""
        base = reads.base & ~self._replaced(choice)
        own = reads.own & choice.chosen[self._replicas.part_of]
        return float(self._rows[base].sum() + self._own_rows[own].sum()), float(base.sum() + own.sum())

    def _replaced(self, choice: Choice) -> Flags:
        """The files of the table that replicas are read in place of."""
        found = np.zeros(len(self._rows) + 1, np.bool_)
        found[self._file_of[choice.chosen[self._replicas.covered_by]]] = True
        return found[:-1]

    def _saved_by_refresh(
        self, entry: LoggedFilter, reads: _Reads, present: Choice, which: tuple[Flags, Flags]
    ) -> float:
        """Seconds less for the files that the replica lacks, which no other replica is read for."""
        mine, missing = which
        here = mine[self._replicas.part_of]
        rows = float(self._own_rows[here].sum())
        if not rows:
            return 0.0
        base = reads.base & missing & ~self._replaced(present)
        now = self._seconds(entry, float(self._rows[base].sum()), float(base.sum()))
        lacking = float(self._rows[missing & ~self._replaced(present)].sum())
        share = float(self._own_rows[here & reads.own].sum()) / rows
        files = float((here & reads.own).sum()) * lacking / rows
        return max(0.0, now - self._seconds(entry, share * lacking, files))

    def _seconds(self, entry: LoggedFilter, rows: float, files: float) -> float:
        extent = Extent.of(rows, self._inputs.sizes.of(entry.columns))
        return self._inputs.model.coefficients.read_seconds(extent, files)

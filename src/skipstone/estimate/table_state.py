"""A table as the optimiser sees it: its files, the recent scans, what is unclustered and what drifted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

import numpy as np

from skipstone.catalog import Catalog
from skipstone.catalog.layout_records import LayoutRecord
from skipstone.catalog.snapshot import Snapshot
from skipstone.estimate.drift import forms_of
from skipstone.estimate.drifted_files import LayoutDrift, drift_of_table
from skipstone.estimate.policy import Policy
from skipstone.estimate.prepared import default_block_bytes
from skipstone.estimate.unclustered import unclustered_files
from skipstone.json_types import JsonObject
from skipstone.pruning.blocks import Counts
from skipstone.workload.logged_scans import LoggedScan

__all__ = ["KnownLayouts", "TableFigures", "TableState", "table_state"]

_MOST_FORMS = 64
"""Kinds of predicates that a decision remembers of the queries that it was made for."""


@dataclass(frozen=True, slots=True, eq=False)
class KnownLayouts:
    """The layouts of a table with their drift, and the newest one.

    ``newest_id`` is empty if the table has no layout. ``newest`` is None if it is not stored: its rewrite was
    killed right after the commit.
    """

    drifts: tuple[LayoutDrift, ...] = ()
    newest_id: str = ""
    newest: LayoutRecord | None = None


@dataclass(frozen=True, slots=True)
class TableFigures:
    """What every decision is stored with.

    ``asked`` are the shares of the most frequent kinds of predicates, ``drift`` is None without a layout.
    """

    table_version: int
    table_files: int
    table_bytes: int
    logged_scans: int
    unclustered_files: int
    unclustered_bytes: int
    awaited_bytes: int
    drift: float | None
    drift_threshold: float
    asked: Mapping[str, float]
    layouts: tuple[JsonObject, ...]

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "layouts": [dict(layout) for layout in self.layouts]}


@dataclass(frozen=True, slots=True, eq=False)
class TableState:
    """What one round of the optimiser decides by; ``unclustered`` are the files that no layout covers."""

    snapshot: Snapshot
    catalog: Catalog
    scans: tuple[LoggedScan, ...]
    policy: Policy
    layouts: KnownLayouts
    unclustered: Counts
    figures: TableFigures

    @property
    def enough_new_data(self) -> bool:
        """Whether so much lies outside any layout that it is worth an estimate."""
        return bool(len(self.unclustered)) and self.figures.unclustered_bytes >= self.figures.awaited_bytes

    @property
    def old_data_drifted(self) -> bool:
        """Whether the queries have drifted away from a layout."""
        return any(layout.drifted(self.policy) for layout in self.layouts.drifts)

    @property
    def proven(self) -> LayoutRecord | None:
        """The newest layout, if there are recent queries and they have not drifted away from it."""
        found = self._newest_drift()
        return None if found is None or not self.scans or found.drifted(self.policy) else found.record

    @property
    def layout_options(self) -> Mapping[str, str]:
        """Options of single layouts: as the policy has them, or as in the newest layout."""
        found = self._newest_drift()
        before = {} if found is None else found.record.options
        return {**before, **self.policy.layout_options}

    @property
    def block_rows(self) -> int | None:
        """Rows in a block: the policy's, or as many as suit the whole table; None if that is not known."""
        if self.policy.block_rows is not None:
            return self.policy.block_rows
        known = self.catalog.blocks.rows > 0
        if not known.any():
            return None
        row_bytes = self.catalog.files.sizes[known].sum() / self.catalog.blocks.rows[known].sum()
        return max(1, int(default_block_bytes(self.snapshot.files.bytes) / row_bytes))

    def _newest_drift(self) -> LayoutDrift | None:
        known = self.layouts
        return next((each for each in known.drifts if each.record.id == known.newest_id), None)


def table_state(
    snapshot: Snapshot,
    catalog: Catalog,
    scans: Sequence[LoggedScan],
    policy: Policy,
    layouts: KnownLayouts,
) -> TableState:
    """Put together what was read; ``scans`` are those of the policy's window."""
    files = snapshot.files
    if layouts.newest_id:
        block_rows = 0 if layouts.newest is None else layouts.newest.block_rows
        unclustered = unclustered_files(files, catalog, block_rows)
    else:
        unclustered = np.arange(len(files))
    forms = forms_of([(scan.filter, float(scan.count)) for scan in scans])
    figures = TableFigures(
        table_version=snapshot.version,
        table_files=len(files),
        table_bytes=files.bytes,
        logged_scans=sum(scan.count for scan in scans),
        unclustered_files=len(unclustered),
        unclustered_bytes=snapshot.bytes_of(unclustered),
        awaited_bytes=_awaited_bytes(snapshot, catalog, policy),
        drift=drift_of_table(layouts.drifts, files),
        drift_threshold=policy.drift,
        asked=dict(islice(forms.items(), _MOST_FORMS)),
        layouts=tuple(layout.to_dict() for layout in layouts.drifts),
    )
    return TableState(snapshot, catalog, tuple(scans), policy, layouts, unclustered, figures)


def _awaited_bytes(snapshot: Snapshot, catalog: Catalog, policy: Policy) -> int:
    """How many unclustered bytes are awaited before anything is estimated."""
    if policy.block_rows is None:
        return int(policy.new_blocks * default_block_bytes(snapshot.files.bytes))
    known = catalog.blocks.rows > 0
    rows, size = int(catalog.blocks.rows[known].sum()), int(catalog.files.sizes[known].sum())
    # Without a catalog the size of a row is not known before it is read; the blocks are counted then.
    return int(policy.new_blocks * policy.block_rows * size / rows) if rows else 0

"""A table as the optimiser sees it: its files, the recent scans, what is unclustered and what drifted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import numpy as np

from skipstone.actions.prepare import default_block_bytes
from skipstone.catalog.layouts import LayoutRecord, load_layout
from skipstone.errors import SkipstoneError
from skipstone.estimate.drift import forms_of
from skipstone.estimate.drifted_files import LayoutDrift, drift_of_layouts, drift_of_table
from skipstone.estimate.policy import Policy
from skipstone.estimate.unclustered import newest_layout, unclustered_files
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.open_table import TableFiles
from skipstone.workload.logged_scans import LoggedScan

__all__ = ["Situation"]

_MOST_FORMS = 64
"""Kinds of predicates that a decision remembers of the queries that it was made for."""


class Situation:
    """What one round of the optimiser decides by."""

    def __init__(
        self, runtime: Runtime, files: TableFiles, scans: Sequence[LoggedScan], policy: Policy, now: datetime
    ) -> None:
        """Look; no job is run."""
        if files.format != "delta":
            raise SkipstoneError(
                f"{files.root} is a directory of Parquet files, which cannot be replaced in one step; make "
                "it a Delta table first (skipstone optimize --convert)."
            )
        self.files = files
        self.runtime = runtime
        self.policy = policy
        since = now - timedelta(days=policy.window_days)
        self.scans = [scan for scan in scans if scan.time >= since]
        catalog = runtime.catalog(files.root)
        newest, store = newest_layout(files.files, catalog), runtime.store(files.root)
        self._newest = newest
        record = load_layout(store, newest, files.root) if newest else None
        rows = 0 if record is None else record.block_rows
        self.unclustered: Counts = (
            unclustered_files(files.files, catalog, rows) if newest else np.arange(len(files.files))
        )
        self.layouts: tuple[LayoutDrift, ...] = drift_of_layouts(runtime, files, self.scans, policy, now)

    @property
    def unclustered_bytes(self) -> int:
        """Stored bytes that no layout covers."""
        return int(self.files.files.sizes[self.unclustered].sum())

    @property
    def block_bytes(self) -> int:
        """How large a block of new data is meant to be."""
        return default_block_bytes(int(self.files.files.sizes.sum()))

    @property
    def awaited_bytes(self) -> int:
        """How many unclustered bytes are awaited before anything is estimated."""
        if self.policy.block_rows is None:
            return int(self.policy.new_blocks * self.block_bytes)
        catalog = self.runtime.catalog(self.files.root)
        rows = int(catalog.blocks.rows[catalog.blocks.rows > 0].sum())
        known = int(catalog.files.sizes[catalog.blocks.rows > 0].sum())
        # Without a catalog the size of a row is not known before it is read; the blocks are counted then.
        return int(self.policy.new_blocks * self.policy.block_rows * known / rows) if rows else 0

    @property
    def drift(self) -> float | None:
        """The table's drift; None if it has no layout."""
        return drift_of_table(self.layouts, self.files)

    @property
    def asked(self) -> dict[str, float]:
        """What the recent queries are about: the shares of the most frequent kinds of predicates."""
        forms = forms_of([(scan.filter, float(scan.count)) for scan in self.scans])
        return dict(islice(forms.items(), _MOST_FORMS))

    @property
    def proven(self) -> LayoutRecord | None:
        """The newest layout, if there are recent queries and they have not drifted away from it."""
        mine = (layout for layout in self.layouts if layout.record.id == self._newest and self.scans)
        return next((each.record for each in mine if not each.drifted(self.policy)), None)

    @property
    def curve(self) -> str | None:
        """The curve to cut blocks along: as asked for, or as in the newest layout."""
        mine = (layout.record for layout in self.layouts if layout.record.id == self._newest)
        return self.policy.curve or next((record.curve for record in mine), None)

    def numbers(self) -> dict[str, Any]:
        """What every decision is written down with."""
        return {
            "table_version": int(self.files.handle.version()),
            "table_files": len(self.files.files),
            "table_bytes": int(self.files.files.sizes.sum()),
            "logged_scans": sum(scan.count for scan in self.scans),
            "unclustered_files": len(self.unclustered),
            "unclustered_bytes": self.unclustered_bytes,
            "awaited_bytes": self.awaited_bytes,
            "drift": self.drift,
            "drift_threshold": self.policy.drift,
            "asked": self.asked,
            "layouts": [
                {"id": layout.record.id, "strategy": layout.record.strategy, **layout.drift.to_dict()}
                for layout in self.layouts
            ],
        }

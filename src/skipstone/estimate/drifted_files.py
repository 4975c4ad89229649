"""Old data: which files lie by a layout that the workload has drifted away from, and which of them first.

The thesis leaves re-clustering open (section 7.2). Here it is done in steps of bounded size: of the files
whose layouts have drifted, those that the recent queries read most bytes of per stored byte are laid out
anew first. They then belong to a layout of today and are no longer candidates, so that step after step the
part of the table that matters follows the workload, and the part that nobody reads is never touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from skipstone.catalog.files import Files
from skipstone.catalog.layout_records import LayoutRecord
from skipstone.estimate.cost_inputs import CostInputs, known_files, read_now
from skipstone.estimate.drift import Drift, drift
from skipstone.estimate.policy import Policy
from skipstone.estimate.rewrite_features import placed_by
from skipstone.layout.hyper import HYPER
from skipstone.layout.stored_layout import StoredLayout
from skipstone.pruning.blocks import Counts
from skipstone.workload.logged_scans import LoggedScan
from skipstone.workload.predicates import LoggedFilter

__all__ = ["MOST_LAYOUTS", "LayoutDrift", "drift_of_layout", "drift_of_table", "drifted_files"]

MOST_LAYOUTS = 16
"""Layouts whose drift is measured; of more, those with the most bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class LayoutDrift:
    """A layout, the indices of the files that lie by it, and how far the queries have moved since."""

    record: LayoutRecord
    file_indices: Counts
    drift: Drift

    @property
    def unfitted(self) -> bool:
        """Whether it is a tree that was made for no queries, so that any are news to it."""
        return self.record.strategy == HYPER.name and not self.record.adapted_from

    def drifted(self, policy: Policy) -> bool:
        """Whether that is far, by enough queries to be sure."""
        far = self.unfitted or self.drift.score >= policy.drift
        return far and self.drift.queries >= policy.drift_queries

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"id": self.record.id, "strategy": self.record.strategy, **self.drift.to_dict()}


def drift_of_layout(
    stored: StoredLayout, indices: Counts, scans: Sequence[LoggedScan], since: datetime
) -> LayoutDrift:
    """The drift of a layout by the scans after ``since`` and after it was made."""
    begin = max(datetime.fromisoformat(stored.record.created), since)
    recent = [(scan.filter, float(scan.count)) for scan in scans if scan.time > begin]
    fitted = [(entry.filter, entry.weight) for entry in stored.workload]
    found = drift(fitted, recent, *placed_by(stored.design.group.assignment))
    return LayoutDrift(stored.record, indices, found)


def drift_of_table(layouts: Sequence[LayoutDrift], files: Files) -> float | None:
    """The drift of a table: that of its layouts, weighted by their bytes; None if it has none."""
    sizes = np.array([files.sizes[layout.file_indices].sum() for layout in layouts], np.float64)
    if not sizes.sum():
        return None
    return float(np.average([layout.drift.score for layout in layouts], weights=sizes))


def drifted_files(
    files: Files,
    layouts: Sequence[LayoutDrift],
    entries: Sequence[LoggedFilter],
    inputs: CostInputs,
    policy: Policy,
) -> Counts:
    """The files of drifted layouts that queries read most of, up to the policy's bytes."""
    drifted = [layout.file_indices for layout in layouts if layout.drifted(policy)]
    if not drifted:
        return np.zeros(0, np.int64)
    known = known_files(files, np.sort(np.concatenate(drifted)), inputs)
    read = np.zeros(len(known.file_indices))
    for entry in entries:
        row_bytes = inputs.sizes.of(entry.columns).bytes
        read += entry.weight * row_bytes * read_now(entry.filter, known, inputs)
    size = files.sizes[known.file_indices]
    rate = read * inputs.catalog.blocks.rows[known.entries] / np.maximum(size, 1)
    order = np.argsort(-rate, kind="stable")
    order = order[rate[order] > 0]
    within = np.cumsum(size[order]) <= policy.step_bytes
    return np.sort(known.file_indices[order[within]])

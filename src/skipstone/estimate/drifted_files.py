"""Old data: which files lie by a layout that the workload has drifted away from, and which of them first.

The thesis leaves re-clustering open (section 7.2). Here it is done in steps of bounded size: of the files
whose layouts have drifted, those that the recent queries read most bytes of per stored byte are laid out
anew first. They then belong to a layout of today and are no longer candidates, so that step after step the
part of the table that matters follows the workload, and the part that nobody reads is never touched.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from skipstone.catalog import Catalog
from skipstone.catalog.layouts import LayoutRecord
from skipstone.estimate.cost_inputs import Economy, known_files, read_now
from skipstone.estimate.drift import Drift, drift
from skipstone.estimate.policy import Policy
from skipstone.estimate.rewrite_features import placed_by
from skipstone.layout.stored_layout import stored_layout
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.open_table import TableFiles
from skipstone.workload.logged_scans import LoggedScan
from skipstone.workload.predicates import LoggedFilter

__all__ = ["LayoutDrift", "drift_of_layouts", "drift_of_table", "worst_files"]

LOG = logging.getLogger("skipstone")
_MOST_LAYOUTS = 16


@dataclass(frozen=True, slots=True, eq=False)
class LayoutDrift:
    """A layout, the places of the files that lie by it, and how far the queries have moved since."""

    record: LayoutRecord
    places: Counts
    drift: Drift

    def drifted(self, policy: Policy) -> bool:
        """Whether that is far, by enough queries to tell."""
        return self.drift.score >= policy.drift and self.drift.queries >= policy.drift_queries


def drift_of_layouts(
    runtime: Runtime, files: TableFiles, scans: Sequence[LoggedScan], policy: Policy, now: datetime
) -> tuple[LayoutDrift, ...]:
    """The drift of each layout since it was made; of many layouts, of those with the most bytes."""
    by_layout = _by_layout(files, runtime.catalog(files.root))
    sizes = files.files.sizes
    largest = sorted(by_layout, key=lambda layout: (-int(sizes[by_layout[layout]].sum()), layout))
    found: list[LayoutDrift] = []
    store = runtime.store(files.root)
    for layout in largest:
        stored = stored_layout(store, layout, files.root) if len(found) < _MOST_LAYOUTS else None
        if stored is None:
            continue
        record = stored.record
        since = max(datetime.fromisoformat(record.created), now - timedelta(days=policy.window_days))
        recent = [(scan.filter, float(scan.count)) for scan in scans if scan.time > since]
        fitted = [(entry.filter, entry.weight) for entry in stored.workload]
        placed = placed_by(stored.assignment)
        found.append(LayoutDrift(record, by_layout[layout], drift(fitted, recent, *placed)))
    return tuple(found)


def drift_of_table(layouts: Sequence[LayoutDrift], files: TableFiles) -> float | None:
    """The drift of a table: that of its layouts, weighted by their bytes; None if it has none."""
    sizes = np.array([files.files.sizes[layout.places].sum() for layout in layouts], np.float64)
    if not sizes.sum():
        return None
    return float(np.average([layout.drift.score for layout in layouts], weights=sizes))


def worst_files(
    files: TableFiles,
    layouts: Sequence[LayoutDrift],
    entries: Sequence[LoggedFilter],
    economy: Economy,
    policy: Policy,
) -> Counts:
    """The files of drifted layouts that queries read most of, up to the policy's bytes."""
    drifted = [layout.places for layout in layouts if layout.drifted(policy)]
    if not drifted:
        return np.zeros(0, np.int64)
    known = known_files(files, np.sort(np.concatenate(drifted)), economy)
    read = np.zeros(len(known.places))
    for entry in entries:
        row_bytes = economy.sizes.of(entry.columns).bytes
        read += entry.weight * row_bytes * read_now(entry.filter, known, economy)
    size = files.files.sizes[known.places]
    rate = read * economy.catalog.blocks.rows[known.entries] / np.maximum(size, 1)
    order = np.argsort(-rate, kind="stable")
    order = order[rate[order] > 0]
    within = np.cumsum(size[order]) <= policy.step_bytes
    return np.sort(known.places[order[within]])


def _by_layout(files: TableFiles, catalog: Catalog) -> dict[str, Counts]:
    entries = {path: place for place, path in enumerate(catalog.files.paths)}
    found: dict[str, list[int]] = {}
    for place, path in enumerate(files.files.paths):
        entry = entries.get(path)
        layout = "" if entry is None else catalog.segments[catalog.segment_of[entry]].layout
        if layout:
            found.setdefault(layout, []).append(place)
    return {layout: np.array(places, np.int64) for layout, places in found.items()}

"""Which files a layout does not cover: new ones, small ones, and those of earlier layouts.

Appended rows are new files. They are read like any other, skipped once indexed, and laid out by themselves
when enough has gathered; the files that are already in place are left alone (002 section 6).
"""

from __future__ import annotations

import numpy as np

from skipstone.catalog import Catalog, Files
from skipstone.predicate.blocks import Counts

__all__ = ["newest_layout", "unclustered_files"]

_SMALL = 0.25


def newest_layout(catalog: Catalog) -> str:
    """The id of the layout that was applied last; empty if there was none."""
    return next((segment.layout for segment in reversed(catalog.segments) if segment.layout), "")


def unclustered_files(files: Files, catalog: Catalog, block_rows: int) -> Counts:
    """Places of the files that no layout wrote, and of those with far fewer rows than a block."""
    written = np.array([bool(segment.layout) for segment in catalog.segments], np.bool_)
    entries = {path: place for place, path in enumerate(catalog.files.paths)}
    todo = []
    for place, path in enumerate(files.paths):
        entry = entries.get(path)
        laid_out = entry is not None and bool(written[catalog.segment_of[entry]])
        if not laid_out or catalog.blocks.rows[entry] < _SMALL * block_rows:
            todo.append(place)
    return np.array(todo, np.int64)

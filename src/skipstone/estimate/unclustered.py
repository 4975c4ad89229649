"""Which files a layout does not cover: new ones, small ones, and those of earlier layouts.

Appended rows are new files. They are read like any other, skipped once indexed, and laid out by themselves
when enough has gathered; the files that are already in place are left alone (002 section 6).
"""

from __future__ import annotations

import numpy as np

from skipstone.catalog import Catalog, Files
from skipstone.pruning.blocks import Counts

__all__ = ["newest_layout", "unclustered_files"]

_SMALL = 0.25


def newest_layout(files: Files, catalog: Catalog) -> str:
    """The id of the layout that was applied last; empty if there was none.

    A rewrite that lost a race leaves a segment about files that never became part of the table.
    """
    alive = set(files.paths)
    used = {
        int(segment)
        for path, segment in zip(catalog.files.paths, catalog.segment_of, strict=True)
        if path in alive
    }
    layouts = (catalog.segments[place].layout for place in sorted(used, reverse=True))
    return next((layout for layout in layouts if layout), "")


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

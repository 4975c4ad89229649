"""Which files a layout does not cover: new ones, small ones, and those of earlier layouts.

Appended rows are new files. They are read like any other, skipped once indexed, and laid out by themselves
when enough has gathered; the files that are already laid out are left alone (002 section 6).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from skipstone.catalog import Catalog, Files
from skipstone.pruning.blocks import Counts

__all__ = ["files_by_layout", "layouts_in_use", "newest_layout", "unclustered_files"]

_SMALL = 0.25


def newest_layout(files: Files, catalog: Catalog) -> str:
    """The id of the layout that was applied last; empty if there was none.

    A rewrite that lost a race leaves a segment about files that never became part of the table.
    """
    return next(iter(layouts_in_use(files, catalog)), "")


def unclustered_files(files: Files, catalog: Catalog, block_rows: int) -> Counts:
    """The indices of the files that no layout wrote, and of those with far fewer rows than a block."""
    entries = files.indices_in(catalog.files)
    laid_out = entries >= 0
    of_layouts = np.array([bool(segment.layout) for segment in catalog.segments], np.bool_)
    known = entries[laid_out]
    laid_out[laid_out] = of_layouts[catalog.segment_of[known]] & (
        catalog.blocks.rows[known] >= _SMALL * block_rows
    )
    return np.flatnonzero(~laid_out)


def layouts_in_use(files: Files, catalog: Catalog) -> list[str]:
    """The ids of the layouts that files of the table lie by, the one that was applied last first."""
    entries = files.indices_in(catalog.files)
    used = sorted({int(segment) for segment in catalog.segment_of[entries[entries >= 0]]}, reverse=True)
    return list(dict.fromkeys(layout for index in used if (layout := catalog.segments[index].layout)))


def files_by_layout(
    files: Files, catalog: Catalog, adapted: Mapping[str, str] | None = None
) -> dict[str, Counts]:
    """The indices of the files that lie by each layout, that of the most bytes first.

    ``adapted`` says which layout an earlier one was adapted to: the files that an adaptation leaves alone lie
    by the adapted layout too.
    """
    successors = adapted or {}
    found: dict[str, list[int]] = {}
    for index, entry in enumerate(files.indices_in(catalog.files).tolist()):
        layout = "" if entry < 0 else catalog.segments[catalog.segment_of[entry]].layout
        if layout:
            found.setdefault(successors.get(layout, layout), []).append(index)
    indices = {layout: np.array(each, np.int64) for layout, each in found.items()}
    largest = sorted(indices, key=lambda layout: (-int(files.sizes[indices[layout]].sum()), layout))
    return {layout: indices[layout] for layout in largest}

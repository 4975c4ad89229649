"""All layouts by name."""

from __future__ import annotations

from collections.abc import Mapping

from skipstone.errors import SkipstoneError
from skipstone.layout.contract import Layout
from skipstone.layout.hilbert import HILBERT
from skipstone.layout.qdtree import QDTREE
from skipstone.layout.range import RANGE
from skipstone.layout.selforg import SELFORG
from skipstone.layout.sop import SOP
from skipstone.layout.zorder import ZORDER

__all__ = ["LAYOUTS", "layout_named"]

LAYOUTS: Mapping[str, Layout] = {
    layout.name: layout for layout in (RANGE, ZORDER, HILBERT, SOP, SELFORG, QDTREE)
}


def layout_named(name: str, also: tuple[str, ...] = ()) -> Layout:
    """The layout of this name; ``also`` are further names that the user might have chosen."""
    if name not in LAYOUTS:
        raise SkipstoneError(f"There is no layout {name}; choose one of {', '.join((*also, *LAYOUTS))}.")
    return LAYOUTS[name]

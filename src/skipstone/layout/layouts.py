"""All layouts by name."""

from __future__ import annotations

from collections.abc import Mapping

from skipstone.layout.contract import Layout
from skipstone.layout.hilbert import HILBERT
from skipstone.layout.qdtree import QDTREE
from skipstone.layout.range import RANGE
from skipstone.layout.selforg import SELFORG
from skipstone.layout.sop import SOP
from skipstone.layout.zorder import ZORDER

__all__ = ["LAYOUTS"]

LAYOUTS: Mapping[str, Layout] = {
    layout.name: layout for layout in (RANGE, ZORDER, HILBERT, SOP, SELFORG, QDTREE)
}

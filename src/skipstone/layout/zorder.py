"""Z-order: blocks along the Z curve over the columns that the workload filters on most."""

from __future__ import annotations

from skipstone.layout import zcurve
from skipstone.layout.grid import GridLayout

__all__ = ["ZORDER"]

ZORDER = GridLayout("zorder", zcurve.order_keys)

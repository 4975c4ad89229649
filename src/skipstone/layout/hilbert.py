"""Hilbert: blocks along the Hilbert curve over the columns that the workload filters on most."""

from __future__ import annotations

from skipstone.layout import hilbert_curve
from skipstone.layout.grid import GridLayout

__all__ = ["HILBERT"]

HILBERT = GridLayout("hilbert", hilbert_curve.order_keys)

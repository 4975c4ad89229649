"""Cost models under which small tables are worth a rewrite, or never are."""

from __future__ import annotations

from skipstone.estimate.cost import Coefficients, CostModel

__all__ = ["EAGER"]

EAGER = CostModel(Coefficients(0.1, 0, 0, 0, 0, 0, 0, 0.0, 10.0, 0.0, 0.0), "calibrated")
"""Rewriting costs a tenth of a second and reading a megabyte ten seconds: whatever skips, pays."""

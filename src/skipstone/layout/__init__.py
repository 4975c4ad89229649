"""Layouts: one algorithm per file, all behind one contract."""

from skipstone.layout.layouts import LAYOUTS

__all__ = ["LAYOUTS"]

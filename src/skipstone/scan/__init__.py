"""Which blocks a query needs, and why."""

from skipstone.scan.decide import decide

__all__ = ["decide"]

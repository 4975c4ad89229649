"""What the automatic optimiser sees of a table, and what it decided last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from skipstone.catalog.decisions import Decision, load_decisions
from skipstone.optimize.situation import Situation

__all__ = ["AutoStatus", "auto_status"]

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class AutoStatus:
    """Log, unclustered data, drift and the newest decisions; ``drift`` is None without a layout.

    Nothing is estimated for new data before ``unclustered_bytes`` reaches ``awaited_bytes``.
    """

    root: str
    logged_scans: int
    first_scan: datetime | None
    last_scan: datetime | None
    unclustered_files: int
    unclustered_bytes: int
    awaited_bytes: int
    drift: float | None
    layouts: tuple[dict[str, Any], ...]
    decisions: tuple[Decision, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        moments = {
            name: None if (value := getattr(self, name)) is None else value.isoformat()
            for name in ("first_scan", "last_scan")
        }
        names = ("root", "logged_scans", "unclustered_files", "unclustered_bytes", "awaited_bytes", "drift")
        return {
            **{name: getattr(self, name) for name in names},
            **moments,
            "layouts": list(self.layouts),
            "decisions": [decision.to_dict() for decision in self.decisions],
        }


def auto_status(seen: Situation, most: int = _SHOWN) -> AutoStatus:
    """Describe a situation and the newest decisions."""
    numbers = seen.numbers()
    return AutoStatus(
        root=seen.files.root,
        logged_scans=numbers["logged_scans"],
        first_scan=seen.scans[0].time if seen.scans else None,
        last_scan=seen.scans[-1].time if seen.scans else None,
        unclustered_files=numbers["unclustered_files"],
        unclustered_bytes=numbers["unclustered_bytes"],
        awaited_bytes=numbers["awaited_bytes"],
        drift=numbers["drift"],
        layouts=tuple(numbers["layouts"]),
        decisions=load_decisions(seen.runtime.store(seen.files.root), most),
    )

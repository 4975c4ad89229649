"""``auto`` without a round: what the automatic optimiser sees of a table, and what it decided last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from skipstone.actions.context import Context
from skipstone.actions.read_table_state import read_table_state, require_delta
from skipstone.catalog.decisions import Decision, load_decisions
from skipstone.estimate.policy import Policy, policy_or_default
from skipstone.view import Cell, Share, View, Viewed, count, megabytes

__all__ = ["AutoStatus", "ShowAutoStatus"]

_SHOWN = 5


@dataclass(frozen=True, slots=True, repr=False)
class AutoStatus(Viewed):
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
    layouts: tuple[Mapping[str, object], ...]
    decisions: tuple[Decision, ...]

    def view(self) -> View:
        """What the loop sees, and its newest decisions."""
        spans = ""
        if self.first_scan is not None and self.last_scan is not None:
            spans = f", {self.first_scan:%Y-%m-%d %H:%M} to {self.last_scan:%Y-%m-%d %H:%M} UTC"
        drifts = ", ".join(f"{layout['strategy']} {layout['score']:.2f}" for layout in self.layouts)
        unclustered = (
            f"{count(self.unclustered_files, 'file')}, {megabytes(self.unclustered_bytes)}; "
            f"{megabytes(self.awaited_bytes)} are awaited"
        )
        drift: Cell = "no layout yet"
        if self.drift is not None:
            drift = Share(self.drift, 1.0, f"{self.drift:.2f} ({drifts})")
        values: list[tuple[str, Cell]] = [
            ("workload", f"{count(self.logged_scans, 'scan')}{spans}"),
            ("unclustered", unclustered),
            ("drift", drift),
        ]
        values += [("decision", decision.in_a_line()) for decision in reversed(self.decisions)]
        return View(self.root, tuple(values))

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        moments = {
            name: None if (value := getattr(self, name)) is None else value.isoformat()
            for name in ("first_scan", "last_scan")
        }
        names = ("root", "logged_scans", "unclustered_files", "unclustered_bytes", "awaited_bytes", "drift")
        return {
            **{name: getattr(self, name) for name in names},
            **moments,
            "layouts": [dict(layout) for layout in self.layouts],
            "decisions": [decision.to_dict() for decision in self.decisions],
        }


@dataclass(frozen=True, slots=True)
class ShowAutoStatus:
    """Show log, unclustered data, drift and the newest decisions; nothing is estimated.

    ``newest`` is how many logged scans are looked at, for whoever looks often.
    """

    name: ClassVar[str] = "auto"

    policy: Policy | None = None
    newest: int | None = None

    def validate(self, context: Context) -> None:
        """Refuse what is no policy, and a table that cannot be rewritten in place."""
        policy_or_default(self.policy)
        require_delta(context)

    def run(self, context: Context) -> AutoStatus:
        """Read the state of the table and its decisions."""
        context.report("reading the query log", 0, 1)
        context.table.refresh()
        state = read_table_state(context, policy_or_default(self.policy), self.newest)
        figures = state.figures
        return AutoStatus(
            root=context.snapshot.root,
            logged_scans=figures.logged_scans,
            first_scan=state.scans[0].time if state.scans else None,
            last_scan=state.scans[-1].time if state.scans else None,
            unclustered_files=figures.unclustered_files,
            unclustered_bytes=figures.unclustered_bytes,
            awaited_bytes=figures.awaited_bytes,
            drift=figures.drift,
            layouts=figures.layouts,
            decisions=load_decisions(context.store, _SHOWN),
        )

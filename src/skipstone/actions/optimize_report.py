"""What an optimisation did."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from skipstone.view import Grid, Share, View, Viewed, count
from skipstone.workload.queries import BrokenQuery, broken_and_left_out

__all__ = ["OptimizeReport"]


@dataclass(frozen=True, slots=True, repr=False)
class OptimizeReport(Viewed):
    """What an optimisation did; ``layout_id`` is empty and ``version`` -1 when the table was left alone.

    ``reason`` says what was done, or why nothing was. ``percent_before`` and ``percent_after`` are estimates
    of the share of rows that the log's queries scan. ``version`` is the table version that the commit made.
    """

    root: str
    layout: str
    layout_id: str
    reason: str
    percent_before: float | None
    percent_after: float | None
    files_before: int
    files_after: int
    rows: int
    fit_seconds: float
    rewrite_seconds: float
    version: int
    unusable: tuple[BrokenQuery, ...] = ()
    replicas: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        described = asdict(self)
        del described["unusable"]
        return described | broken_and_left_out(self.unusable)

    def view(self) -> View:
        """What was done, why, and what it lets queries skip."""
        if not self.layout_id:
            return View(f"{self.root} was left as it is: {self.reason}.")
        notes, shares = [self.reason], []
        if self.percent_before is not None and self.percent_after is not None:
            notes.append(
                f"the log's queries scan about {self.percent_after:.2f} % of the rows instead of "
                f"{self.percent_before:.2f} %"
            )
            for name, scanned in (("before", self.percent_before), ("after", self.percent_after)):
                shares.append((name, Share(scanned, 100, f"{scanned:.2f} %")))
        if self.replicas:
            notes.append(f"replicas over other columns: {', '.join(self.replicas)}")
        notes.append(f"fitted in {self.fit_seconds:.1f} s, rewritten in {self.rewrite_seconds:.1f} s")
        return View(
            f"Rewrote {count(self.rows, 'row')} of {self.root} by {self.layout}: "
            f"{count(self.files_before, 'file')} became {self.files_after:,}, table version {self.version}.",
            notes=tuple(notes),
            grids=(Grid("Rows scanned", ("", "of all rows"), tuple(shares)),) if shares else (),
        )

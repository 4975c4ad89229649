"""How a table is, in one sentence: the most pressing thing about it, with its code."""

from __future__ import annotations

from dataclasses import dataclass

from skipstone.view import count, megabytes

__all__ = ["Health", "Lately", "health"]

_MUCH_MORE = 3.0
_FEW_PERCENT = 5.0
_DRIFTED = 0.3


@dataclass(frozen=True, slots=True)
class Lately:
    """What the newest logged scans read, over all of them."""

    scans: int = 0
    rows_total: int = 0
    rows_scanned: int = 0
    rows_needed: int = 0

    @property
    def percent_scanned(self) -> float | None:
        """Of all rows of the table, those that were read."""
        return 100.0 * self.rows_scanned / self.rows_total if self.rows_total else None

    @property
    def percent_needed(self) -> float | None:
        """Of all rows of the table, those that were asked for."""
        return 100.0 * self.rows_needed / self.rows_total if self.rows_total else None


@dataclass(frozen=True, slots=True)
class Health:
    """The figures that a sentence about a table is made of."""

    files: int
    files_indexed: int
    lately: Lately
    log_entries: int = 0
    drift: float | None = None
    unclustered_bytes: int = 0
    awaited_bytes: int = 0
    problem: str = ""


def health(seen: Health) -> tuple[str, str]:
    """A code and a sentence.

    >>> health(Health(files=4, files_indexed=0, lately=Lately()))
    ('NOT_INDEXED', 'No file is indexed, so every query reads all of them: run index.')
    >>> health(Health(4, 4, Lately(9, 1000, 70, 26), log_entries=9))
    ('GOOD', 'Queries scan 7.0 % of the rows and need 2.6 %.')
    """
    scanned, needed = seen.lately.percent_scanned, seen.lately.percent_needed
    shares = (
        ""
        if scanned is None or needed is None
        else f"scan {scanned:.1f} % of the rows and need {needed:.1f} %"
    )
    if seen.problem:
        return "DAMAGED", f"The catalog cannot be used: {seen.problem}"
    if not seen.files_indexed and seen.files:
        return "NOT_INDEXED", "No file is indexed, so every query reads all of them: run index."
    if seen.files_indexed < seen.files:
        waiting = count(seen.files - seen.files_indexed, "file")
        return "PARTLY_INDEXED", f"{waiting} of {seen.files:,} not indexed yet and always read: run index."
    if not seen.log_entries:
        return "NO_LOG", "There is no query log yet, so nobody knows what to arrange the table for."
    if seen.drift is not None and seen.drift >= _DRIFTED:
        return "DRIFTED", f"The queries have moved away from the layout (drift {seen.drift:.2f}): run advise."
    if scanned is not None and scanned > max(_FEW_PERCENT, _MUCH_MORE * (needed or 0.0)):
        return "SCANS_TOO_MUCH", f"Queries {shares}: run advise."
    if seen.awaited_bytes and seen.unclustered_bytes >= seen.awaited_bytes:
        new = megabytes(seen.unclustered_bytes)
        return "NEW_DATA", f"{new} of new data have gathered that no layout covers."
    return "GOOD", f"Queries {shares}." if shares else "All files are indexed."

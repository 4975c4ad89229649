"""The result of ``adapt``: which blocks are cut anew, what queries then scan, and what others lose."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from skipstone.view import Cell, Grid, View, Viewed, count, megabytes, percent
from skipstone.workload.queries import BrokenQuery

__all__ = ["AdaptReport", "AttributeShare", "ChangeFigures"]


@dataclass(frozen=True, slots=True)
class AttributeShare:
    """The share of rows that a range of a twentieth of one column scans, before and after."""

    column: str
    queried: bool
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class ChangeFigures:
    """One part of the tree that is replaced: the files that are cut anew, the new blocks, and the seconds."""

    files: int
    blocks: int
    seconds_saved: float
    rewrite_seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class AdaptReport(Viewed):
    """An adaptation. ``layout_id`` is empty if nothing was written, and ``reason`` says why.

    Percentages are what the window's queries scan of the files of the layout. ``seconds_saved`` are those of
    all queries of the window, ``rewrite_seconds_estimated`` what the cost model expects of the rewrite.
    """

    root: str
    strategy: str
    adapted_from: str
    layout_id: str
    reason: str
    queries: float
    files: int
    bytes: int
    files_rewritten: int
    bytes_rewritten: int
    files_written: int
    percent_before: float
    percent_after: float
    seconds_saved: float
    rewrite_seconds_estimated: float
    changes: tuple[ChangeFigures, ...]
    attributes: tuple[AttributeShare, ...]
    fit_seconds: float
    rewrite_seconds: float = 0.0
    version: int = -1
    unusable: tuple[BrokenQuery, ...] = ()

    def view(self) -> View:
        """What is rewritten, what it saves, and what columns that no query is about lose."""
        if not self.changes:
            return View(f"{self.root} stays as it is: {self.reason}.")
        share = percent(self.bytes_rewritten, self.bytes)
        saved, cost = self.seconds_saved, self.rewrite_seconds_estimated
        done = "Adapted" if self.layout_id else "Would adapt"
        rewritten = f"{count(self.files_rewritten, 'file')} of {self.files:,}, {share} of the bytes"
        values: list[tuple[str, Cell]] = [
            ("rewritten", f"{megabytes(self.bytes_rewritten)} into {count(self.files_written, 'file')}"),
            (
                "queries",
                f"scan about {self.percent_after:.2f} % of the rows, {self.percent_before:.2f} % before",
            ),
            ("saves", f"{saved:.1f} s over the window; rewriting costs about {cost:.1f} s"),
        ]
        if (others := self._others()) is not None:
            values.append(("other columns", others))
        took = f"{self.fit_seconds:.1f} s to decide"
        if self.layout_id:
            took += f", {self.rewrite_seconds:.1f} s to rewrite"
            values.append(("layout", f"{self.layout_id}, from {self.adapted_from}"))
        values.append(("took", took))
        headline = f"{done} {self.root} to {count(round(self.queries), 'query')}: {rewritten}."
        return View(headline, tuple(values), grids=(self._grid(),))

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)

    def _others(self) -> str | None:
        others = [each for each in self.attributes if not each.queried]
        if not others:
            return None
        before, after = (
            100 * sum(values) / len(others)
            for values in zip(*((each.before, each.after) for each in others), strict=True)
        )
        most = max(others, key=lambda each: each.after - each.before)
        return (
            f"a range of a twentieth scans about {after:.0f} % of the rows, {before:.0f} % before; most "
            f"lost: {most.column}, {100 * most.after:.0f} %, {100 * most.before:.0f} % before"
        )

    def _grid(self) -> Grid:
        rows = tuple(
            (
                each.column,
                "yes" if each.queried else "no",
                f"{100 * each.before:.1f} %",
                f"{100 * each.after:.1f} %",
            )
            for each in self.attributes
        )
        title = "What a range of a twentieth of one column scans"
        return Grid(title, ("column", "queried", "before", "after"), rows)

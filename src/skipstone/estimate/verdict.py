"""The verdict on a rewrite: a code, a sentence, and the figures that led to it.

Later steps of the estimate know more, so figures grow from step to step. As a dictionary they have the names
that decisions are stored under, and nothing that is not known yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from skipstone.workload.queries import BrokenQuery

__all__ = ["LayoutFigures", "RewriteFigures", "SampleFigures", "Verdict", "VerdictCode"]


class VerdictCode(StrEnum):
    """Why some files of a table are rewritten, or left alone."""

    NO_LOG = "NO_LOG"
    """No query of the window is logged."""
    WAITING = "WAITING"
    """Too little new data has gathered, and old data has not drifted."""
    REFUSED = "REFUSED"
    """The table must not be rewritten, such as one that is append-only."""
    READ_TOO_LITTLE = "READ_TOO_LITTLE"
    """To read nothing at all would save less than a rewrite costs."""
    NOTHING_TO_GAIN = "NOTHING_TO_GAIN"
    """To read only the rows that queries need would save less than a rewrite costs."""
    CANNOT_FIT = "CANNOT_FIT"
    """No layout can be fitted."""
    DOES_NOT_PAY = "DOES_NOT_PAY"
    """The best layout saves less than its rewrite costs."""
    PAYS = "PAYS"
    """The best layout saves more than its rewrite costs."""
    ADAPTS = "ADAPTS"
    """Adapting a tree saves more than it costs, and more so than laying its files out anew."""

    @property
    def estimated_negative(self) -> bool:
        """Whether an estimate spoke against a rewrite."""
        return self in (
            VerdictCode.READ_TOO_LITTLE,
            VerdictCode.NOTHING_TO_GAIN,
            VerdictCode.DOES_NOT_PAY,
            VerdictCode.CANNOT_FIT,
        )


@dataclass(frozen=True, slots=True)
class SampleFigures:
    """What a sample shows: how much queries scan in the current layout, and how much they need.

    Bytes and seconds are those of one run of the log.
    """

    rows: int
    sampled_rows: int
    sampled_queries: int
    block_rows: int
    bytes_scanned_now: float
    scan_seconds_now: float
    bytes_needed: float
    scan_seconds_needed: float

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        found = asdict(self)
        del found["scan_seconds_needed"]
        return found


@dataclass(frozen=True, slots=True)
class LayoutFigures:
    """What the layout that gains most is expected to save and to cost; savings are per run of the log.

    ``percent_scanned_by`` has the share of rows that is scanned under each layout that was simulated.
    """

    layout: str
    percent_scanned: float | None
    bytes_saved: float | None
    seconds_saved: float | None
    rewrite_seconds_estimated: float | None
    rewrite_bytes_read: float | None
    rewrite_bytes_written: float | None
    net_seconds: float | None
    break_even_runs: float | None
    break_even_days: float | None
    percent_scanned_by: Mapping[str, float | None]

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RewriteFigures:
    """What is known about rewriting some files.

    ``runs_counted`` is how many runs of the log count as savings and ``margin`` how many times its cost a
    rewrite must save. ``least_rewrite_seconds`` is what the cheapest rewrite costs, ``most_seconds_saved``
    what no layout can exceed. ``data`` is ``new`` or ``old``, or ``replica`` where files are copied.
    """

    files: int
    bytes: int
    queries: float
    observed_days: float | None
    runs_counted: float
    margin: float
    costs: str
    least_rewrite_seconds: float
    most_seconds_saved: float
    data: str = ""
    unusable: tuple[BrokenQuery, ...] = ()
    sample: SampleFigures | None = None
    best: LayoutFigures | None = None
    analysis_seconds: float | None = None

    @property
    def least_seconds_to_save(self) -> float:
        """What must be saved at least for any rewrite to pay."""
        return self.margin * self.least_rewrite_seconds

    def with_sample(self, sample: SampleFigures) -> RewriteFigures:
        """The same, once a sample was drawn; it also shows how much can be saved."""
        most = self.runs_counted * (sample.scan_seconds_now - sample.scan_seconds_needed)
        return replace(self, sample=sample, most_seconds_saved=most)

    def to_dict(self) -> dict[str, object]:
        """As decisions are stored: what is not known yet is left out."""
        found = asdict(self)
        for name in ("sample", "best", "unusable", "data", "analysis_seconds"):
            del found[name]
        for part in (self.sample, self.best):
            found |= {} if part is None else part.to_dict()
        if self.unusable:
            found["unusable"] = [asdict(each) for each in self.unusable]
        if self.analysis_seconds is not None:
            found["analysis_seconds"] = self.analysis_seconds
        if self.data:
            found["data"] = self.data
        return found


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to rewrite, and why; ``figures`` is None where nothing was estimated."""

    code: VerdictCode
    sentence: str
    figures: RewriteFigures | None = None

    @property
    def pays(self) -> bool:
        """Whether the rewrite saves enough."""
        return self.code is VerdictCode.PAYS

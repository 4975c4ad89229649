"""Adapting a tree, or laying its files out anew: the one that saves more than it costs by more seconds.

Both are judged by the same queries, the same cost model and the same policy. An adaptation rewrites fewer
files and cannot gain as much; a full rewrite has to pay for all files that it takes.

>>> rewrite = Verdict(VerdictCode.DOES_NOT_PAY, "qdtree would save too little")
>>> found = adapt_or_rewrite(rewrite, AdaptationFigures(40, 4_000_000, 30.0, 3.0, 8.0, 4.0))
>>> print(f"{found.code}: {found.sentence}")
ADAPTS: adapting its tree saves 8.0 s, and rewriting 4.0 MB costs about 4.0 s; qdtree would save too little
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from skipstone.estimate.verdict import Verdict, VerdictCode

__all__ = ["AdaptationFigures", "adapt_or_rewrite"]


@dataclass(frozen=True, slots=True)
class AdaptationFigures:
    """What an adaptation rewrites, saves over the runs that count, and costs.

    ``reason`` says why there is none; then nothing is rewritten.
    """

    files: int
    bytes: int
    percent_before: float
    percent_after: float
    seconds_saved: float
    rewrite_seconds: float
    reason: str = ""

    @property
    def net_seconds(self) -> float:
        """What remains of the savings."""
        return self.seconds_saved - self.rewrite_seconds

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "net_seconds": self.net_seconds}


def adapt_or_rewrite(rewrite: Verdict, adaptation: AdaptationFigures) -> Verdict:
    """The verdict on both, with both in its sentence."""
    if adaptation.reason:
        return replace(rewrite, sentence=f"{rewrite.sentence}; its tree stays, for {adaptation.reason}")
    best = None if rewrite.figures is None else rewrite.figures.best
    rewritten = (best.net_seconds or 0.0) if rewrite.pays and best is not None else 0.0
    size, cost = adaptation.bytes / 1e6, adaptation.rewrite_seconds
    told = f"{adaptation.seconds_saved:.1f} s, and rewriting {size:,.1f} MB costs about {cost:.1f} s"
    if adaptation.net_seconds <= rewritten:
        return replace(rewrite, sentence=f"{rewrite.sentence}; adapting its tree would save {told}")
    other = f"against that {rewrite.sentence}" if rewrite.pays else rewrite.sentence
    return Verdict(VerdictCode.ADAPTS, f"adapting its tree saves {told}; {other}", rewrite.figures)

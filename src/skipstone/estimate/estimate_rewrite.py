"""Cost against benefit for some files of a table: would laying them out anew pay, and by which layout?

Cheap questions come first, so that a hopeless case costs next to nothing (Self-organising layouts for Delta
(thesis), section 5: the estimate must be far cheaper than the rewrite it decides on):

1. ``before_sampling``: if the queries read so little that saving all of it would not pay, the verdict is
   READ_TOO_LITTLE, without any job.
2. A small sample is drawn, the larger the costlier the rewrite, and of a long log some queries that stand for
   all. ``before_simulating``: if even a layout by which queries read only the rows they need would not pay,
   the verdict is NOTHING_TO_GAIN.
3. Every layout is fitted and simulated on these. ``after_simulating``: the one that gains most must gain
   enough, and the verdict is PAYS or DOES_NOT_PAY.

All of them are functions of figures; who draws samples is :mod:`skipstone.actions.estimate_files`. The
rewrite then fits that layout once more, for all queries and on a sample as large as a layout deserves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skipstone.estimate.advice import Advice, LayoutAdvice, needed
from skipstone.estimate.benefit import Scanned, volume
from skipstone.estimate.cost import Extent, RewriteFeatures
from skipstone.estimate.cost_inputs import CostInputs
from skipstone.estimate.policy import Policy
from skipstone.estimate.prepared import Prepared
from skipstone.estimate.verdict import LayoutFigures, RewriteFigures, SampleFigures, Verdict, VerdictCode
from skipstone.layout.options import SAMPLE_ROWS
from skipstone.workload.predicates import LoggedFilter

__all__ = [
    "REPLICA",
    "FileGroup",
    "after_simulating",
    "before_sampling",
    "before_simulating",
    "cannot_fit",
    "first_figures",
    "sample_figures",
    "sample_rows",
]

_FEWEST_SAMPLED = 20_000
_SAMPLED_PER_SECOND = 80
"""Rows to sample for the estimate, per second that the rewrite takes."""


REPLICA = "replica"
"""What ``data`` is where files are to be copied and not to be rewritten."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Some files of a table that may be rewritten together; ``data`` is ``new``, ``old`` or ``replica``."""

    files: int
    bytes: int
    data: str = ""


def first_figures(
    group: FileGroup, entries: Sequence[LoggedFilter], policy: Policy, inputs: CostInputs
) -> RewriteFigures:
    """What is known before any job has run."""
    runs = 1.0
    if policy.horizon_days is not None and inputs.days:
        runs = policy.horizon_days / inputs.days
    per_row = inputs.sizes.of()
    rows = group.bytes / per_row.bytes if per_row.bytes else 0.0
    cheapest = RewriteFeatures(Extent.of(rows, per_row), 1, 0, 0)
    return RewriteFigures(
        files=group.files,
        bytes=group.bytes,
        queries=sum(entry.weight for entry in entries),
        observed_days=inputs.days,
        runs_counted=runs,
        margin=policy.margin,
        costs=inputs.model.describe(),
        least_rewrite_seconds=inputs.model.coefficients.rewrite_seconds(cheapest),
        most_seconds_saved=runs * _everything_read(entries, inputs, rows, group.files),
        data=group.data,
    )


def _everything_read(entries: Sequence[LoggedFilter], inputs: CostInputs, rows: float, files: int) -> float:
    """Seconds that one run of the log takes if nothing is ever skipped."""
    seconds = 0.0
    for entry in entries:
        extent = Extent.of(rows, inputs.sizes.of(entry.columns))
        seconds += entry.weight * inputs.model.coefficients.read_seconds(extent, files)
    return seconds


def before_sampling(figures: RewriteFigures) -> Verdict | None:
    """The verdict if the queries read too little for any rewrite to pay."""
    most = figures.most_seconds_saved
    if most > figures.least_seconds_to_save:
        return None
    return Verdict(
        VerdictCode.READ_TOO_LITTLE,
        f"reading these files takes the expected queries {most:.1f} s in all, and {_doing(figures)} them "
        f"costs {figures.least_rewrite_seconds:.1f} s{_margin(figures)}",
        figures,
    )


def sample_rows(figures: RewriteFigures, policy: Policy) -> int:
    """How many rows the estimate deserves: the more, the more a rewrite costs."""
    deserved = max(_FEWEST_SAMPLED, _SAMPLED_PER_SECOND * figures.least_seconds_to_save)
    return policy.sample_rows or int(min(SAMPLE_ROWS, deserved))


def sample_figures(prepared: Prepared, current: Scanned, inputs: CostInputs) -> SampleFigures:
    """What a sample shows; ``current`` is what queries scan in the current layout."""
    load, costs = inputs.load(prepared), inputs.model.coefficients
    now = volume(current, load, prepared.total_rows, costs)
    ideal = volume(needed(prepared), load, prepared.total_rows, costs)
    return SampleFigures(
        rows=prepared.total_rows,
        sampled_rows=len(prepared.view.sample),
        sampled_queries=len(prepared.entries),
        block_rows=prepared.view.block_rows,
        bytes_scanned_now=now.bytes,
        scan_seconds_now=now.seconds,
        bytes_needed=ideal.bytes,
        scan_seconds_needed=ideal.seconds,
    )


def before_simulating(figures: RewriteFigures) -> Verdict | None:
    """The verdict if, by the figures of a sample, not even an ideal layout would pay."""
    most, sample = figures.most_seconds_saved, figures.sample
    if sample is None or most > figures.least_seconds_to_save:
        return None
    saved = figures.runs_counted * (sample.bytes_scanned_now - sample.bytes_needed)
    return Verdict(
        VerdictCode.NOTHING_TO_GAIN,
        f"even if queries read only the rows they need, {most:.1f} s and {saved / 1e6:,.1f} MB would be "
        f"saved, and {_doing(figures)} costs {figures.least_rewrite_seconds:.1f} s{_margin(figures)}",
        figures,
    )


def after_simulating(figures: RewriteFigures, advice: Advice) -> Verdict:
    """The verdict on the layout that gains most."""
    runs = figures.runs_counted
    best = advice.pays_most(runs)
    if best is None:
        problems = "; ".join(row.problem.rstrip(".") for row in advice.layouts if row.problem)
        return cannot_fit(figures, f"no layout can be fitted: {problems}")
    known = replace(figures, best=_layout_figures(best, advice, runs))
    saved, cost = runs * (best.seconds_saved or 0.0), best.rewrite_seconds or 0.0
    gain = f"{saved:.1f} s and {runs * (best.bytes_saved or 0.0) / 1e6:,.1f} MB"
    doing = f"and {_doing(figures)} {figures.bytes / 1e6:,.1f} MB costs"
    if saved <= figures.margin * cost:
        sentence = f"the best layout, {best.layout}, would save {gain}, {doing} {cost:.1f} s"
        return Verdict(VerdictCode.DOES_NOT_PAY, f"{sentence}{_margin(figures)}", known)
    return Verdict(VerdictCode.PAYS, f"{best.layout} saves {gain}, {doing} about {cost:.1f} s", known)


def cannot_fit(figures: RewriteFigures, problem: str) -> Verdict:
    """The verdict if there is nothing to simulate."""
    return Verdict(VerdictCode.CANNOT_FIT, problem.rstrip("."), figures)


def _doing(figures: RewriteFigures) -> str:
    return "copying" if figures.data == REPLICA else "rewriting"


def _margin(figures: RewriteFigures) -> str:
    return "" if figures.margin == 1.0 else f", {figures.margin:g} times of which must be saved"


def _layout_figures(best: LayoutAdvice, advice: Advice, runs: float) -> LayoutFigures:
    return LayoutFigures(
        layout=best.layout,
        percent_scanned=best.percent_scanned,
        bytes_saved=best.bytes_saved,
        seconds_saved=best.seconds_saved,
        rewrite_seconds_estimated=best.rewrite_seconds,
        rewrite_bytes_read=best.rewrite_bytes_read,
        rewrite_bytes_written=best.rewrite_bytes_written,
        net_seconds=best.net_seconds(runs),
        break_even_runs=best.break_even_runs,
        break_even_days=best.break_even_days,
        percent_scanned_by={row.layout: row.percent_scanned for row in advice.layouts},
    )

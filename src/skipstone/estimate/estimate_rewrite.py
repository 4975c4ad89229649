"""Cost against benefit for some files of a table: would laying them out anew pay, and by which layout?

Cheap questions come first, so that a hopeless case costs next to nothing (Self-organising layouts for Delta
(thesis), section 5: the estimate must be far cheaper than the rewrite it decides on):

1. If the queries read so little that saving all of it would not pay: no, without any job.
2. A small sample is drawn, the larger the costlier the rewrite, and of a long log some queries that stand for
   all. If even a layout by which queries read only the rows they need would not pay: no.
3. Every layout is fitted and simulated on these; the one that gains most must gain enough.

The rewrite then fits that layout once more, for all queries and on a sample as large as a layout deserves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skipstone.actions.prepare import SAMPLE_ROWS, Prepared, Wishes, prepare
from skipstone.actions.usable import with_usable
from skipstone.errors import SkipstoneError
from skipstone.estimate.advice import LayoutAdvice, advise, needed
from skipstone.estimate.benefit import volume
from skipstone.estimate.cost import CostModel, Extent, Shape
from skipstone.estimate.cost_inputs import Economy, as_it_lies, economy_of
from skipstone.estimate.policy import Policy
from skipstone.estimate.sample_log import merged_entries, representatives
from skipstone.progress import Progress, Steps
from skipstone.pruning.blocks import Counts
from skipstone.spark import SparkSession
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.job_progress import watch
from skipstone.spark.engine.open_table import TableFiles
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.unusable import Usable

__all__ = ["Weighed", "weigh"]

_FEWEST_SAMPLED = 20_000
_SAMPLED_PER_SECOND = 80
"""Rows to sample for the estimate, per second that the rewrite takes."""
MOST_WEIGHED = 64
MOST_JUDGES = 48
"""Queries that layouts are fitted for in an estimate, and those they are judged by; of a longer log, as many
stand for all."""


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """The verdict: a code, a sentence and its numbers; if it pays, what is needed to do it.

    ``prepared`` is what the estimate was made with, ``entries`` is the whole log as far as it can be used and
    ``logged`` the same as it was logged.
    """

    code: str
    sentence: str
    numbers: dict[str, Any]
    prepared: Prepared | None = None
    layout: str = ""
    entries: tuple[LoggedFilter, ...] = ()
    logged: tuple[LoggedFilter, ...] = ()

    @property
    def pays(self) -> bool:
        """Whether the rewrite saves enough."""
        return self.prepared is not None


def weigh(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    places: Counts,
    entries: Sequence[LoggedFilter],
    policy: Policy,
    model: CostModel,
    block_rows: int | None,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Weighed:
    """Decide about the files at these places; nothing is changed."""
    started = clock()
    economy = economy_of(spark, runtime, files, places, model, entries)
    size = int(files.files.sizes[places].sum())
    runs = 1.0
    if policy.horizon_days is not None and economy.days:
        runs = policy.horizon_days / economy.days
    per_row = economy.sizes.of()
    rows = size / per_row.bytes if per_row.bytes else 0.0
    extent = Extent.of(rows, per_row)
    cheapest = model.coefficients.rewrite_seconds(Shape(extent, 1, 0, 0))
    least = policy.margin * cheapest
    numbers: dict[str, Any] = {
        "files": len(places),
        "bytes": size,
        "queries": sum(entry.weight for entry in entries),
        "observed_days": economy.days,
        "runs_counted": runs,
        "margin": policy.margin,
        "costs": model.describe(),
        "least_rewrite_seconds": cheapest,
    }

    times = f", {policy.margin:g} times of which must be saved" if policy.margin != 1.0 else ""

    def verdict(code: str, sentence: str, **more: Any) -> Weighed:
        numbers["analysis_seconds"] = clock() - started
        return Weighed(code, sentence, numbers, **more)

    most = runs * _everything_read(entries, economy, rows, len(places))
    numbers["most_seconds_saved"] = most
    if most <= least:
        return verdict(
            "READ_TOO_LITTLE",
            f"reading these files takes the expected queries {most:.1f} s in all, and rewriting them costs "
            f"{cheapest:.1f} s{times}",
        )
    sample_rows = policy.sample_rows or int(
        min(SAMPLE_ROWS, max(_FEWEST_SAMPLED, _SAMPLED_PER_SECOND * least))
    )
    curve = policy.curve or "z"
    wishes = Wishes(block_rows=block_rows, sample_rows=sample_rows, rough=True, curve=curve)

    def rough(usable: Usable) -> tuple[Prepared, Usable]:
        fitted_for = representatives(usable.entries, MOST_WEIGHED)
        # A layout made for few queries serves these better than it serves the others.
        judges = None if fitted_for == usable.entries else representatives(usable.entries, MOST_JUDGES, 0.0)
        if usable.unusable:
            numbers["unusable"] = [asdict(each) for each in usable.unusable]
        return prepare(spark, files, fitted_for, usable.unusable, wishes, places, judges=judges), usable

    steps = Steps(progress, len(places), {"sampling": 1, "simulating": 2})
    try:
        with watch(spark, steps.step("sampling"), "sampling blocks"):
            prepared, usable = with_usable(spark, files, merged_entries(entries), rough)
    except SkipstoneError as problem:
        return verdict("CANNOT_FIT", str(problem).rstrip("."))
    load, costs = economy.load(prepared), model.coefficients
    standing = as_it_lies(prepared, economy)
    now = volume(standing, load, prepared.total_rows, costs)
    ideal = volume(needed(prepared), load, prepared.total_rows, costs)
    most = runs * (now.seconds - ideal.seconds)
    numbers |= {
        "rows": prepared.total_rows,
        "sampled_rows": len(prepared.fitting.sample),
        "sampled_queries": len(prepared.entries),
        "block_rows": prepared.fitting.block_rows,
        "bytes_scanned_now": now.bytes,
        "scan_seconds_now": now.seconds,
        "bytes_needed": ideal.bytes,
        "most_seconds_saved": most,
    }
    if most <= least:
        return verdict(
            "NOTHING_TO_GAIN",
            f"even if queries read only the rows they need, {most:.1f} s and "
            f"{runs * (now.bytes - ideal.bytes) / 1e6:,.1f} MB would be saved, and rewriting costs "
            f"{cheapest:.1f} s{times}",
        )
    advice = advise(prepared, policy.layouts, steps.step("simulating"), economy, standing)
    best = advice.pays_most(runs)
    if best is None:
        problems = "; ".join(row.problem.rstrip(".") for row in advice.layouts if row.problem)
        return verdict("CANNOT_FIT", f"no layout can be fitted: {problems}")
    numbers |= _numbers(best, runs)
    numbers["percent_scanned_by"] = {row.layout: row.percent_scanned for row in advice.layouts}
    saved, cost = runs * (best.seconds_saved or 0.0), best.rewrite_seconds or 0.0
    saved_mb = runs * (best.bytes_saved or 0.0) / 1e6
    if saved <= policy.margin * cost:
        return verdict(
            "DOES_NOT_PAY",
            f"the best layout, {best.layout}, would save {saved:.1f} s and {saved_mb:,.1f} MB, and rewriting "
            f"{size / 1e6:,.1f} MB costs {cost:.1f} s{times}",
        )
    return verdict(
        "PAYS",
        f"{best.layout} saves {saved:.1f} s and {saved_mb:,.1f} MB, and rewriting {size / 1e6:,.1f} MB costs "
        f"about {cost:.1f} s",
        prepared=prepared,
        layout=best.layout,
        entries=usable.entries,
        logged=usable.logged,
    )


def _everything_read(entries: Sequence[LoggedFilter], economy: Economy, rows: float, files: int) -> float:
    """Seconds that one run of the log takes if nothing is ever skipped."""
    seconds = 0.0
    for entry in entries:
        extent = Extent.of(rows, economy.sizes.of(entry.columns))
        seconds += entry.weight * economy.model.coefficients.read_seconds(extent, files)
    return seconds


def _numbers(best: LayoutAdvice, runs: float) -> dict[str, Any]:
    return {
        "layout": best.layout,
        "percent_scanned": best.percent_scanned,
        "bytes_saved": best.bytes_saved,
        "seconds_saved": best.seconds_saved,
        "rewrite_seconds_estimated": best.rewrite_seconds,
        "rewrite_bytes_read": best.rewrite_bytes_read,
        "rewrite_bytes_written": best.rewrite_bytes_written,
        "net_seconds": best.net_seconds(runs),
        "break_even_runs": best.break_even_runs,
        "break_even_days": best.break_even_days,
    }

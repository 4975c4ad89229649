"""The self-organising table: look at the log and the table, decide, act, and write down why.

New data first: what no layout covers is laid out once enough has gathered and when that pays (Self-organising
layouts for Delta (thesis), chapter 5). Otherwise old data, when the workload has drifted and when that pays,
the part with the largest gain first (:mod:`~skipstone.estimate.drifted_files`). The layout is chosen among
all, for the queries of now; while these are those that the newest layout was made for, new data gets its kind
again.

Several optimisers may work at once. Delta lets the first commit win; the other notices, writes down that it
lost and leaves the table to the winner.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from skipstone.actions.prepare import SAMPLE_ROWS, Prepared, Wishes
from skipstone.actions.rewrite import fit_one, rewrite_table
from skipstone.actions.usable import prepare_usable
from skipstone.catalog.decisions import Decision, load_decisions, save_decision
from skipstone.errors import SkipstoneError, TableChangedError
from skipstone.estimate.cost import CostModel
from skipstone.estimate.cost_inputs import economy_of
from skipstone.estimate.drift import distance
from skipstone.estimate.drifted_files import worst_files
from skipstone.estimate.estimate_rewrite import Weighed, weigh
from skipstone.estimate.policy import Policy
from skipstone.estimate.sample_log import merged_entries, representatives
from skipstone.estimate.table_state import Situation
from skipstone.layout.contract import Fitted
from skipstone.progress import Progress, Steps
from skipstone.spark import SparkSession
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.job_progress import watch
from skipstone.spark.engine.open_table import TableFiles
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.spark.querylog.query_log import unlogged
from skipstone.workload.analysis import Analysis, analyze
from skipstone.workload.logged_scans import LoggedScan, filters_of

__all__ = ["auto"]

LOG = logging.getLogger("skipstone")
_GROWTH = 1.25
"""How much more new data or logged queries there must be before a no is questioned."""
_ESTIMATED_NO = frozenset({"READ_TOO_LITTLE", "NOTHING_TO_GAIN", "DOES_NOT_PAY", "CANNOT_FIT"})
_STALE = 0.1
"""After which part of the window a no is questioned in any case, for constants change too."""
_LOOKED_BACK = 8
_STEPS = {"new data": 2, "old data": 2, "fitting": 2, "rewriting": 8}
"""The share that each step has in the work, about."""
_MOST_MINED = 256
"""Queries that features are mined from; the work grows with their square."""
_ROWS_A_BLOCK = 500
_FEWEST_ROWS = 50_000
"""Rows that a layout is fitted on, unless they are more than suffices for any."""


def auto(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    scans: Sequence[LoggedScan],
    policy: Policy,
    model: CostModel,
    act: bool,
    progress: Progress | None = None,
    lazy: bool = False,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Decision:
    """One round: decide and, if ``act``, do it and write the decision down. A dry run leaves no trace.

    With ``lazy`` nothing is estimated anew while the table and its log are much as they were at the last no.
    """
    with unlogged(spark), Steps(progress, len(files.files), _STEPS) as steps:
        seen = Situation(runtime, files, scans, policy, clock())
        terms = {"policy": policy.to_dict(), "costs": model.describe()}
        if lazy and (before := _same_as_before(seen, terms, clock())) is not None:
            return before
        weighed = _considered(spark, runtime, seen, model, steps)
        numbers = {**seen.numbers(), **weighed.numbers, **terms}
        if not (act and weighed.pays):
            decision = Decision(clock().isoformat(), False, weighed.code, weighed.sentence, numbers)
        else:
            decision = _acted(spark, runtime, weighed, numbers, steps, clock)
        return _written_down(runtime, files.root, decision) if act else decision


def _written_down(runtime: Runtime, root: str, decision: Decision) -> Decision:
    try:
        return save_decision(runtime.store(root), decision)
    except SkipstoneError as problem:
        if not decision.acted:
            raise
        # Whoever sees it fail would take the table for untouched.
        LOG.warning("%s was rewritten, but the decision could not be written down: %s", root, problem)
        return decision


def _same_as_before(seen: Situation, terms: Mapping[str, Any], now: datetime) -> Decision | None:
    """The last decision, if it was an estimated no that nothing speaks against by now.

    That is: it is not old, policy and costs are the same, the new data and the log have hardly grown, and the
    queries are about the same things. Appends that took their places in a layout are no answer.
    """
    decisions = load_decisions(seen.runtime.store(seen.files.root), _LOOKED_BACK)
    last = next((each for each in reversed(decisions) if each.code != "LAID_OUT"), None)
    if last is None or last.code not in _ESTIMATED_NO:
        return None
    if any(last.numbers.get(name) != value for name, value in terms.items()):
        return None
    old = now - datetime.fromisoformat(last.time) > timedelta(days=_STALE * seen.policy.window_days)
    numbers = seen.numbers()
    try:
        grown = any(
            numbers[name] > _GROWTH * float(last.numbers.get(name, 0))
            for name in ("unclustered_bytes", "logged_scans")
        )
        moved = distance(last.numbers.get("asked", {}), numbers["asked"]) >= seen.policy.drift
    except (TypeError, ValueError, AttributeError):  # numbers that nobody wrote are no answer
        return None
    return None if old or grown or moved else last


def _considered(
    spark: SparkSession, runtime: Runtime, seen: Situation, model: CostModel, steps: Steps
) -> Weighed:
    """New data if enough has gathered and it pays, else old data if the workload has drifted."""
    files, policy = seen.files, replace(seen.policy, curve=seen.curve)
    entries = filters_of(seen.scans)
    if not entries:
        return Weighed(
            "NO_LOG", f"the log has no query of the last {policy.window_days:g} days on this table", {}
        )
    enough = bool(len(seen.unclustered)) and seen.unclustered_bytes >= seen.awaited_bytes
    drifted = any(layout.drifted(policy) for layout in seen.layouts)
    if enough or drifted:
        try:
            Rewriting(spark, runtime, files.root)
        except SkipstoneError as problem:
            return Weighed("REFUSED", str(problem).rstrip("."), {})
    if enough:
        block_rows = policy.block_rows or _block_rows(seen)
        # What was best for the same queries before will do again; to compare all takes far longer.
        again = () if seen.proven is None else (seen.proven.strategy,)
        known = replace(policy, layouts=policy.layouts or again or None)
        told = steps.step("new data")
        weighed = weigh(spark, runtime, files, seen.unclustered, entries, known, model, block_rows, told)
        weighed.numbers["data"] = "new"
        if weighed.pays:
            return weighed
    else:
        weighed = Weighed(
            "WAITING",
            f"{seen.unclustered_bytes / 1e6:,.1f} MB lie outside any layout; "
            f"{seen.awaited_bytes / 1e6:,.1f} MB are awaited",
            {},
        )
    everything = np.arange(len(files.files))
    if not drifted:
        return weighed
    economy = economy_of(spark, runtime, files, everything, model, entries)
    places = worst_files(files, seen.layouts, merged_entries(entries), economy, policy)
    if len(places) < 2:
        return replace(
            weighed,
            sentence=f"{weighed.sentence}; old data stays although the queries have changed, for no two "
            f"files of theirs are read and fit into a step of {policy.step_bytes / 1e6:,.1f} MB",
        )
    block_rows = policy.block_rows or _block_rows(seen)
    told = steps.step("old data")
    old = weigh(spark, runtime, files, places, entries, policy, model, block_rows, told)
    old.numbers["data"] = "old"
    return old


def _block_rows(seen: Situation) -> int | None:
    """Rows in a block of the size that suits the whole table; None, by the new data alone, if unknown."""
    catalog = seen.runtime.catalog(seen.files.root)
    known = catalog.blocks.rows > 0
    if not known.any():
        return None
    row_bytes = catalog.files.sizes[known].sum() / catalog.blocks.rows[known].sum()
    return max(1, int(seen.block_bytes / row_bytes))


def _acted(
    spark: SparkSession,
    runtime: Runtime,
    weighed: Weighed,
    numbers: dict[str, Any],
    steps: Steps,
    clock: Callable[[], datetime],
) -> Decision:
    assert weighed.prepared is not None
    places = weighed.prepared.places
    started = clock()
    analysis = _analysis(weighed)
    analysed = clock()
    try:
        with watch(spark, steps.step("fitting"), "fitting blocks"):
            prepared, fitted = _fit_well(spark, weighed, analysis)
        told = steps.step("rewriting")
        layout_id, rewritten = rewrite_table(
            spark, runtime, prepared, places, weighed.layout, fitted, told, started=analysed
        )
    except TableChangedError as problem:
        return Decision(clock().isoformat(), False, "LOST_RACE", str(problem).rstrip("."), numbers)
    except SkipstoneError as problem:
        return Decision(clock().isoformat(), False, "FAILED", str(problem).rstrip("."), numbers)
    seconds = (clock() - analysed).total_seconds()
    analysis_seconds = numbers["analysis_seconds"] + (analysed - started).total_seconds()
    numbers = {
        **numbers,
        "analysis_seconds": analysis_seconds,
        "layout_id": layout_id,
        "version": rewritten.version,
        "files_after": rewritten.files_after,
        "bytes_after": rewritten.bytes_after,
        "rewrite_seconds": seconds,
        "analysis_share": analysis_seconds / max(seconds, 1e-9),
    }
    return Decision(clock().isoformat(), True, "PAYS", weighed.sentence, numbers)


def _analysis(weighed: Weighed) -> Analysis:
    """The features of a larger part of the log, as many and as frequent as the estimate found best."""
    assert weighed.prepared is not None
    rough = weighed.prepared.analysis
    if len(weighed.entries) == len(weighed.prepared.entries):
        return rough
    mined = representatives(weighed.entries, _MOST_MINED)
    return analyze(mined, threshold=rough.threshold, num_features=rough.num_features)


def _fit_well(spark: SparkSession, weighed: Weighed, analysis: Analysis) -> tuple[Prepared, Fitted]:
    """The chosen layout, fitted for the whole log on more rows than its estimate was made from."""
    rough = weighed.prepared
    assert rough is not None
    blocks = rough.total_rows / rough.fitting.block_rows
    rows = int(min(SAMPLE_ROWS, max(_FEWEST_ROWS, _ROWS_A_BLOCK * blocks)))
    fitting = rough.fitting
    wishes = Wishes(block_rows=fitting.block_rows, sample_rows=rows, curve=fitting.curve)
    prepared = prepare_usable(
        spark, rough.files, weighed.entries, rough.unusable, wishes, rough.places, analysis
    )
    prepared = replace(prepared, logged=weighed.logged)
    return prepared, fit_one(spark, prepared, weighed.layout)

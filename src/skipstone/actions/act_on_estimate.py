"""Doing what an estimate has chosen: fit the layout well, rewrite, and say how it went."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from skipstone.actions.context import Context
from skipstone.actions.estimate_files import ChosenRewrite, Estimate
from skipstone.actions.lay_out import RewriteResult, RewriteWork, fit_design, rewrite_table
from skipstone.actions.prepare import FitRequest
from skipstone.actions.usable import prepare_usable
from skipstone.catalog.decisions import Decision
from skipstone.errors import SkipstoneError, TableChangedError
from skipstone.estimate.prepared import Prepared
from skipstone.estimate.sample_log import representatives
from skipstone.estimate.verdict import VerdictCode
from skipstone.json_types import JsonObject, json_number
from skipstone.layout.contract import Design
from skipstone.layout.options import SAMPLE_ROWS, LayoutOptions
from skipstone.workload.analysis import Analysis, analyze

__all__ = ["act_on_estimate", "analysis_of", "fit_well"]

_SHARES = {"mining": 1, "fitting": 2, "rewriting": 8}
_MOST_MINED = 256
"""Queries that features are mined from; the work grows with their square."""
_ROWS_A_BLOCK = 500
_FEWEST_ROWS = 50_000
"""Rows that a layout is fitted on, unless they are more than suffices for any."""


def act_on_estimate(context: Context, estimate: Estimate, numbers: JsonObject) -> Decision:
    """Rewrite what pays; ``numbers`` are those of the decision so far."""
    assert estimate.rewrite is not None
    chosen, started = estimate.rewrite, context.clock()
    steps = context.steps(len(chosen.prepared.file_indices), _SHARES)
    steps.begin("mining", "mining features")
    analysis = analysis_of(chosen)
    analysed = context.clock()
    try:
        fitting = context.reporting_to(steps.step("fitting"))
        prepared, fitted = fit_well(fitting, chosen, analysis)
        work = RewriteWork(prepared, chosen.layout, fitted, chosen.costs.sizes, analysed)
        done = rewrite_table(context.reporting_to(steps.step("rewriting")), work)
    except SkipstoneError as problem:
        context.cancel.check()
        code = "LOST_RACE" if isinstance(problem, TableChangedError) else "FAILED"
        return Decision(context.clock().isoformat(), False, code, str(problem).rstrip("."), dict(numbers))
    now = context.clock()
    more = _figures(done, json_number(numbers["analysis_seconds"]), (started, analysed, now))
    sentence = estimate.verdict.sentence
    return Decision(now.isoformat(), True, VerdictCode.PAYS.value, sentence, {**numbers, **more})


def _figures(
    done: RewriteResult, analysis_seconds: float, times: tuple[datetime, datetime, datetime]
) -> dict[str, object]:
    """What is known once it is done; ``times`` are those of the start, the analysis and the end."""
    started, analysed, ended = times
    seconds = (ended - analysed).total_seconds()
    analysis = analysis_seconds + (analysed - started).total_seconds()
    return {
        "analysis_seconds": analysis,
        "layout_id": done.layout_id,
        "version": done.rewritten.version,
        "files_after": done.rewritten.files_after,
        "bytes_after": done.rewritten.bytes_after,
        "rewrite_seconds": seconds,
        "analysis_share": analysis / max(seconds, 1e-9),
    }


def analysis_of(chosen: ChosenRewrite) -> Analysis:
    """The features of a larger part of the log, as many and as frequent as the estimate found best."""
    rough, entries = chosen.prepared.analysis, chosen.usable.entries
    if len(entries) == len(chosen.prepared.entries):
        return rough
    mined = representatives(entries, _MOST_MINED)
    return analyze(mined, threshold=rough.threshold, num_features=rough.num_features)


def fit_well(context: Context, chosen: ChosenRewrite, analysis: Analysis) -> tuple[Prepared, Design]:
    """The chosen layout, fitted for the whole log on more rows than its estimate was made from."""
    rough = chosen.prepared
    block_rows = rough.view.block_rows
    rows = int(min(SAMPLE_ROWS, max(_FEWEST_ROWS, _ROWS_A_BLOCK * rough.total_rows / block_rows)))
    options = LayoutOptions(block_rows=block_rows, sample_rows=rows, own=chosen.own)
    request = FitRequest(
        rough.file_indices,
        chosen.usable.entries,
        rough.unusable,
        options,
        analysis,
        wanted=(chosen.layout,),
    )
    steps = context.steps(len(rough.file_indices), {"sampling": 2, "fitting": 1})
    prepared = prepare_usable(context.table, request, steps.step("sampling"))
    prepared = replace(prepared, logged=chosen.usable.logged)
    fitting = context.reporting_to(steps.step("fitting"))
    fitting.report(f"fitting {chosen.layout}", 0, 1)
    return prepared, fit_design(fitting, prepared, chosen.layout)

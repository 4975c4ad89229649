"""``auto`` and the tree of a table: adapting it stands beside laying files out anew, by cost and benefit."""

from __future__ import annotations

from dataclasses import replace

from skipstone.actions.adapt import rewrite_adapted
from skipstone.actions.context import Context
from skipstone.actions.decide_adaptation import AdaptTerms
from skipstone.actions.estimate_files import Estimate
from skipstone.actions.gather_costs import gather_costs
from skipstone.actions.plan_adaptation import PlannedAdaptation, Window, plan_adaptation, tree_layout
from skipstone.catalog.decisions import Decision
from skipstone.errors import SkipstoneError, TableChangedError
from skipstone.estimate.adapt_or_rewrite import AdaptationFigures, adapt_or_rewrite
from skipstone.estimate.cost import CostModel
from skipstone.estimate.table_state import TableState
from skipstone.estimate.verdict import VerdictCode
from skipstone.json_types import JsonObject, json_number
from skipstone.layout.hyper import HYPER
from skipstone.workload.logged_scans import filters_of

__all__ = ["act_on_adaptation", "consider_adaptation", "numbers_of"]


def consider_adaptation(context: Context, state: TableState, model: CostModel, rewrite: Estimate) -> Estimate:
    """The estimate of a full rewrite, or in its place that of an adaptation which gains more.

    Only trees of ``hyper`` are adapted: others were made for queries, and have drifted from these.
    """
    policy = state.policy
    drifted = [each for each in state.layouts.drifts if each.drifted(policy)]
    if not any(each.record.strategy == HYPER.name for each in drifted):
        return rewrite
    try:
        stored, indices = tree_layout(context)
        if stored.record.strategy != HYPER.name:
            return rewrite
        size = max(context.snapshot.bytes_of(indices), 1)
        entries = filters_of(state.scans)
        days = gather_costs(context.table, indices, model, entries).days
        runs = policy.horizon_days / days if policy.horizon_days is not None and days else 1.0
        most = min(AdaptTerms().most_rewritten, policy.step_bytes / size)
        terms = AdaptTerms(most_rewritten=most, runs=runs, margin=policy.margin)
        planned = plan_adaptation(context, Window(tuple(entries)), model, terms)
    except SkipstoneError as problem:
        context.cancel.check()
        sentence = f"{rewrite.verdict.sentence}; its tree cannot be adapted: {str(problem).rstrip('.')}"
        return replace(rewrite, verdict=replace(rewrite.verdict, sentence=sentence))
    verdict = adapt_or_rewrite(rewrite.verdict, _figures(planned))
    if verdict.code is not VerdictCode.ADAPTS:
        return Estimate(verdict, rewrite.rewrite, None, _figures(planned))
    return Estimate(verdict, None, planned, _figures(planned))


def _figures(planned: PlannedAdaptation) -> AdaptationFigures:
    report = planned.report
    return AdaptationFigures(
        files=report.files_rewritten,
        bytes=report.bytes_rewritten,
        percent_before=report.percent_before,
        percent_after=report.percent_after,
        seconds_saved=report.seconds_saved,
        rewrite_seconds=report.rewrite_seconds_estimated,
        reason=report.reason,
    )


def numbers_of(estimate: Estimate) -> dict[str, object]:
    """What a decision says of an adaptation; of one that is chosen, first what it rewrites."""
    considered = estimate.considered
    if considered is None:
        return {}
    found: dict[str, object] = {"adaptation": considered.to_dict()}
    if estimate.adaptation is not None:
        report = estimate.adaptation.report
        saved = report.seconds_saved / estimate.adaptation.decided.terms.runs
        found |= {
            "files": considered.files,
            "bytes": considered.bytes,
            "data": "old",
            "layout": report.strategy,
            "percent_scanned": considered.percent_after,
            "seconds_saved": saved,
            "rewrite_seconds_estimated": considered.rewrite_seconds,
            "net_seconds": considered.net_seconds,
            "break_even_runs": considered.rewrite_seconds / max(saved, 1e-9),
            "break_even_days": None,
        }
    return found


def act_on_adaptation(context: Context, estimate: Estimate, numbers: JsonObject) -> Decision:
    """Rewrite what was planned; ``numbers`` are those of the decision so far."""
    assert estimate.adaptation is not None
    try:
        done = rewrite_adapted(context, estimate.adaptation)
    except SkipstoneError as problem:
        context.cancel.check()
        code = "LOST_RACE" if isinstance(problem, TableChangedError) else "FAILED"
        return Decision(context.clock().isoformat(), False, code, str(problem).rstrip("."), dict(numbers))
    analysis = estimate.adaptation.report.fit_seconds + json_number(numbers.get("analysis_seconds", 0.0))
    more: dict[str, object] = {
        "analysis_seconds": analysis,
        "layout_id": done.layout_id,
        "version": done.version,
        "files_after": done.files_written,
        "rewrite_seconds": done.rewrite_seconds,
        "analysis_share": analysis / max(done.rewrite_seconds, 1e-9),
    }
    time, verdict = context.clock().isoformat(), estimate.verdict
    return Decision(time, True, verdict.code.value, verdict.sentence, {**numbers, **more})

"""The replicas of a table under ``auto``: what the policy's budget allows, made, refreshed and dropped.

What is decided is in :mod:`skipstone.estimate.decide_replicas`; here its figures are gathered and it is acted
upon. To judge the replicas that there are takes no job. A further one is estimated as a rewrite is, on a
sample, with two differences: queries go on reading the copies that there are where these cost less, and the
layout is fitted for the queries that these serve badly.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from skipstone.actions.act_on_estimate import analysis_of, fit_well
from skipstone.actions.choose_layout import LayoutChoice
from skipstone.actions.context import Context
from skipstone.actions.drop import Drop
from skipstone.actions.estimate_files import ChosenRewrite, Estimate, EstimateRequest, estimate_files
from skipstone.actions.gather_costs import gather_costs
from skipstone.actions.make_partitions import AUTOMATIC, MOST_ROWS, partition_count
from skipstone.actions.refresh import refresh_replicas
from skipstone.actions.replicas import ReplicaStatus, replica_statuses, valid_partitions
from skipstone.actions.replicate import make_replica
from skipstone.catalog.decisions import Decision, load_decisions
from skipstone.catalog.layout_records import LayoutRecord, load_layout
from skipstone.catalog.replica_store import sweep_partitions
from skipstone.errors import SkipstoneError, TableChangedError
from skipstone.estimate.copy_costs import CopyCosts, Worth
from skipstone.estimate.cost import CostModel, Extent, RewriteFeatures
from skipstone.estimate.cost_inputs import CostInputs
from skipstone.estimate.decide_replicas import (
    Budget,
    ReplicaCode,
    ReplicaFigures,
    ReplicaVerdict,
    decide_kept,
    decide_new,
    outbid,
)
from skipstone.estimate.estimate_rewrite import REPLICA
from skipstone.estimate.policy import Policy
from skipstone.estimate.replica_budget import budget_bytes
from skipstone.estimate.reuse_decision import LOOKED_BACK
from skipstone.estimate.rewrite_features import features_of_groups, rewrite_features
from skipstone.estimate.sample_log import merged_entries, representatives
from skipstone.estimate.table_state import TableState
from skipstone.json_types import JsonObject
from skipstone.layout.stored_layout import design_of
from skipstone.spark.querylog.query_log import replica_uses
from skipstone.workload.logged_scans import filters_of

__all__ = ["ReplicaRound", "act_on_replicas", "consider_replicas"]

_MOST_JUDGES = 128
"""Queries that replicas are judged by; of a longer log, as many stand for all."""
_LASTING = 0.1
"""For how much of the window no replica is made after one was dropped."""
_SHARES = {"fitting": 2, "copying": 8}


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaRound:
    """What is to be done about replicas, the figures behind it, and the estimate of a further one."""

    verdict: ReplicaVerdict
    figures: tuple[ReplicaFigures, ...]
    budget: Budget
    new: Estimate | None = None

    def combined(self, code: str, sentence: str) -> tuple[str, str]:
        """Code and sentence of the round, in which nothing is rewritten for a reason."""
        if self.verdict.code.acts:
            return self.verdict.code.value, self.verdict.sentence
        return code, f"{sentence}; replicas stay as they are: {self.verdict.sentence}"

    def to_dict(self) -> dict[str, object]:
        """As decisions are stored."""
        found: dict[str, object] = {
            **self.verdict.to_dict(),
            "budget": asdict(self.budget),
            "replicas": [asdict(each) for each in self.figures],
        }
        if self.new is not None and self.new.verdict.figures is not None:
            found["estimate"] = self.new.verdict.figures.to_dict()
        return found


def consider_replicas(context: Context, state: TableState, model: CostModel) -> ReplicaRound:
    """Judge the replicas that there are and, if they stay as they are, a further one."""
    table, policy = context.table, state.policy
    assert policy.replica_budget is not None
    entries = filters_of(state.scans)
    inputs = gather_costs(table, table.file_indices, model, entries)
    size = table.files.bytes
    budget = Budget.of(budget_bytes(policy.replica_budget, size), size, policy, inputs.days)
    valid = valid_partitions(table.replicas, context.snapshot)
    copies = CopyCosts(context.snapshot, table.replicas, valid, inputs)
    judges = representatives(merged_entries(entries), _MOST_JUDGES)
    uses = replica_uses(context.engine, table.root)
    statuses = replica_statuses(context, table.replicas, uses)
    figures = tuple(_figures(context, each, copies.worth(judges, each.id), inputs) for each in statuses)
    verdict = decide_kept(figures, budget) or decide_new(figures, budget, _dropped_lately(context, policy))
    if verdict is not None:
        return ReplicaRound(verdict, figures, budget)
    request = EstimateRequest(
        table.file_indices, REPLICA, entries, policy, model, _fitted_rows(state), state.layout_options, copies
    )
    estimate = estimate_files(context, request)
    return ReplicaRound(outbid(figures, budget, estimate.verdict), figures, budget, estimate)


def _dropped_lately(context: Context, policy: Policy) -> str:
    """Why a replica was dropped in the last tenth of the window, if one was and not for another one."""
    codes = {ReplicaCode.DROP_OVER_BUDGET.value, ReplicaCode.DROP_UNUSED.value}
    since = context.clock() - timedelta(days=_LASTING * policy.window_days)
    found = [each for each in load_decisions(context.store, LOOKED_BACK) if each.acted and each.code in codes]
    late = [each.sentence for each in found if datetime.fromisoformat(each.time) > since]
    return late[-1] if late else ""


def _fitted_rows(state: TableState) -> int | None:
    """Rows of a block that a replica's design is fitted with: each of its partitions has all blocks."""
    return None if state.block_rows is None else state.block_rows * _partitions(state)


def _partitions(state: TableState) -> int:
    rows = state.catalog.blocks.rows
    return max(1, round(float(rows[rows > 0].sum()) / MOST_ROWS))


def _figures(context: Context, status: ReplicaStatus, worth: Worth, inputs: CostInputs) -> ReplicaFigures:
    record = _record(context, status.id)
    stale = context.snapshot.files.bytes - status.bytes_covered
    return ReplicaFigures(
        id=status.id,
        automatic=record is not None and record.parameters.get(AUTOMATIC) is True,
        bytes=status.bytes,
        stale_bytes=stale,
        seconds_saved=worth.seconds_saved,
        # Without its layout it cannot be refreshed.
        refresh_seconds_saved=0.0 if record is None else worth.refresh_seconds_saved,
        refresh_seconds=0.0 if record is None else _copy_seconds(record, stale, inputs),
        scans=status.scans,
    )


def _record(context: Context, replica: str) -> LayoutRecord | None:
    try:
        return load_layout(context.store, replica, context.snapshot.root)
    except SkipstoneError:
        context.cancel.check()
        return None


def _copy_seconds(record: LayoutRecord, size: int, inputs: CostInputs) -> float:
    """What it takes to copy so many bytes by a stored layout."""
    per_row, design = inputs.sizes.of(), design_of(record)
    rows = size / per_row.bytes if per_row.bytes else 0.0
    if len(design.groups) > 1:
        costs = inputs.model.coefficients
        return costs.rewrite_seconds(features_of_groups(design.groups, rows, inputs.sizes))
    group, extent = record.group, Extent.of(rows, per_row)
    placed: RewriteFeatures = rewrite_features(design.group.assignment, (), extent)
    features = replace(placed, additional=len(group.features) + len(group.expressions))
    return inputs.model.coefficients.rewrite_seconds(features)


def act_on_replicas(
    context: Context, state: TableState, found: ReplicaRound, numbers: JsonObject
) -> Decision:
    """Do what was decided; ``numbers`` are those of the decision so far."""
    verdict = found.verdict
    try:
        more = _acted(context, state, found)
    except SkipstoneError as problem:
        context.cancel.check()
        code = "LOST_RACE" if isinstance(problem, TableChangedError) else "FAILED"
        return Decision(context.clock().isoformat(), False, code, str(problem).rstrip("."), dict(numbers))
    sweep_partitions(context.store)
    return Decision(
        context.clock().isoformat(), True, verdict.code.value, verdict.sentence, {**numbers, **more}
    )


def _acted(context: Context, state: TableState, found: ReplicaRound) -> dict[str, object]:
    """What is known once it is done."""
    verdict = found.verdict
    if verdict.code is ReplicaCode.REFRESH_PAYS:
        return {"refreshed": refresh_replicas(context, (verdict.replica,)).to_dict()}
    if verdict.code is not ReplicaCode.REPLICA_PAYS:
        return {"dropped": Drop(verdict.replica).run(context).to_dict()}
    assert found.new is not None
    assert found.new.rewrite is not None
    steps = context.steps(len(context.snapshot), _SHARES)
    chosen = _fitted(context.reporting_to(steps.step("fitting")), found.new.rewrite)
    parts = _partitions(state)
    rows = chosen.prepared.total_rows
    block_rows = max(1, chosen.prepared.view.block_rows // parts)
    if chosen.design is not None and len(chosen.design.groups) > 1:
        parts = max(parts, partition_count(rows, several_groups=True))
    copying = context.reporting_to(steps.step("copying"))
    made = make_replica(copying, chosen, rows / parts, block_rows, automatic=True)
    return {"made": made.to_dict(), "layout": made.layout}


def _fitted(context: Context, rewrite: ChosenRewrite) -> LayoutChoice:
    """The chosen layout, fitted for all queries on as many rows as it deserves."""
    prepared, design = fit_well(context, rewrite, analysis_of(rewrite))
    return LayoutChoice(prepared, rewrite.advice, rewrite.layout, design, rewrite.costs.sizes)

"""``auto``: look at the log and the table, decide, act, and write down why.

New data first: what no layout covers is laid out once enough has gathered and when that pays (Self-organising
layouts for Delta (thesis), chapter 5). Otherwise old data, when the workload has drifted and when that pays,
the part with the largest gain first (:mod:`~skipstone.estimate.drifted_files`). The layout is chosen among
all, for the queries of now; while these are those that the newest layout was made for, new data gets its kind
again. A tree that was made without queries is also adapted to them, where that gains more
(:mod:`~skipstone.estimate.adapt_or_rewrite`).

With a budget for replicas, a round in which nothing is rewritten looks at these
(:mod:`~skipstone.actions.auto_replicas`).

Several optimisers may work at once. Delta lets the first commit win; the other notices, writes down that it
lost and leaves the table to the winner.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import ClassVar

from skipstone.actions.act_on_estimate import act_on_estimate
from skipstone.actions.auto_replicas import act_on_replicas, consider_replicas
from skipstone.actions.consider_adaptation import act_on_adaptation, consider_adaptation, numbers_of
from skipstone.actions.context import Context
from skipstone.actions.cost_store import load_model
from skipstone.actions.estimate_files import Estimate, EstimateRequest, estimate_files
from skipstone.actions.gather_costs import gather_costs
from skipstone.actions.index import Index
from skipstone.actions.read_table_state import read_table_state, require_delta
from skipstone.catalog.decisions import Decision, load_decisions, save_decision
from skipstone.errors import SkipstoneError
from skipstone.estimate.cost import CostModel
from skipstone.estimate.drifted_files import drifted_files
from skipstone.estimate.policy import Policy, policy_or_default
from skipstone.estimate.reuse_decision import LOOKED_BACK, decision_that_holds
from skipstone.estimate.sample_log import merged_entries
from skipstone.estimate.table_state import TableState
from skipstone.estimate.verdict import Verdict, VerdictCode
from skipstone.progress import Steps
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.cancellation import shielded
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.workload.logged_scans import filters_of

__all__ = ["Auto"]

LOG = logging.getLogger("skipstone")
_SHARES = {"log": 0.5, "new data": 2.0, "old data": 2.0, "replicas": 2.0, "acting": 10.0}
_INDEXING = {"indexing": 5.0}
"""The share that each step has in the work, about."""


@dataclass(frozen=True, slots=True, eq=False)
class Auto:
    """One round: decide and, if ``act``, do it and write the decision down. A dry run leaves no trace.

    A table without statistics is indexed first, for only the scans of indexed tables are logged. With
    ``lazy`` nothing is estimated anew while the last negative decision holds. ``model`` is the stored cost
    model by default.
    """

    name: ClassVar[str] = "auto --once"

    act: bool = True
    policy: Policy | None = None
    lazy: bool = False
    model: CostModel | None = None

    def validate(self, context: Context) -> None:
        """Refuse what is no policy, and a table that cannot be rewritten in place."""
        policy_or_default(self.policy)
        require_delta(context)

    def run(self, context: Context) -> Decision:
        """Index if need be, look, decide and act."""
        context.table.refresh()
        indexing = _INDEXING if self.act and not context.catalog.segments else {}
        with context.steps(len(context.snapshot), indexing | _SHARES) as steps:
            if indexing:
                Index().run(context.reporting_to(steps.step("indexing")))
            decision = self._decide(context, steps)
        if decision.acted:
            with shielded(context.engine.spark):
                context.source.bind()
        return decision

    def _decide(self, context: Context, steps: Steps) -> Decision:
        policy = policy_or_default(self.policy)
        model = self.model or load_model(context.engine)
        steps.begin("log", "reading the query log")
        state = read_table_state(context, policy)
        terms: dict[str, object] = {"policy": policy.to_dict(), "costs": model.describe()}
        if self.lazy:
            decisions = load_decisions(context.store, LOOKED_BACK)
            if (before := decision_that_holds(decisions, state, terms, context.clock())) is not None:
                return before
        estimate = _Considering(context, state, model, steps).estimate()
        verdict = estimate.verdict
        figures = {} if verdict.figures is None else verdict.figures.to_dict()
        numbers = {**state.figures.to_dict(), **figures, **terms, **numbers_of(estimate)}
        code, sentence, copies = verdict.code.value, verdict.sentence, None
        rewrites = estimate.rewrite is not None or estimate.adaptation is not None
        if not rewrites and state.scans and policy.replica_budget is not None:
            copies = consider_replicas(context.reporting_to(steps.step("replicas")), state, model)
            numbers["replicas"] = copies.to_dict()
            code, sentence = copies.combined(code, sentence)
        acting = context.reporting_to(steps.step("acting")) if self.act else context
        if self.act and rewrites:
            act = act_on_estimate if estimate.adaptation is None else act_on_adaptation
            decision = act(acting, estimate, numbers)
        elif self.act and copies is not None and copies.verdict.code.acts:
            decision = act_on_replicas(acting, state, copies, numbers)
        else:
            decision = Decision(context.clock().isoformat(), False, code, sentence, numbers)
        return _written_down(context, decision) if self.act else decision


def _written_down(context: Context, decision: Decision) -> Decision:
    try:
        return save_decision(context.store, decision)
    except SkipstoneError as problem:
        if not decision.acted:
            raise
        # Whoever sees it fail would take the table for untouched.
        root = context.snapshot.root
        LOG.warning("%s was changed, but the decision could not be written down: %s", root, problem)
        return decision


@dataclass(frozen=True, slots=True, eq=False)
class _Considering:
    """New data if enough has gathered and it pays, else old data if the workload has drifted."""

    context: Context
    state: TableState
    model: CostModel
    steps: Steps

    def estimate(self) -> Estimate:
        """The estimate that the round is decided by."""
        state = self.state
        if (verdict := _no_log(state) or self._refused()) is not None:
            return Estimate(verdict)
        found = self._new_data() if state.enough_new_data else Estimate(_waiting(state))
        if found.rewrite is not None or not state.old_data_drifted:
            return found
        return self._old_data(found)

    def _refused(self) -> Verdict | None:
        """Whether the table must not be rewritten, if there is something to rewrite."""
        if not (self.state.enough_new_data or self.state.old_data_drifted):
            return None
        try:
            Rewriting(self.context.table)
        except SkipstoneError as problem:
            self.context.cancel.check()
            return Verdict(VerdictCode.REFUSED, str(problem).rstrip("."))
        return None

    def _new_data(self) -> Estimate:
        # What was best for the same queries before will do again; to compare all takes far longer.
        policy, proven = self.state.policy, self.state.proven
        again = None if proven is None else (proven.strategy,)
        known = replace(policy, layouts=policy.layouts or again)
        return self._estimated("new", self.state.unclustered, known)

    def _old_data(self, found: Estimate) -> Estimate:
        """Old data, up to a step; ``found`` if there is no such step."""
        context, policy = self.context, self.state.policy
        entries = filters_of(self.state.scans)
        costs = gather_costs(context.table, context.table.file_indices, self.model, entries)
        drifts = self.state.layouts.drifts
        indices = drifted_files(context.snapshot.files, drifts, merged_entries(entries), costs, policy)
        if len(indices) <= 1:
            sentence = (
                f"{found.verdict.sentence}; old data stays although the queries have changed, for no two "
                f"files of theirs are read and fit into a step of {policy.step_bytes / 1e6:,.1f} MB"
            )
            return replace(found, verdict=replace(found.verdict, sentence=sentence))
        estimated = self._estimated("old", indices, policy)
        return consider_adaptation(context, self.state, self.model, estimated)

    def _estimated(self, data: str, indices: Counts, policy: Policy) -> Estimate:
        request = EstimateRequest(
            file_indices=indices,
            data=data,
            entries=filters_of(self.state.scans),
            policy=policy,
            model=self.model,
            block_rows=self.state.block_rows,
            own=self.state.layout_options,
        )
        progress = self.steps.step(f"{data} data")
        return estimate_files(self.context.reporting_to(progress), request)


def _no_log(state: TableState) -> Verdict | None:
    if state.scans:
        return None
    days = state.policy.window_days
    return Verdict(VerdictCode.NO_LOG, f"the log has no query of the last {days:g} days on this table")


def _waiting(state: TableState) -> Verdict:
    figures = state.figures
    return Verdict(
        VerdictCode.WAITING,
        f"{figures.unclustered_bytes / 1e6:,.1f} MB lie outside any layout; "
        f"{figures.awaited_bytes / 1e6:,.1f} MB are awaited",
    )

"""Estimating a rewrite of some files: the steps of :mod:`skipstone.estimate.estimate_rewrite`, with a sample.

Each step runs only if the one before has not decided it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from skipstone.actions.context import Context
from skipstone.actions.gather_costs import gather_costs
from skipstone.actions.plan_adaptation import PlannedAdaptation
from skipstone.actions.prepare import FitRequest, prepare
from skipstone.actions.usable import with_usable
from skipstone.errors import SkipstoneError
from skipstone.estimate.adapt_or_rewrite import AdaptationFigures
from skipstone.estimate.advice import Advice, advise
from skipstone.estimate.copy_costs import CopyCosts
from skipstone.estimate.cost import CostModel
from skipstone.estimate.cost_inputs import CostInputs, current_layout
from skipstone.estimate.estimate_rewrite import (
    FileGroup,
    after_simulating,
    before_sampling,
    before_simulating,
    cannot_fit,
    first_figures,
    sample_figures,
    sample_rows,
)
from skipstone.estimate.policy import Policy
from skipstone.estimate.prepared import Prepared
from skipstone.estimate.sample_log import merged_entries, representatives
from skipstone.estimate.verdict import RewriteFigures, Verdict
from skipstone.layout.layouts import REPLICA_LAYOUTS
from skipstone.layout.options import LayoutOptions
from skipstone.progress import Steps
from skipstone.pruning.blocks import Counts
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.unusable import Usable

__all__ = ["ChosenRewrite", "Estimate", "EstimateRequest", "estimate_files"]

_MOST_FITTED_FOR = 64
_MOST_JUDGES = 48
"""Queries that layouts are fitted for in an estimate, and those they are judged by; of a longer log, as many
stand for all."""


@dataclass(frozen=True, slots=True, eq=False)
class EstimateRequest:
    """Which files to estimate a rewrite of, for which queries; ``data`` is ``new`` or ``old``.

    ``own`` are options of single layouts; ``block_rows`` is chosen by the size of the files if it is None.
    With ``copies``, what queries read of the copies that there are, it is a further copy that is estimated.
    """

    file_indices: Counts
    data: str
    entries: tuple[LoggedFilter, ...]
    policy: Policy
    model: CostModel
    block_rows: int | None = None
    own: Mapping[str, str] = field(default_factory=dict)
    copies: CopyCosts | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ChosenRewrite:
    """A rewrite that pays: the layout, and what it was estimated with.

    ``usable`` is the whole log as far as it can be used.
    """

    layout: str
    prepared: Prepared
    usable: Usable
    costs: CostInputs
    own: Mapping[str, str]
    advice: Advice


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The verdict and, if it pays, the rewrite, or the adaptation of a tree that gains more.

    ``considered`` are the figures of an adaptation, whatever was decided.
    """

    verdict: Verdict
    rewrite: ChosenRewrite | None = None
    adaptation: PlannedAdaptation | None = None
    considered: AdaptationFigures | None = None


def estimate_files(context: Context, request: EstimateRequest) -> Estimate:
    """Judge a rewrite of the requested files; nothing is changed."""
    started = context.clock()
    found = _estimate(context, request)
    figures = found.verdict.figures
    if figures is None:
        return found
    seconds = (context.clock() - started).total_seconds()
    timed = replace(found.verdict, figures=replace(figures, analysis_seconds=seconds))
    return replace(found, verdict=timed)


def _estimate(context: Context, request: EstimateRequest) -> Estimate:
    policy, size = request.policy, context.snapshot.bytes_of(request.file_indices)
    costs = gather_costs(context.table, request.file_indices, request.model, request.entries)
    costs = replace(costs, beside=request.copies is not None)
    group = FileGroup(len(request.file_indices), size, request.data)
    figures = first_figures(group, request.entries, policy, costs)
    if (verdict := before_sampling(figures)) is not None:
        return Estimate(verdict)
    with context.steps(len(request.file_indices), {"sampling": 1, "simulating": 2}) as steps:
        sampled = _sampled(context, request, figures, steps)
        if isinstance(sampled, Verdict):
            return Estimate(sampled)
        prepared, usable = sampled
        current = current_layout(prepared, costs)
        if request.copies is not None:
            current = request.copies.scanned(prepared.asked.view.filters, current)
        figures = replace(figures, unusable=usable.unusable).with_sample(
            sample_figures(prepared, current, costs)
        )
        if (verdict := before_simulating(figures)) is not None:
            return Estimate(verdict)
        # Reporting also ends the work between two layouts if somebody has asked for that.
        report = context.reporting_to(steps.step("simulating")).report
        advice = advise(prepared, _layouts(request), report, costs, current)
    verdict = after_simulating(figures, advice)
    if not verdict.pays or verdict.figures is None or verdict.figures.best is None:
        return Estimate(verdict)
    layout = verdict.figures.best.layout
    return Estimate(verdict, ChosenRewrite(layout, prepared, usable, costs, request.own, advice))


def _layouts(request: EstimateRequest) -> tuple[str, ...] | None:
    """What the policy asks for, if anything, as far as it can be made."""
    wanted = request.policy.layouts
    if wanted is None or request.copies is not None:
        return wanted
    return tuple(name for name in wanted if name not in REPLICA_LAYOUTS)


def _sampled(
    context: Context, request: EstimateRequest, figures: RewriteFigures, steps: Steps
) -> tuple[Prepared, Usable] | Verdict:
    """A small sample and the queries that can be used; a verdict if nothing can be fitted to them."""
    progress = steps.step("sampling")
    options = LayoutOptions(
        block_rows=request.block_rows,
        sample_rows=sample_rows(figures, request.policy),
        rough=True,
        own=request.own,
    )
    unusable = figures.unusable

    def rough(usable: Usable) -> tuple[Prepared, Usable]:
        nonlocal unusable
        unusable = usable.unusable
        asked = usable.entries
        if request.copies is not None:
            usable = replace(usable, entries=request.copies.badly_served(asked))
        fitted_for = representatives(usable.entries, _MOST_FITTED_FOR)
        # A layout made for few queries serves these better than it serves the others.
        judges = None if fitted_for == asked else representatives(asked, _MOST_JUDGES, 0.0)
        wanted = FitRequest(
            request.file_indices,
            fitted_for,
            usable.unusable,
            options,
            judges=judges,
            wanted=_layouts(request) or (),
            replica=request.copies is not None,
        )
        return prepare(context.table, wanted, progress), usable

    try:
        return with_usable(context.table, merged_entries(request.entries), rough)
    except SkipstoneError as problem:
        context.cancel.check()
        return cannot_fit(replace(figures, unusable=unusable), str(problem))

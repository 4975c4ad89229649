"""Planning an adaptation: the table's tree, a sample of its files, the decision, and its report.

Nothing is written. ``adapt`` rewrites what was planned, and ``auto`` holds it against a full rewrite first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skipstone.actions.adapt_report import AdaptReport, AttributeShare, ChangeFigures
from skipstone.actions.context import Context
from skipstone.actions.decide_adaptation import AdaptTerms, Decided, decide_adaptation
from skipstone.actions.gather_costs import gather_costs
from skipstone.actions.prepare import FitRequest
from skipstone.actions.usable import prepare_usable
from skipstone.catalog.column_sizes import ColumnSizes
from skipstone.errors import SkipstoneError
from skipstone.estimate.cost import CostModel
from skipstone.estimate.prepared import Prepared
from skipstone.estimate.unclustered import files_by_layout, layouts_in_use
from skipstone.layout.hyper import HYPER
from skipstone.layout.one_tree import one_tree, with_partition_values
from skipstone.layout.options import SAMPLE_ROWS, LayoutOptions
from skipstone.layout.stored_layout import StoredLayout, stored_layout
from skipstone.pruning.blocks import Counts
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import BrokenQuery

__all__ = ["PlannedAdaptation", "Window", "plan_adaptation", "tree_layout"]

_SHARES = {"sampling": 4, "deciding": 3}
_ROWS_A_FILE = 100
_FEWEST_ROWS = 50_000
_DONE = "its tree was adapted to just these queries already"
_NOTHING = "no change of its tree saves more than rewriting the blocks would cost"


@dataclass(frozen=True, slots=True)
class Window:
    """The queries that a tree is to be adapted to, and statements of them that cannot be used."""

    entries: tuple[LoggedFilter, ...]
    unusable: tuple[BrokenQuery, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PlannedAdaptation:
    """An adaptation that is not done yet; its report has no changes if there is nothing to do."""

    prepared: Prepared
    stored: StoredLayout
    decided: Decided
    sizes: ColumnSizes
    report: AdaptReport


def plan_adaptation(
    context: Context, window: Window, model: CostModel, terms: AdaptTerms
) -> PlannedAdaptation:
    """Look at the tree and the queries, and decide."""
    started = context.clock()
    stored, indices = tree_layout(context)
    with context.steps(len(indices), _SHARES) as steps:
        request = _request(stored, indices, window)
        prepared = _with_partitions(prepare_usable(context.table, request, steps.step("sampling")))
        steps.begin("deciding", "adapting the tree")
        inputs = gather_costs(context.table, indices, model, prepared.entries)
        decided = decide_adaptation(prepared, stored, inputs, terms)
    report = _report(prepared, stored, decided)
    report = replace(report, fit_seconds=(context.clock() - started).total_seconds())
    return PlannedAdaptation(prepared, stored, decided, inputs.sizes, report)


def tree_layout(context: Context) -> tuple[StoredLayout, Counts]:
    """The newest layout that is a tree, and the indices of the files that lie by it."""
    files, catalog, root = context.snapshot.files, context.catalog, context.snapshot.root
    for layout in layouts_in_use(files, catalog):
        stored = stored_layout(context.store, layout, root)
        if stored is not None and one_tree(stored.design.groups[0].assignment) is not None:
            lineage = dict.fromkeys(stored.record.adapted_from, layout)
            return stored, np.sort(files_by_layout(files, catalog, lineage)[layout])
    raise SkipstoneError(
        f"{root} is not laid out by a tree that could be adapted; lay it out by one first "
        "(skipstone optimize --layout hyper)."
    )


def _request(stored: StoredLayout, indices: Counts, window: Window) -> FitRequest:
    rows = min(SAMPLE_ROWS, max(_FEWEST_ROWS, _ROWS_A_FILE * len(indices)))
    record = stored.record
    options = LayoutOptions(
        block_rows=record.block_rows, sample_rows=rows, partition_by=record.partition_by, own=record.options
    )
    # All columns are sampled, as for hyper, for what they lose is told whoever made the tree.
    return FitRequest(indices, window.entries, window.unusable, options, wanted=(HYPER.name,))


def _with_partitions(prepared: Prepared) -> Prepared:
    """With the values of horizontal partitions as a column, for their trees hang on cuts of it."""
    sample = prepared.view.sample
    if sample.partition_by is None:
        return prepared
    sample = with_partition_values(sample, sample.partition_by)
    return replace(prepared, view=replace(prepared.view, sample=sample))


def _report(prepared: Prepared, stored: StoredLayout, decided: Decided) -> AdaptReport:
    found, names = decided.adaptation, prepared.snapshot.logical_names
    done_before = bool(stored.record.adapted_from) and stored.record.fingerprint == prepared.fingerprint
    changes = found.changes if decided.pays and not done_before else ()
    weights = max(float(prepared.workload.queries.weights.sum()), 1e-9)
    whole = 100 / max(prepared.total_rows, 1) / weights
    return AdaptReport(
        root=prepared.snapshot.root,
        strategy=stored.record.strategy,
        adapted_from=stored.record.id,
        layout_id="",
        reason="" if changes else _DONE if done_before else _NOTHING,
        queries=weights,
        files=len(prepared.file_indices),
        bytes=prepared.bytes,
        files_rewritten=len(decided.file_indices) if changes else 0,
        bytes_rewritten=prepared.snapshot.bytes_of(decided.file_indices) if changes else 0,
        files_written=sum(len(change.grown.leaves) for change in changes),
        percent_before=decided.before.rows * whole,
        percent_after=(decided.after if changes else decided.before).rows * whole,
        seconds_saved=decided.seconds_saved if changes else 0.0,
        rewrite_seconds_estimated=decided.rewrite_seconds if changes else 0.0,
        changes=tuple(
            ChangeFigures(len(change.units), len(change.grown.leaves), change.saved, change.cost)
            for change in changes
        ),
        attributes=tuple(
            AttributeShare(
                names.sql(expr),
                expr in found.queried,
                share,
                (found.after if changes else found.before)[expr],
            )
            for expr, share in found.before.items()
        ),
        fit_seconds=0.0,
        unusable=prepared.unusable,
    )

"""Rewriting by a layout: fit it on all there is to know, write, and keep what later rows need."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass, replace
from datetime import datetime

from skipstone.actions.context import Context
from skipstone.actions.cost_store import remember
from skipstone.catalog.column_sizes import ColumnSizes
from skipstone.catalog.layout_records import GroupRecord, LayoutRecord, save_layout
from skipstone.catalog.logical_names import LogicalNames
from skipstone.catalog.tracked import Tracked, TrackedSet
from skipstone.errors import SkipstoneError, TableChangedError
from skipstone.estimate.advice import features_of_rewrite
from skipstone.estimate.cost import Observation
from skipstone.estimate.prepared import Prepared
from skipstone.layout.assignment import Assignment
from skipstone.layout.contract import Design
from skipstone.layout.layouts import options_for
from skipstone.layout.needless_dictionaries import needless_dictionaries
from skipstone.layout.numbers import block_numbers
from skipstone.layout.stored_layout import group_record
from skipstone.predicate.codec import to_json
from skipstone.predicate.expr import type_of
from skipstone.predicate.joined_column import columns_asked
from skipstone.predicate.partner import partners_in
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.assign import Placing
from skipstone.spark.engine.copy_groups import GroupsPlan
from skipstone.spark.engine.draw_sample import count_vectors
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.resolve_tracked import (
    joined_columns_now,
    rendered_expressions,
    rendered_features,
    still_tracked,
    tracked_columns,
)
from skipstone.spark.engine.rewrite import Plan, Rewriting, Rewritten

__all__ = [
    "RewriteResult",
    "RewriteWork",
    "fit_design",
    "grouped_records",
    "layout_record",
    "plan_of",
    "rewrite_table",
]

LOG = logging.getLogger("skipstone")
_PAGE_ROWS = 20_000
"""Rows of a Parquet page at most. In a block of one page no reader can make use of an order."""


@dataclass(frozen=True, slots=True, eq=False)
class RewriteWork:
    """What is to be rewritten: the prepared files, by a design.

    ``sizes`` are those of the files' columns, ``started`` is when the work began if that was before now.
    ``stored`` is the design that is kept for later rows, if it is not the one that the files are written by.
    """

    prepared: Prepared
    layout: str
    design: Design
    sizes: ColumnSizes
    started: datetime | None = None
    stored: Design | None = None


@dataclass(frozen=True, slots=True)
class RewriteResult:
    """The id under which the layout is stored, and what was done."""

    layout_id: str
    rewritten: Rewritten


def fit_design(context: Context, prepared: Prepared, layout: str, sampled: Design | None = None) -> Design:
    """The design of a layout that was chosen already; ``sampled`` is the one for the sample, if there is one.

    A layout that needs feature vectors gets those of all rows, which Spark has reduced to their counts.
    """
    if not prepared.needs(layout).vector_counts:
        return sampled or prepared.fit(layout)
    features = [feature.predicate for feature in prepared.workload.features]
    names = prepared.snapshot.logical_names
    texts = [
        names.sql(feature.predicate) if partners_in(feature.predicate) else feature.text
        for feature in prepared.workload.features
    ]
    by = None if prepared.partition is None else prepared.partition.expr
    with context.engine.watch(context.progress, "counting vectors"):
        found = count_vectors(context.table, prepared.file_indices, texts, by, features)
    return replace(prepared, view=replace(prepared.view, vector_counts=found)).fit(layout)


def rewrite_table(context: Context, work: RewriteWork) -> RewriteResult:
    """Rewrite the prepared files, store the layout and remember how long it took.

    What was written to the table since it was listed stays as it is.
    """
    begun, created = work.started or context.clock(), context.clock().isoformat()
    layout_id = uuid.uuid4().hex[:12]
    rewriting = Rewriting(context.table)
    plan = replace(
        plan_of(context.table, work, layout_id, created),
        chosen=_indices_now(work.prepared, rewriting.before),
    )
    rewritten = rewriting.run(plan, context.progress)
    _store_layout(context, layout_record(work, plan, rewritten.version))
    seconds = (context.clock() - begun).total_seconds()
    features = features_of_rewrite(work.prepared, work.design, work.sizes)
    remember(context.engine, [Observation.rewrite(features, seconds)])
    return RewriteResult(layout_id, rewritten)


def plan_of(table: OpenTable, work: RewriteWork, layout_id: str, created: str) -> Plan:
    """How the prepared files are written."""
    prepared, group = work.prepared, work.design.group
    names = table.snapshot.logical_names
    sorted_by = group.sort if prepared.view.block_rows > _PAGE_ROWS else ()
    return Plan(
        chosen=prepared.file_indices,
        placing=Placing.of(table, group.assignment),
        no_dictionaries=_no_dictionaries(prepared, group.assignment),
        sort=tuple(names.sql(expr) for expr in sorted_by),
        tracked=_to_track(table, prepared, work.design),
        # A file of a layout shows few of a column's values, so the new files are no sample of them.
        values=prepared.view.sample.few_values(),
        layout=layout_id,
        created=created,
    )


def _no_dictionaries(prepared: Prepared, assignment: Assignment) -> tuple[str, ...]:
    view, atoms = prepared.view, prepared.workload.queries.atoms
    found = needless_dictionaries(
        view.sample, lambda: block_numbers(assignment, view.sample, atoms), view.block_rows
    )
    return tuple(column.path[0] for column in found)


def _indices_now(prepared: Prepared, before: OpenTable) -> Counts:
    """Where the prepared files are in the table as it is now; others may have come and gone meanwhile."""
    snapshot = prepared.snapshot
    found = snapshot.files.some(prepared.file_indices).indices_in(before.files)
    if (found < 0).any() or not snapshot.has_columns_of(before.snapshot):
        raise TableChangedError(f"{snapshot.root} was changed while its layout was fitted; run it again.")
    return found


def _to_track(table: OpenTable, prepared: Prepared, design: Design) -> TrackedSet:
    """Statistics of all columns, what the layout and the workload want, and what `index` was asked for."""
    names = table.snapshot.logical_names
    columns = TrackedSet(tracked_columns(table.snapshot.schema), prepared.workload.features)
    mined = {feature.predicate for feature in columns.features}
    own = [feature.predicate for feature in prepared.features_of(design)]
    wanted = TrackedSet(
        rendered_expressions(table, [names.sql(expr) for expr in prepared.expressions_of(design)]),
        rendered_features(table, [predicate for predicate in own if predicate not in mined]),
        joined_columns_now(table, columns_asked(prepared.workload.queries.atoms)),
    )
    asked = [segment for segment in table.catalog.segments if not segment.layout]
    earlier = still_tracked(
        table,
        [text for segment in asked for text in segment.expression_texts],
        [feature for segment in asked for feature in segment.blocks.features],
        [column for segment in asked for column in segment.joined_columns],
    )
    return columns.with_more(wanted).with_more(earlier)


def layout_record(work: RewriteWork, plan: Plan | GroupsPlan, version: int) -> LayoutRecord:
    """What is kept of a layout, for later rows and for whoever looks."""
    prepared, design = work.prepared, work.stored or work.design
    if isinstance(plan, Plan):
        groups: tuple[GroupRecord, ...] = (group_record(design.group, plan.sort, plan.tracked),)
    else:
        groups = grouped_records(design, prepared.snapshot.logical_names)
    return LayoutRecord(
        id=plan.layout,
        strategy=work.layout,
        created=plan.created,
        table_version=version,
        block_rows=prepared.view.block_rows,
        partition_by=None if prepared.partition is None else prepared.partition.sql,
        options=options_for(work.layout, prepared.options),
        parameters=design.parameters,
        fingerprint=prepared.fingerprint,
        workload=tuple((to_json(filter_), weight) for filter_, weight in prepared.logged_workload),
        groups=groups,
    )


def grouped_records(design: Design, names: LogicalNames) -> tuple[GroupRecord, ...]:
    """What is kept of the column groups of a design."""
    return tuple(
        group_record(
            group,
            (),
            TrackedSet(
                tuple(Tracked(expr, names.sql(expr), type_of(expr)) for expr in group.expressions),
                group.features,
            ),
        )
        for group in design.groups
    )


def _store_layout(context: Context, record: LayoutRecord) -> None:
    try:
        save_layout(context.store, record)
    except SkipstoneError as problem:
        # Whoever sees it fail would take the table for untouched.
        root = context.snapshot.root
        LOG.warning("%s was rewritten, but its layout could not be written down: %s", root, problem)

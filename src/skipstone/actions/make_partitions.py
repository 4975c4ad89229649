"""Making horizontal partitions of a replica: rows of some base files, by a layout, in a folder of their own.

Nothing counts until the record of a partition is written, which happens last. Files that a crash leaves
behind are deleted by whoever refreshes later, once they are a day old.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from skipstone.actions.context import Context
from skipstone.catalog.column_groups import StoredGroup
from skipstone.catalog.layout_records import LayoutRecord, StoredExpr
from skipstone.catalog.replica_store import partition_folder, save_partition
from skipstone.catalog.replicas import HorizontalPartition
from skipstone.catalog.snapshot import Snapshot
from skipstone.catalog.tracked import TrackedSet
from skipstone.errors import SkipstoneError, TableChangedError
from skipstone.layout.assignment import blocks_of
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.layout.stored_layout import design_of
from skipstone.predicate.codec import from_json
from skipstone.predicate.expr import Expr, Value
from skipstone.predicate.joined_column import joined_column_of
from skipstone.predicate.normalize import TRUE
from skipstone.predicate.partner import partners_in
from skipstone.progress import Progress
from skipstone.pruning.blocks import Counts, Feature
from skipstone.spark.engine.assign import Placing, assigned, coarsened
from skipstone.spark.engine.copy_groups import GroupsPlan, copy_groups
from skipstone.spark.engine.group_files import GroupPlan
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.resolve_tracked import still_tracked, tracked_columns
from skipstone.spark.engine.rewrite import Plan, Rewriting

__all__ = [
    "AUTOMATIC",
    "MOST_GROUPED_ROWS",
    "MOST_ROWS",
    "PARTITION_ROWS",
    "divided",
    "fewer_blocks",
    "groups_plan",
    "make_partition",
    "partition_count",
    "rows_plan",
    "stored_plan",
    "whole_partition",
]

PARTITION_ROWS = "partition_rows"
"""The parameter of a stored layout that says how many rows a horizontal partition was made for."""
AUTOMATIC = "automatic"
"""The parameter of a stored layout that says that the optimiser made the replica."""
MOST_GROUPED_ROWS = 2_000_000
"""The same where columns are grouped: the tuples of a partition are put together by one task."""
MOST_ROWS = 20_000_000
"""Rows of a horizontal partition, about: so much is read from the base when one of its files changes."""


def partition_count(rows: float, several_groups: bool, wanted: int | None = None) -> int:
    """How many horizontal partitions so many rows have in a copy; ``wanted`` is about how many rows of each.

    >>> partition_count(6e6, several_groups=True), partition_count(6e6, several_groups=False)
    (3, 1)
    """
    return max(1, round(rows / (wanted or (MOST_GROUPED_ROWS if several_groups else MOST_ROWS))))


def divided(snapshot: Snapshot, indices: Counts, most_bytes: float) -> list[Counts]:
    """Files in groups of about so many bytes, oldest first: what was written together changes together."""
    files = snapshot.files
    order = sorted(indices.tolist(), key=lambda index: (files.times[index], files.paths[index]))
    groups: list[list[int]] = [[]]
    size = 0.0
    for index in order:
        if groups[-1] and size + files.sizes[index] / 2 > most_bytes:
            groups.append([])
            size = 0.0
        groups[-1].append(index)
        size += float(files.sizes[index])
    return [np.array(group, np.int64) for group in groups if group]


def whole_partition(plan: Plan | GroupsPlan, rows: float, block_rows: int) -> Plan | GroupsPlan:
    """The plan for rows that are fewer than the layout was fitted to: neighbouring blocks share a file."""
    most = rows / block_rows
    if isinstance(plan, GroupsPlan):
        return replace(plan, groups=tuple(_fewer_of_group(group, most) for group in plan.groups))
    return fewer_blocks(plan, most)


def fewer_blocks(plan: Plan, most: float) -> Plan:
    """The plan with about so many blocks at most."""
    return replace(plan, placing=replace(plan.placing, blocks=_at_most(plan.placing.blocks, most)))


def _fewer_of_group(plan: GroupPlan, most: float) -> GroupPlan:
    assign, blocks, wanted = plan.assign, plan.blocks, _at_most(plan.blocks, most)
    return replace(plan, assign=lambda frame: coarsened(assign(frame), blocks, wanted), blocks=wanted)


def _at_most(blocks: int, most: float) -> int:
    return max(1, min(blocks, round(most)))


def stored_plan(table: OpenTable, record: LayoutRecord, created: str) -> Plan | GroupsPlan:
    """How rows are written by a layout that was fitted before."""
    design = design_of(record)
    if len(design.groups) > 1:
        return groups_plan(table, design, record.id, created)
    return rows_plan(table, record, created)


def rows_plan(table: OpenTable, record: LayoutRecord, created: str) -> Plan:
    """The same for a layout of whole rows; what it has of columns that were dropped since is NULL."""
    group = design_of(record).group
    stored = record.group
    names = replace(table.snapshot.logical_names, gone_is_null=True)
    exprs = [None if each.expr is None else from_json(each.expr) for each in stored.expressions]
    joined = [expr for expr in exprs if expr is not None and joined_column_of(expr) is not None]
    own = [each.sql for each, expr in zip(stored.expressions, exprs, strict=True) if expr not in joined]
    earlier = still_tracked(table, own, map(_feature, stored.features), joined)
    return Plan(
        chosen=table.file_indices,
        placing=replace(Placing.of(table, group.assignment), names=names),
        sort=tuple(names.sql(expr) for expr in group.sort if not names.lacks(expr)),
        tracked=TrackedSet(tracked_columns(table.snapshot.schema)).with_more(earlier),
        values={},
        layout=record.id,
        created=created,
    )


def groups_plan(
    table: OpenTable,
    design: Design,
    layout: str,
    created: str,
    values: Mapping[Expr, Sequence[Value]] | None = None,
) -> GroupsPlan:
    """How rows are written by the column groups of a design; columns in none of them are not copied."""
    names = table.snapshot.logical_names
    gone = [name for group in design.groups for name in group.columns or () if (name,) not in names.paths]
    if gone:
        raise SkipstoneError(f"{table.root} has no column {gone[0]} any more, which layout {layout} groups.")

    def plan(group: ColumnGroup) -> GroupPlan:
        return GroupPlan(
            columns=group.columns or (),
            assign=lambda frame: assigned(table, frame, group.assignment),
            blocks=blocks_of(group.assignment),
            # What is known of other tables is not kept for single groups.
            features=tuple(each.predicate for each in group.features if not partners_in(each.predicate)),
            expressions=group.expressions,
        )

    return GroupsPlan(table.file_indices, tuple(map(plan, design.groups)), values or {}, layout, created)


def _feature(stored: StoredExpr) -> Feature:
    return Feature(TRUE if stored.expr is None else from_json(stored.expr), stored.sql)


def make_partition(
    context: Context, plan: Plan | GroupsPlan, progress: Progress | None
) -> HorizontalPartition | None:
    """Write, measure, check and publish the rows of the plan's files as one horizontal partition.

    None if there are no rows in them.
    """
    id_ = uuid.uuid4().hex[:12]
    table = context.table
    rewriting = Rewriting(table, in_place=False)
    now, folder = indices_now(table, rewriting.before, plan.chosen), partition_folder(plan.layout, id_)
    groups: tuple[StoredGroup, ...] = ()
    values: tuple[str, ...] = ()
    if isinstance(plan, GroupsPlan):
        copied = copy_groups(rewriting.before, plan.of(now), folder, progress)
        if copied is None:
            return None
        groups, segment, rows = copied.groups, copied.segment, copied.rows
    else:
        written = rewriting.copy(replace(plan, chosen=now), folder, progress)
        if written is None:
            return None
        segment, rows, values = written.segment, written.rows, written.table.snapshot.partitions
    part = HorizontalPartition(
        id=id_,
        replica=plan.layout,
        created=plan.created,
        table_version=table.snapshot.version,
        schema=table.snapshot.schema,
        covered=table.files.some(plan.chosen),
        rows=rows.rows,
        row_hash=rows.total,
        segment=segment,
        partition_values=values or ("",) * len(segment.files),
        groups=groups,
    )
    try:
        save_partition(table.store, part)
    except BaseException:
        if groups:
            table.store.delete_folder(folder)
        rewriting.abandon()
        raise
    return part


def indices_now(table: OpenTable, before: OpenTable, chosen: Counts) -> Counts:
    """Where files are in the table as it is now; that they are there with the same rows is certain then."""
    found = table.files.some(chosen).indices_in(before.files, same_rows=True)
    if (found < 0).any() or not table.snapshot.has_columns_of(before.snapshot):
        raise TableChangedError(f"{table.root} was changed while it was copied; run it again.")
    return found

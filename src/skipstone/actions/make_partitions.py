"""Making horizontal partitions of a replica: rows of some base files, by a layout, in a folder of their own.

Nothing counts until the record of a partition is written, which happens last. Files that a crash leaves
behind are deleted by whoever refreshes later, once they are a day old.
"""

from __future__ import annotations

import uuid
from dataclasses import replace

import numpy as np

from skipstone.actions.context import Context
from skipstone.catalog.layout_records import LayoutRecord
from skipstone.catalog.replica_store import partition_folder, save_partition
from skipstone.catalog.replicas import HorizontalPartition
from skipstone.catalog.snapshot import Snapshot
from skipstone.catalog.tracked import TrackedSet
from skipstone.errors import TableChangedError
from skipstone.layout.stored_layout import design_of
from skipstone.progress import Progress
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.assign import Placing
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.resolve_tracked import still_tracked, tracked_columns
from skipstone.spark.engine.rewrite import Plan, Rewriting

__all__ = [
    "AUTOMATIC",
    "MOST_ROWS",
    "PARTITION_ROWS",
    "divided",
    "make_partition",
    "stored_plan",
    "whole_partition",
]

PARTITION_ROWS = "partition_rows"
"""The parameter of a stored layout that says how many rows a horizontal partition was made for."""
AUTOMATIC = "automatic"
"""The parameter of a stored layout that says that the optimiser made the replica."""
MOST_ROWS = 20_000_000
"""Rows of a horizontal partition, about: so much is read from the base when one of its files changes."""


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


def whole_partition(plan: Plan, rows: float, block_rows: int) -> Plan:
    """The plan for rows that are fewer than the layout was fitted to: neighbouring blocks share a file."""
    wanted = max(1, min(plan.placing.blocks, round(rows / block_rows)))
    return replace(plan, placing=replace(plan.placing, blocks=wanted))


def stored_plan(table: OpenTable, record: LayoutRecord, created: str) -> Plan:
    """How rows are written by a layout that was fitted before."""
    group, names = design_of(record).group, table.snapshot.logical_names
    stored = record.group
    earlier = still_tracked(
        table, [each.sql for each in stored.expressions], [each.sql for each in stored.features]
    )
    return Plan(
        chosen=table.file_indices,
        placing=Placing.of(group.assignment, names),
        sort=tuple(each.sql for each in stored.sort),
        tracked=TrackedSet(tracked_columns(table.snapshot.schema)).with_more(earlier),
        values={},
        layout=record.id,
        created=created,
    )


def make_partition(context: Context, plan: Plan, progress: Progress | None) -> HorizontalPartition | None:
    """Write, measure, check and publish the rows of the plan's files as one horizontal partition.

    None if there are no rows in them.
    """
    id_ = uuid.uuid4().hex[:12]
    table = context.table
    rewriting = Rewriting(table, in_place=False)
    now = replace(plan, chosen=indices_now(table, rewriting.before, plan.chosen))
    written = rewriting.copy(now, partition_folder(plan.layout, id_), progress)
    if written is None:
        return None
    covered, here = table.files.some(plan.chosen), written.table.snapshot
    part = HorizontalPartition(
        id=id_,
        replica=plan.layout,
        created=plan.created,
        table_version=table.snapshot.version,
        schema=table.snapshot.schema,
        covered=covered,
        rows=written.rows.rows,
        row_hash=written.rows.total,
        segment=written.segment,
        partition_values=here.partitions or ("",) * len(here),
    )
    try:
        save_partition(table.store, part)
    except BaseException:
        rewriting.abandon()
        raise
    return part


def indices_now(table: OpenTable, before: OpenTable, chosen: Counts) -> Counts:
    """Where files are in the table as it is now; that they are there with the same rows is certain then."""
    found = table.files.some(chosen).indices_in(before.files, same_rows=True)
    if (found < 0).any() or not table.snapshot.has_columns_of(before.snapshot):
        raise TableChangedError(f"{table.root} was changed while it was copied; run it again.")
    return found

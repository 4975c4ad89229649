"""Laying a table out by one design and making replicas by others, with one read of its rows.

What is written counts in the same order as ever: first the table's own commit, then the record of each
replica. Every copy is measured and checked by itself before the first of these. A crash before the commit
leaves the old table, one after it the new table and files of replicas that nobody reads.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skipstone.actions.context import Context
from skipstone.actions.lay_out import (
    RewriteResult,
    RewriteWork,
    layout_record,
    plan_of,
    prepared_now,
    store_layout,
)
from skipstone.actions.make_partitions import MOST_ROWS, PARTITION_ROWS, indices_now
from skipstone.catalog.layout_records import save_layout
from skipstone.catalog.replica_store import partition_folder, save_partition
from skipstone.catalog.replicas import HorizontalPartition
from skipstone.errors import TableChangedError
from skipstone.progress import Progress
from skipstone.spark.engine.deal_rows import CopyBlocks, deal_rows
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.rewrite import Plan, Rewriting, Written

__all__ = ["lay_out_copies", "one_pass_suits"]


@dataclass(frozen=True, slots=True, eq=False)
class _Copied:
    """A replica whose files are written and checked, and which does not count yet."""

    rewriting: Rewriting
    plan: Plan
    part: str
    written: Written


def one_pass_suits(rows: float) -> bool:
    """Whether a replica of so many rows is one horizontal partition, which covers all files of the base."""
    return rows <= 1.5 * MOST_ROWS


def lay_out_copies(context: Context, works: Sequence[RewriteWork]) -> tuple[RewriteResult, tuple[str, ...]]:
    """Rewrite the table by the first design and make a replica by each other one; their ids."""
    created, table, base = context.clock().isoformat(), context.table, Rewriting(context.table)
    chosen = prepared_now(works[0].prepared, base.before)
    plans = [replace(plan_of(table, work, uuid.uuid4().hex[:12], created), chosen=chosen) for work in works]
    dealt = deal_rows(base.live(chosen), [CopyBlocks(plan.assign, plan.blocks) for plan in plans])
    plans = [replace(plan, dealt=rows) for plan, rows in zip(plans, dealt, strict=True)]
    steps = context.steps(len(works), {plan.layout: 1.0 for plan in plans})
    copied: list[_Copied] = []
    try:
        written = base.write(plans[0], steps.step(plans[0].layout))
        for plan in plans[1:]:
            copied += _copied(base.before, plan, steps.step(plan.layout))
        rewritten = base.commit(plans[0], written)
    except BaseException:
        _abandon(copied)
        base.abandon()
        raise
    store_layout(context, layout_record(works[0], plans[0], rewritten.version))
    waiting = list(copied)
    try:
        now = context.reopened().table
        for work, copy in zip(works[1:], copied, strict=False):
            _publish(now, work, copy, written)
            waiting.remove(copy)
    except BaseException:
        _abandon(waiting)
        raise
    table.refresh()
    return RewriteResult(plans[0].layout, rewritten), tuple(copy.plan.layout for copy in copied)


def _copied(before: OpenTable, plan: Plan, progress: Progress | None) -> list[_Copied]:
    """The replica's files; none if there are no rows."""
    rewriting, part = Rewriting(before, in_place=False), uuid.uuid4().hex[:12]
    now = plan.of(indices_now(before, rewriting.before, plan.chosen))
    written = rewriting.copy(now, partition_folder(plan.layout, part), progress)
    return [] if written is None else [_Copied(rewriting, plan, part, written)]


def _publish(now: OpenTable, work: RewriteWork, copy: _Copied, base: Written) -> None:
    """Write down that the replica holds the rows of the base's new files."""
    indices = base.segment.files.indices_in(now.files)
    if (indices < 0).any():
        raise TableChangedError(
            f"{now.root} was laid out, but changed before its replicas counted; make them by skipstone "
            "replicate."
        )
    record = layout_record(work, copy.plan, now.snapshot.version)
    save_layout(now.store, replace(record, parameters={**record.parameters, PARTITION_ROWS: MOST_ROWS}))
    here = copy.written.table.snapshot
    part = HorizontalPartition(
        id=copy.part,
        replica=copy.plan.layout,
        created=copy.plan.created,
        table_version=now.snapshot.version,
        schema=now.snapshot.schema,
        covered=now.files.some(indices),
        rows=copy.written.rows.rows,
        row_hash=copy.written.rows.total,
        segment=copy.written.segment,
        partition_values=here.partitions or ("",) * len(here),
    )
    save_partition(now.store, part)


def _abandon(copied: Sequence[_Copied]) -> None:
    for copy in copied:
        copy.rewriting.abandon()

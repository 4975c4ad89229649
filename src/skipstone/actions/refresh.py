"""``refresh``: make replicas hold the rows that the table has now.

Base files that no valid horizontal partition covers are copied, by the replica's layout, into new ones.
Partitions that are not valid any more count no longer, and their files are deleted a day later: a query that
was planned before may still read them. A replica of a table that has no rows has no partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np

from skipstone.actions.context import Context
from skipstone.actions.joined_status import refresh_joined
from skipstone.actions.make_partitions import (
    MOST_ROWS,
    PARTITION_ROWS,
    divided,
    make_partition,
    stored_plan,
    whole_partition,
)
from skipstone.actions.replicas import covered_files, valid_partitions
from skipstone.actions.replicate import check_replicable
from skipstone.catalog.layout_records import LayoutRecord, load_layout
from skipstone.catalog.replica_store import delete_partition, forget_empty, save_empty, sweep_partitions
from skipstone.catalog.replicas import HorizontalPartition, Replicas
from skipstone.errors import SkipstoneError
from skipstone.json_types import json_number
from skipstone.spark.engine.draw_sample import count_rows
from skipstone.view import View, Viewed, count, megabytes

__all__ = ["Refresh", "RefreshReport", "known_replica", "layout_of_replica", "refresh_replicas"]


@dataclass(frozen=True, slots=True, repr=False)
class RefreshReport(Viewed):
    """What was copied anew, and what counts no longer, over the ``replicas`` that were refreshed."""

    root: str
    replicas: tuple[str, ...]
    partitions_made: int
    partitions_retired: int
    rows: int
    bytes: int
    seconds: float
    joined: tuple[str, ...] = ()

    def view(self) -> View:
        """One sentence."""
        anew = f"Joined {self.root} anew in {count(len(self.joined), 'replica')}, {self.seconds:.1f} s."
        if not self.partitions_made and not self.partitions_retired:
            if self.joined:
                return View(anew)
            return View(f"The replicas of {self.root} hold its rows as they are: nothing to do.")
        return View(
            f"Copied {count(self.rows, 'row')} of {self.root} in {self.seconds:.1f} s: "
            f"{count(self.partitions_made, 'horizontal partition')} made ({megabytes(self.bytes)}), "
            f"{self.partitions_retired:,} retired, in {count(len(self.replicas), 'replica')}.",
            notes=(anew,) if self.joined else (),
        )

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Refresh:
    """Bring one replica, or all of them, up to date."""

    name: ClassVar[str] = "refresh"

    replica: str | None = None

    def validate(self, context: Context) -> None:
        """Refuse a replica that there is not."""
        check_replicable(context)
        replicas, joined = context.table.stored_replicas(), context.table.stored_joined()
        if self.replica is not None:
            known_replica(context, self.replica)
        elif not replicas.ids() and not joined.replicas:
            raise SkipstoneError(f"{context.snapshot.root} has no replicas; make one (skipstone replicate).")

    def run(self, context: Context) -> RefreshReport:
        """Copy what is not covered, then let go of what is not valid."""
        context.table.refresh()
        joined = context.table.stored_joined().replicas
        some = tuple(each for each in joined if self.replica in (None, each.id))
        wanted = context.table.replicas.ids() if self.replica is None else () if some else (self.replica,)
        started, report = context.clock(), refresh_replicas(context, wanted)
        made = refresh_joined(context, some)
        return replace(
            report,
            rows=report.rows + sum(each.rows for each in made),
            bytes=report.bytes + sum(each.bytes for each in made),
            seconds=(context.clock() - started).total_seconds(),
            joined=tuple(each.id for each in made),
        )


def refresh_replicas(context: Context, wanted: Sequence[str]) -> RefreshReport:
    """Refresh these replicas, also those of which no partition is left."""
    started, replicas = context.clock(), context.table.replicas
    made: list[HorizontalPartition] = []
    retired = 0
    with context.steps(max(len(wanted), 1), dict.fromkeys(wanted, 1.0)) as steps:
        for replica in wanted:
            step = context.reporting_to(steps.step(replica))
            new = _made(step, replicas, replica)
            gone = _not_valid(context, replicas, replica)
            left = sum(part.replica == replica for part in replicas.parts) - len(gone)
            if new:
                forget_empty(context.store, replica)
            elif not left and replica in replicas.ids():
                save_empty(context.store, replica, replicas.created(replica))
            for part in gone:
                delete_partition(context.store, part.name)
            made += new
            retired += len(gone)
        context.table.refresh()
        sweep_partitions(context.store)
    return RefreshReport(
        root=context.snapshot.root,
        replicas=tuple(wanted),
        partitions_made=len(made),
        partitions_retired=retired,
        rows=sum(part.rows for part in made),
        bytes=sum(part.files.bytes for part in made),
        seconds=(context.clock() - started).total_seconds(),
    )


def known_replica(context: Context, replica: str) -> None:
    """Refuse a replica that there is not, joined or not."""
    joined = (each.id for each in context.table.stored_joined().replicas)
    ids = (*context.table.stored_replicas().ids(), *joined)
    if replica not in ids:
        known = ", ".join(ids) or "none"
        raise SkipstoneError(f"{context.snapshot.root} has no replica {replica}; it has {known}.")


def _made(context: Context, replicas: Replicas, replica: str) -> list[HorizontalPartition]:
    """New partitions for the base files that no valid one of the replica covers."""
    table, snapshot = context.table, context.snapshot
    mine = np.array([part.replica == replica for part in replicas.parts], np.bool_)
    valid = mine & valid_partitions(replicas, snapshot)
    missing = np.flatnonzero(~covered_files(replicas, valid, snapshot))
    if not len(missing):
        return []
    record = layout_of_replica(context, replica)
    rows = count_rows(table, missing)
    if not rows:
        return []
    capacity = json_number(record.parameters.get(PARTITION_ROWS, MOST_ROWS))
    size = snapshot.bytes_of(missing)
    plan = stored_plan(table, record, context.clock().isoformat())
    groups = divided(snapshot, missing, size * capacity / rows)
    steps = context.steps(len(groups), {str(number): 1 for number in range(len(groups))})
    made: list[HorizontalPartition] = []
    for number, group in enumerate(groups):
        share = rows * snapshot.bytes_of(group) / max(size, 1)
        part = whole_partition(plan.of(group), share, record.block_rows)
        new = make_partition(context, part, steps.step(str(number)))
        made += [] if new is None else [new]
    return made


def layout_of_replica(context: Context, replica: str) -> LayoutRecord:
    """The layout by which a replica's rows are placed."""
    record = load_layout(context.store, replica, context.snapshot.root)
    if record is None:
        raise SkipstoneError(
            f"The layout of replica {replica} is not stored any more; drop it and make another "
            "(skipstone drop, skipstone replicate)."
        )
    return record


def _not_valid(context: Context, replicas: Replicas, replica: str) -> list[HorizontalPartition]:
    """The partitions whose base files are no part of the newest snapshot."""
    valid = valid_partitions(replicas, context.snapshot)
    return [
        part
        for part, holds in zip(replicas.parts, valid, strict=True)
        if part.replica == replica and not holds
    ]

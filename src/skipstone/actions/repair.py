"""``repair``: find copies whose rows are not what they were, and rebuild them from others.

Every valid horizontal partition of a replica has the number and the hash of its rows. Those of its own files
and those of the base files that it covers are read and compared with it. A file that is missing or cannot be
read is found in the same way. What is damaged is marked and not read from then on: queries read the base in
place of a damaged partition, and the replica in place of damaged base files.

Base files are rebuilt as a group, all those that one partition covers, in one commit that changes no data and
is checked by the hash. Other partitions that cover just these files then cover the new ones; what is left is
refreshed. Column groups are checked, but no base files are rebuilt from them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np

from skipstone.actions.context import Context
from skipstone.actions.joined_status import JoinedDamage, check_joined
from skipstone.actions.make_partitions import fewer_blocks, rows_plan
from skipstone.actions.refresh import layout_of_replica, refresh_replicas
from skipstone.actions.replicas import valid_partitions
from skipstone.actions.replicate import check_replicable
from skipstone.catalog.column_names import quoted
from skipstone.catalog.files import Files
from skipstone.catalog.layout_records import LayoutRecord, load_layout
from skipstone.catalog.replica_store import forget_damage, mark_damaged, move_partition
from skipstone.catalog.replicas import HorizontalPartition, Replicas, concatenated
from skipstone.errors import SkipstoneError
from skipstone.estimate.unclustered import newest_layout
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.rewrite import Rewriting, RowSource
from skipstone.spark.engine.row_hash import RowHash
from skipstone.spark.engine.stored_names import with_stored_names
from skipstone.spark.engine.verify import groups_problem, rows_or_problem
from skipstone.view import Cell, View, Viewed, count

__all__ = ["Damage", "Repair", "RepairReport"]

LOG = logging.getLogger("skipstone")
BASE = "base"
_SHARES = {"checking": 3, "rebuilding": 4, "refreshing": 3, "joining": 2}


@dataclass(frozen=True, slots=True)
class Damage:
    """A copy of some rows that is not what it was: base files, or a horizontal partition of a replica.

    ``repaired`` says whether it was rebuilt; ``problem`` what was found.
    """

    copy: str
    partition: str
    files: int
    rows: int
    problem: str
    repaired: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class RepairReport(Viewed):
    """What was checked, and what was found and rebuilt."""

    root: str
    partitions: int
    rows: int
    damages: tuple[Damage, ...]
    version: int
    joined: int = 0

    @property
    def whole(self) -> bool:
        """Whether nothing is damaged, or is any more."""
        return all(damage.repaired for damage in self.damages)

    def view(self) -> View:
        """A line for each damage."""
        checked = f"{count(self.partitions, 'horizontal partition')} with {count(self.rows, 'row')}"
        checked += f" and {count(self.joined, 'joined replica')}" if self.joined else ""
        if not self.damages:
            return View(f"Checked {self.root} and {checked} of its replicas: all is as it was.")
        repaired = sum(damage.repaired for damage in self.damages)
        headline = (
            f"Checked {self.root} and {checked} of its replicas: {len(self.damages):,} damaged, "
            f"{repaired:,} rebuilt."
        )
        return View(headline, tuple(map(_line, self.damages)))

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "whole": self.whole}


def _line(damage: Damage) -> tuple[str, Cell]:
    done = "rebuilt" if damage.repaired else "not rebuilt"
    what = f"{count(damage.files, 'file')}, {count(damage.rows, 'row')}"
    return damage.copy, f"{what}: {damage.problem}; {done}"


def _of_joined(found: JoinedDamage) -> Damage:
    replica = found.replica
    return Damage(replica.id, "", replica.files, replica.rows, found.problem, found.repaired)


@dataclass(frozen=True, slots=True)
class _Checked:
    """What the two copies of a partition's rows were found to be."""

    part: HorizontalPartition
    indices: Counts
    own_problem: str
    base_problem: str


@dataclass(frozen=True, slots=True)
class Repair:
    """Verify the copies of a table's rows by their hashes and rebuild what is damaged or missing.

    With ``check`` nothing is rebuilt; what is damaged is not used any more all the same.
    """

    name: ClassVar[str] = "repair"

    check: bool = False

    def validate(self, context: Context) -> None:
        """Refuse a table without replicas: nothing is known about its rows by which to check them."""
        check_replicable(context)
        replicas = context.table.stored_replicas()
        if not len(replicas) and not replicas.lost and not context.table.stored_joined().replicas:
            raise SkipstoneError(
                f"{context.snapshot.root} has no replicas, so there is nothing to compare its rows with."
            )

    def run(self, context: Context) -> RepairReport:
        """Check every valid partition and its base files, mark what is damaged, and rebuild it."""
        context.table.refresh()
        replicas = context.table.replicas
        valid = np.flatnonzero(valid_partitions(replicas, context.snapshot))
        with context.steps(max(len(valid), 1), _SHARES) as steps:
            checking = context.reporting_to(steps.step("checking"))
            found = []
            for number, index in enumerate(valid.tolist()):
                checking.report("verifying rows", number, len(valid))
                found.append(_checked(context.table, replicas.parts[index]))
            checking.report("verifying rows", len(valid), len(valid))
            damages = [*_known(replicas), *_damages(found)]
            _mark(context, found)
            if not self.check and damages:
                rebuilding = context.reporting_to(steps.step("rebuilding"))
                rebuilt = _rebuilt(rebuilding, found)
                refreshing = context.reopened().reporting_to(steps.step("refreshing"))
                damages = _after(refreshing, damages, rebuilt)
            joined = context.table.stored_joined()
            joining = context.reopened().reporting_to(steps.step("joining"))
            damages += map(_of_joined, check_joined(joining, joined, self.check))
            context.table.refresh()
        return RepairReport(
            root=context.snapshot.root,
            partitions=len(found),
            rows=sum(each.part.rows for each in found),
            joined=len(joined.replicas),
            damages=tuple(damages),
            version=context.reopened().snapshot.version if damages else context.snapshot.version,
        )


def _checked(table: OpenTable, part: HorizontalPartition) -> _Checked:
    indices = part.covered.indices_in(table.files, same_rows=True)
    wanted = RowHash(part.rows, part.row_hash)
    if part.groups:
        base = with_stored_names(table.live(indices), table.snapshot.schema).select(
            *map(quoted, part.columns)
        )
        return _Checked(part, indices, groups_problem(table, part), rows_or_problem(base, wanted))
    own = table.partition(part)
    return _Checked(
        part,
        indices,
        rows_or_problem(own.frame(own.file_indices), wanted),
        rows_or_problem(table.live(indices), wanted),
    )


def _mark(context: Context, found: Sequence[_Checked]) -> None:
    """Let nobody read what is damaged."""
    files = [each.part.covered for each in found if each.base_problem]
    partitions = [each.part.name for each in found if each.own_problem]
    if files or partitions:
        mark_damaged(context.store, concatenated(files), partitions)


def _known(replicas: Replicas) -> list[Damage]:
    """Partitions that were found to be damaged before."""
    names = [name.partition(".") for name in replicas.lost]
    return [Damage(replica, part, 0, 0, "it was found to be damaged before") for replica, _, part in names]


def _damages(found: Sequence[_Checked]) -> list[Damage]:
    """Base files that several partitions cover are reported once."""
    damages: dict[object, Damage] = {}
    for each in found:
        part = each.part
        if each.own_problem:
            own = Damage(part.replica, part.id, len(part.files), part.rows, each.own_problem)
            damages[part.name] = own
        if each.base_problem:
            key = tuple(sorted(part.covered.paths))
            base = Damage(BASE, part.id, len(part.covered), part.rows, each.base_problem)
            damages.setdefault(key, base)
    return list(damages.values())


def _rebuilt(context: Context, found: Sequence[_Checked]) -> set[str]:
    """Rebuild base files from partitions that are whole; the ids of these."""
    done: set[str] = set()
    bad = [each for each in found if each.base_problem]
    for number, each in enumerate(bad):
        context.report("rebuilding base files", number, len(bad))
        now = context.reopened()
        indices = each.part.covered.indices_in(now.table.files, same_rows=True)
        # Another partition has rebuilt them, or has to: one by column groups need not have all columns.
        if each.own_problem or each.part.groups or (indices < 0).any():
            continue
        new = _rebuild(now, each.part, indices)
        done.add(each.part.id)
        for other in found:
            if not other.own_problem and set(other.part.covered.paths) == set(each.part.covered.paths):
                move_partition(context.store, other.part, new)
                done.add(other.part.id)
    context.report("rebuilding base files", len(bad), len(bad))
    return done


def _rebuild(context: Context, part: HorizontalPartition, indices: Counts) -> Files:
    """Replace base files by others with the rows of a partition, in one commit; the new files."""
    table = context.table
    record = _base_layout(context) or layout_of_replica(context, part.replica)
    plan = rows_plan(table, record, context.clock().isoformat()).of(indices)
    source = RowSource(table.partition(part), RowHash(part.rows, part.row_hash))
    before = set(table.files.paths)
    rewriting = Rewriting(table)
    whole = fewer_blocks(replace(plan, source=source), part.rows / record.block_rows)
    rewriting.run(whole, context.progress)
    after = context.reopened().table.files
    return after.some(np.array([i for i, path in enumerate(after.paths) if path not in before], np.int64))


def _base_layout(context: Context) -> LayoutRecord | None:
    """The layout of the base, if it is known."""
    newest = newest_layout(context.snapshot.files, context.catalog)
    return load_layout(context.store, newest, context.snapshot.root) if newest else None


def _after(context: Context, damages: list[Damage], rebuilt: set[str]) -> list[Damage]:
    """The damages with what became of them, once replicas were refreshed."""
    context.table.refresh()
    wanted = dict.fromkeys(
        (*context.table.replicas.ids(), *(damage.copy for damage in damages if damage.copy != BASE))
    )
    failed = {replica for replica in wanted if not _refreshed(context, replica)}
    repaired = [
        replace(
            damage,
            repaired=damage.partition in rebuilt if damage.copy == BASE else damage.copy not in failed,
        )
        for damage in damages
    ]
    if all(damage.repaired for damage in repaired):
        copies = [damage for damage in repaired if damage.copy != BASE]
        forget_damage(context.store, [f"{each.copy}.{each.partition}" for each in copies])
        context.table.refresh()
    return repaired


def _refreshed(context: Context, replica: str) -> bool:
    """Copy what the replica lacks, unless that cannot be read anywhere."""
    try:
        refresh_replicas(context, (replica,))
    except SkipstoneError as problem:
        context.cancel.check()
        LOG.warning("Replica %s was not rebuilt: %s", replica, problem)
        return False
    return True

"""``replicas``: which copies of a table there are, and how much of it each can answer for now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from skipstone.actions.context import Context
from skipstone.catalog.layout_records import load_layout
from skipstone.catalog.replicas import Replicas, holds_columns
from skipstone.catalog.snapshot import Snapshot
from skipstone.errors import SkipstoneError
from skipstone.pruning.masks import Flags
from skipstone.view import Share, View, Viewed, count, megabytes, percent

__all__ = [
    "ReplicaStatus",
    "ReplicasReport",
    "ShowReplicas",
    "covered_files",
    "replica_lines",
    "replica_statuses",
    "valid_partitions",
]


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """One replica: what it has, and what of the table it holds as that is now.

    ``files_covered`` and ``bytes_covered`` are base files that its valid horizontal partitions answer for.
    """

    id: str
    layout: str
    created: str
    partitions: int
    partitions_valid: int
    files: int
    bytes: int
    rows: int
    files_covered: int
    bytes_covered: int


@dataclass(frozen=True, slots=True, repr=False)
class ReplicasReport(Viewed):
    """The replicas of a table; ``problems`` are records that cannot be used."""

    root: str
    files: int
    bytes: int
    replicas: tuple[ReplicaStatus, ...]
    problems: tuple[str, ...] = ()

    def view(self) -> View:
        """A line for each replica."""
        have = count(len(self.replicas), "replica") if self.replicas else "no replicas"
        headline = f"{self.root}: {count(self.files, 'file')}, {megabytes(self.bytes)}; {have}"
        return View(headline, tuple(replica_lines(self.replicas, self.bytes)), notes=self.problems)

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def replica_lines(replicas: Sequence[ReplicaStatus], whole: int) -> Iterator[tuple[str, Share]]:
    """The name of each replica of a table of so many bytes, and what there is to say about it."""
    for each in replicas:
        valid = f"{each.partitions_valid:,} of {count(each.partitions, 'horizontal partition')} valid"
        text = (
            f"{each.layout}, {count(each.files, 'file')}, {megabytes(each.bytes)}; "
            f"holds {percent(each.bytes_covered, whole)} of the table ({valid}); "
            f"made {each.created[:19].replace('T', ' ')} UTC"
        )
        yield each.id, Share(each.bytes_covered, whole, text)


@dataclass(frozen=True, slots=True)
class ShowReplicas:
    """What replicas the table has."""

    name: ClassVar[str] = "replicas"

    def validate(self, context: Context) -> None:
        """Any table can be asked; most have no replicas."""

    def run(self, context: Context) -> ReplicasReport:
        """Compare what the replicas cover with the files of the snapshot."""
        context.report("reading replicas", 0, 1)
        replicas = context.table.stored_replicas()
        report = ReplicasReport(
            root=context.snapshot.root,
            files=len(context.snapshot),
            bytes=context.snapshot.files.bytes,
            replicas=replica_statuses(context, replicas),
            problems=replicas.problems,
        )
        context.report("reading replicas", 1, 1)
        return report


def replica_statuses(context: Context, replicas: Replicas) -> tuple[ReplicaStatus, ...]:
    """What each replica holds of the table as it is now."""
    valid = valid_partitions(replicas, context.snapshot)
    return tuple(_status(context, replicas, replica, valid) for replica in replicas.ids())


def valid_partitions(replicas: Replicas, snapshot: Snapshot) -> Flags:
    """The horizontal partitions that hold exactly the rows, and all columns, of files of the snapshot."""
    valid = replicas.valid_in(snapshot.files)
    fits = [holds_columns(part.schema, snapshot.schema) for part in replicas.parts]
    return valid & np.array(fits, np.bool_)


def covered_files(replicas: Replicas, chosen: Flags, snapshot: Snapshot) -> Flags:
    """The files of the snapshot that the chosen partitions cover."""
    indices = replicas.covered.indices_in(snapshot.files, same_rows=True)
    found = np.zeros(len(snapshot) + 1, np.bool_)
    found[indices[chosen[replicas.covered_by]]] = True
    return found[:-1]


def _status(context: Context, replicas: Replicas, replica: str, valid: Flags) -> ReplicaStatus:
    mine = np.array([part.replica == replica for part in replicas.parts], np.bool_)
    parts = [part for part, own in zip(replicas.parts, mine, strict=True) if own]
    covered = covered_files(replicas, mine & valid, context.snapshot)
    return ReplicaStatus(
        id=replica,
        layout=_layout_of(context, replica),
        created=min(part.created for part in parts),
        partitions=len(parts),
        partitions_valid=int((mine & valid).sum()),
        files=sum(len(part.files) for part in parts),
        bytes=sum(part.files.bytes for part in parts),
        rows=sum(part.rows for part in parts),
        files_covered=int(covered.sum()),
        bytes_covered=context.snapshot.bytes_of(np.flatnonzero(covered)),
    )


def _layout_of(context: Context, replica: str) -> str:
    """What it was laid out by; its rows can be read whether that is known or not."""
    try:
        record = load_layout(context.store, replica, context.snapshot.root)
    except SkipstoneError:
        return "unreadable"
    return "unknown" if record is None else record.strategy

"""``replicas``: which copies of a table there are, and how much of it each can answer for now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np

from skipstone.actions.context import Context
from skipstone.actions.joined_status import JoinedStatus, joined_lines, joined_statuses
from skipstone.catalog.layout_records import load_layout
from skipstone.catalog.replicas import Replicas, holds_columns
from skipstone.catalog.snapshot import Snapshot
from skipstone.errors import SkipstoneError
from skipstone.pruning.masks import Flags
from skipstone.spark.querylog.log_table import NEVER_USED, ReplicaUse
from skipstone.spark.querylog.query_log import flush, replica_uses
from skipstone.view import Cell, Share, View, Viewed, count, megabytes, percent

__all__ = [
    "ReplicaStatus",
    "ReplicasReport",
    "ShowReplicas",
    "covered_files",
    "replica_lines",
    "replica_statuses",
    "used_replicas",
    "valid_partitions",
]


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """One replica: what it has, and what of the table it holds as that is now.

    ``files_covered`` and ``bytes_covered`` are base files that its valid horizontal partitions answer for.
    ``scans`` is how many scans of the query log read it, ``last_used`` when the last one did, in UTC.
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
    scans: int = 0
    last_used: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class ReplicasReport(Viewed):
    """The replicas of a table, and those joined with others; ``problems`` are records that cannot be used."""

    root: str
    files: int
    bytes: int
    replicas: tuple[ReplicaStatus, ...]
    problems: tuple[str, ...] = ()
    joined: tuple[JoinedStatus, ...] = ()

    def view(self) -> View:
        """A line for each replica."""
        number = len(self.replicas) + len(self.joined)
        have = count(number, "replica") if number else "no replicas"
        headline = f"{self.root}: {count(self.files, 'file')}, {megabytes(self.bytes)}; {have}"
        own: list[tuple[str, Cell]] = [*replica_lines(self.replicas, self.bytes)]
        lines = (*own, *joined_lines(self.joined))
        return View(headline, lines, notes=self.problems)

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
            f"{_uses(each)}; made {_moment(each.created)}"
        )
        yield each.id, Share(each.bytes_covered, whole, text)


def _uses(replica: ReplicaStatus) -> str:
    if not replica.scans:
        return "no logged scan read it"
    return f"{count(replica.scans, 'logged scan')} read it, last {_moment(replica.last_used)}"


def _moment(time: str) -> str:
    return f"{time[:19].replace('T', ' ')} UTC"


@dataclass(frozen=True, slots=True)
class ShowReplicas:
    """What replicas the table has."""

    name: ClassVar[str] = "replicas"

    def validate(self, context: Context) -> None:
        """Any table can be asked; most have no replicas."""

    def run(self, context: Context) -> ReplicasReport:
        """Compare what the replicas cover with the files of the snapshot, and count their uses."""
        context.report("reading replicas", 0, 1)
        replicas = context.table.stored_replicas()
        uses = used_replicas(context) if replicas.ids() else {}
        joined = context.table.stored_joined()
        report = ReplicasReport(
            root=context.snapshot.root,
            files=len(context.snapshot),
            bytes=context.snapshot.files.bytes,
            replicas=replica_statuses(context, replicas, uses),
            problems=(*replicas.problems, *joined.problems),
            joined=joined_statuses(context, joined),
        )
        context.report("reading replicas", 1, 1)
        return report


def used_replicas(context: Context) -> dict[str, ReplicaUse]:
    """How often each replica was read, by queries that have just ended too."""
    flush(context.engine.spark)
    return replica_uses(context.engine, context.snapshot.root)


def replica_statuses(
    context: Context, replicas: Replicas, uses: Mapping[str, ReplicaUse]
) -> tuple[ReplicaStatus, ...]:
    """What each replica holds of the table as it is now, and how often it was used."""
    valid = valid_partitions(replicas, context.snapshot)
    return tuple(
        replace(
            _status(context, replicas, replica, valid),
            scans=use.scans,
            last_used="" if use.last is None else use.last.isoformat(),
        )
        for replica, use in ((id_, uses.get(id_, NEVER_USED)) for id_ in replicas.ids())
    )


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
        created=replicas.created(replica),
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

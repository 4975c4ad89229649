"""``drop``: delete a replica; the table itself is not touched.

A query that was planned before may still read its files, so they are deleted a day later, by whatever is done
with the table's replicas then, unless it is to be now.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from skipstone.actions.context import Context
from skipstone.actions.refresh import known_replica
from skipstone.catalog.joined_replicas import JoinedReplica
from skipstone.catalog.joined_store import delete_joined, sweep_joined
from skipstone.catalog.replica_store import delete_replica, sweep_partitions
from skipstone.view import View, Viewed, count, megabytes

__all__ = ["Drop", "DropReport"]


@dataclass(frozen=True, slots=True, repr=False)
class DropReport(Viewed):
    """What was deleted."""

    root: str
    replica: str
    partitions: int
    files: int
    bytes: int
    deleted: bool = False

    def view(self) -> View:
        """One sentence."""
        when = "deleted" if self.deleted else "to be deleted in a day"
        return View(
            f"Dropped replica {self.replica} of {self.root}: "
            f"{count(self.files, 'file')}, {megabytes(self.bytes)}, {when}."
        )

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Drop:
    """Delete a replica; queries read the table or other replicas from then on.

    Its files are deleted a day later, or ``now``: then queries that are reading it fail.
    """

    name: ClassVar[str] = "drop"

    replica: str
    now: bool = False

    def validate(self, context: Context) -> None:
        """Refuse a replica that there is not; one whose records cannot be read can still be deleted."""
        replicas = context.table.stored_replicas()
        if any(name.startswith(f"{self.replica}-") for name in context.table.stored_joined().names):
            return
        if not any(name.startswith(f"{self.replica}.") for name in replicas.names):
            known_replica(context, self.replica)

    def run(self, context: Context) -> DropReport:
        """Let its partitions count no longer, and delete what may be deleted."""
        joined = context.table.stored_joined()
        if any(name.startswith(f"{self.replica}-") for name in joined.names):
            return self._drop_joined(context, joined.find(self.replica))
        mine = [part for part in context.table.stored_replicas().parts if part.replica == self.replica]
        context.report("dropping the replica", 0, len(mine))
        delete_replica(context.store, self.replica, self.now)
        sweep_partitions(context.store)
        context.table.refresh()
        context.report("dropping the replica", len(mine), len(mine))
        return DropReport(
            root=context.snapshot.root,
            replica=self.replica,
            partitions=len(mine),
            files=sum(len(part.files) for part in mine),
            bytes=sum(part.files.bytes for part in mine),
            deleted=self.now,
        )

    def _drop_joined(self, context: Context, known: JoinedReplica | None) -> DropReport:
        delete_joined(context.store, self.replica, self.now)
        sweep_joined(context.store)
        context.table.refresh()
        return DropReport(
            root=context.snapshot.root,
            replica=self.replica,
            partitions=0,
            files=0 if known is None else known.files,
            bytes=0 if known is None else known.bytes,
            deleted=self.now,
        )

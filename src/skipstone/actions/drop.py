"""``drop``: delete a replica; the table itself is not touched."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from skipstone.actions.context import Context
from skipstone.actions.refresh import known_replica
from skipstone.catalog.replica_store import delete_replica
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

    def view(self) -> View:
        """One sentence."""
        return View(
            f"Dropped replica {self.replica} of {self.root}: "
            f"{count(self.files, 'file')}, {megabytes(self.bytes)}."
        )

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Drop:
    """Delete a replica and its files; queries read the table or other replicas from then on."""

    name: ClassVar[str] = "drop"

    replica: str

    def validate(self, context: Context) -> None:
        """Refuse a replica that there is not; one whose records cannot be read can still be deleted."""
        replicas = context.table.stored_replicas()
        if not any(name.startswith(f"{self.replica}.") for name in replicas.names):
            known_replica(replicas, self.replica, context.snapshot.root)

    def run(self, context: Context) -> DropReport:
        """Let its partitions count no longer, and then delete their files."""
        mine = [part for part in context.table.stored_replicas().parts if part.replica == self.replica]
        context.report("dropping the replica", 0, len(mine))
        delete_replica(context.store, self.replica)
        context.table.refresh()
        context.report("dropping the replica", len(mine), len(mine))
        return DropReport(
            root=context.snapshot.root,
            replica=self.replica,
            partitions=len(mine),
            files=sum(len(part.files) for part in mine),
            bytes=sum(part.files.bytes for part in mine),
        )

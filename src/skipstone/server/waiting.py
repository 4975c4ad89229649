"""Which jobs may run now: jobs on one table never run over each other.

A job that writes to a table runs alone on it. Jobs that only read it run beside each other, but not past a
writing one that was asked for earlier, so that none waits forever. Queries read a snapshot of their own and
only have a limit to their number.

>>> optimize, analyze = Claim("t", writes=True), Claim("t")
>>> why_waiting(analyze, [Holder(3, "optimize", optimize)], [], most=4)
'job 3 (optimize), which writes to t'
>>> why_waiting(analyze, [Holder(3, "analyze", analyze)], [], most=4)
>>> why_waiting(analyze, [Holder(3, "analyze", analyze)], [Holder(4, "optimize", optimize)], most=4)
'job 4 (optimize), which is to write to t first'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Claim", "Holder", "why_waiting"]


@dataclass(frozen=True, slots=True)
class Claim:
    """What a job needs: a table to write to or to read, or a place among the queries."""

    table: str | None = None
    writes: bool = False
    query: bool = False

    def hinders(self, other: Claim) -> bool:
        """Whether both cannot run at once."""
        return self.table is not None and self.table == other.table and (self.writes or other.writes)


@dataclass(frozen=True, slots=True)
class Holder:
    """A job that runs, or that was asked for earlier."""

    job: int
    action: str
    claim: Claim

    def __str__(self) -> str:
        return f"job {self.job} ({self.action})"


def why_waiting(claim: Claim, running: Sequence[Holder], earlier: Sequence[Holder], most: int) -> str | None:
    """What a job waits for; None if it may run now. ``most`` is how many of its kind run at once."""
    for holder in running:
        if holder.claim.hinders(claim):
            does = "writes to" if holder.claim.writes else "reads"
            return f"{holder}, which {does} {claim.table}"
    for holder in earlier:
        if holder.claim.hinders(claim):
            does = "write to" if holder.claim.writes else "read"
            return f"{holder}, which is to {does} {claim.table} first"
    alike = [holder for holder in running if holder.claim.query == claim.query]
    if len(alike) >= most:
        return f"one of the {len(alike)} {'queries' if claim.query else 'jobs'} that run"
    return None

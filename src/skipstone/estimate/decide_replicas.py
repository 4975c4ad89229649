"""Which replica to drop or refresh, and whether there is room for another one, within a budget of bytes.

The same cost and benefit as for rewrites: seconds that the logged queries save, over the runs of the log that
count, against ``margin`` times the seconds that the work takes. In this order, one thing a round:

1. More bytes than the budget allows: the replica that saves least for its bytes is dropped.
2. A replica that saves nothing, refreshed or not, is dropped.
3. The refresh that gains most, if it pays.
4. Another replica (:mod:`~skipstone.estimate.estimate_rewrite` judges it), if there is room. Where there
   would be without one that saves less, that one is dropped.

Only replicas that the optimiser has made are ever dropped. Those that people made count for the budget, and
are refreshed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from skipstone.estimate.policy import Policy
from skipstone.estimate.verdict import LayoutFigures, Verdict

__all__ = ["Budget", "ReplicaCode", "ReplicaFigures", "ReplicaVerdict", "decide_kept", "decide_new", "outbid"]

_LARGER = 1.1


class ReplicaCode(StrEnum):
    """What is done about replicas, or why nothing is."""

    DROP_OVER_BUDGET = "DROP_OVER_BUDGET"
    """The replicas have more bytes than they may."""
    DROP_UNUSED = "DROP_UNUSED"
    """No query of the window saves anything by it."""
    DROP_OUTBID = "DROP_OUTBID"
    """Another replica would save more in its place."""
    REFRESH_PAYS = "REFRESH_PAYS"
    """To read changed data from the table costs more than to copy it."""
    REPLICA_PAYS = "REPLICA_PAYS"
    """A further replica saves more than making it costs."""
    DROPPED_LATELY = "DROPPED_LATELY"
    """A replica was dropped not long ago; to make another at once may go round in circles."""
    NO_ROOM = "NO_ROOM"
    """A further replica would be more than the budget allows."""
    NOT_WORTH = "NOT_WORTH"
    """A further replica saves less than making it costs."""

    @property
    def acts(self) -> bool:
        """Whether something is done."""
        return self not in (ReplicaCode.DROPPED_LATELY, ReplicaCode.NO_ROOM, ReplicaCode.NOT_WORTH)


@dataclass(frozen=True, slots=True)
class ReplicaFigures:
    """What one replica has and saves; seconds saved are those of one run of the log.

    ``automatic`` is a replica that the optimiser has made. ``stale_bytes`` are those of base files that it
    does not hold as they are now, ``scans`` the logged ones that read it.
    """

    id: str
    automatic: bool
    bytes: int
    stale_bytes: int
    seconds_saved: float
    refresh_seconds_saved: float
    refresh_seconds: float
    scans: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """The bytes that all replicas of a table may have, and the table's own; ``runs`` of the log count."""

    bytes: int
    table_bytes: int
    runs: float
    margin: float

    @classmethod
    def of(cls, bytes_: int, table_bytes: int, policy: Policy, days: float | None) -> Budget:
        """The budget under a policy, for a log that took so many days."""
        runs = policy.horizon_days / days if policy.horizon_days is not None and days else 1.0
        return cls(bytes_, table_bytes, runs, policy.margin)

    @property
    def needed(self) -> int:
        """Bytes that a further replica may come to: the same rows in another order compress otherwise."""
        return int(_LARGER * self.table_bytes)

    def room(self, replicas: Sequence[ReplicaFigures]) -> int:
        """The bytes that are left."""
        return self.bytes - sum(replica.bytes for replica in replicas)


@dataclass(frozen=True, slots=True)
class ReplicaVerdict:
    """What to do about replicas, and why; ``replica`` is the one to drop or refresh."""

    code: ReplicaCode
    sentence: str
    replica: str = ""

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "code": self.code.value}


def decide_kept(replicas: Sequence[ReplicaFigures], budget: Budget) -> ReplicaVerdict | None:
    """What to do with the replicas that there are; None if they stay as they are."""
    return _over_budget(replicas, budget) or _unused(replicas) or _refresh(replicas, budget)


def _over_budget(replicas: Sequence[ReplicaFigures], budget: Budget) -> ReplicaVerdict | None:
    droppable = [each for each in replicas if each.automatic]
    if budget.room(replicas) >= 0 or not droppable:
        return None
    least = min(droppable, key=lambda each: (each.seconds_saved / max(each.bytes, 1), each.id))
    has = sum(each.bytes for each in replicas)
    return ReplicaVerdict(
        ReplicaCode.DROP_OVER_BUDGET,
        f"the replicas have {has / 1e6:,.1f} MB and may have {budget.bytes / 1e6:,.1f} MB; {least.id} saves "
        f"least for its bytes, {budget.runs * least.seconds_saved:.1f} s",
        least.id,
    )


def _unused(replicas: Sequence[ReplicaFigures]) -> ReplicaVerdict | None:
    for each in replicas:
        if each.automatic and each.seconds_saved <= 0.0 and each.refresh_seconds_saved <= 0.0:
            sentence = f"no logged query saves anything by replica {each.id} ({each.bytes / 1e6:,.1f} MB)"
            return ReplicaVerdict(ReplicaCode.DROP_UNUSED, sentence, each.id)
    return None


def _refresh(replicas: Sequence[ReplicaFigures], budget: Budget) -> ReplicaVerdict | None:
    room = budget.room(replicas)

    def gain(each: ReplicaFigures) -> float:
        return budget.runs * each.refresh_seconds_saved - budget.margin * each.refresh_seconds

    # What is stale is retired, so a refresh needs room for what the replica grows by alone.
    paying = [
        each
        for each in replicas
        if each.stale_bytes and gain(each) > 0.0 and budget.table_bytes - each.bytes <= room
    ]
    if not paying:
        return None
    best = max(paying, key=gain)
    return ReplicaVerdict(
        ReplicaCode.REFRESH_PAYS,
        f"replica {best.id} lacks {best.stale_bytes / 1e6:,.1f} MB of the table as it is; to read them there "
        f"costs {budget.runs * best.refresh_seconds_saved:.1f} s more, and copying them about "
        f"{best.refresh_seconds:.1f} s",
        best.id,
    )


def decide_new(
    replicas: Sequence[ReplicaFigures], budget: Budget, dropped: str = ""
) -> ReplicaVerdict | None:
    """Why no further replica can be made, however much it saved; None if one may be estimated.

    ``dropped`` is why one was dropped lately, empty if none was: to make another at once may go round in
    circles.
    """
    if dropped:
        return ReplicaVerdict(ReplicaCode.DROPPED_LATELY, f"a replica was dropped not long ago: {dropped}")
    room, needed = budget.room(replicas), budget.needed
    if needed <= room or any(each.automatic and needed <= room + each.bytes for each in replicas):
        return None
    return ReplicaVerdict(
        ReplicaCode.NO_ROOM,
        f"a further replica may have {needed / 1e6:,.1f} MB, and {max(room, 0) / 1e6:,.1f} of "
        f"{budget.bytes / 1e6:,.1f} MB are left for replicas",
    )


def outbid(replicas: Sequence[ReplicaFigures], budget: Budget, estimate: Verdict) -> ReplicaVerdict:
    """The verdict on a further replica once it was estimated: made, or made room for, or not worth it."""
    best = estimate.figures.best if estimate.figures is not None else None
    if not estimate.pays or best is None:
        return ReplicaVerdict(ReplicaCode.NOT_WORTH, estimate.sentence)
    room, needed = budget.room(replicas), budget.needed
    if needed <= room:
        return ReplicaVerdict(ReplicaCode.REPLICA_PAYS, estimate.sentence)
    others = [each for each in replicas if each.automatic and needed <= room + each.bytes]
    least = min(others, key=lambda each: (each.seconds_saved, each.id))
    if _gain_in_place(best, least, budget) <= 0.0:
        return ReplicaVerdict(
            ReplicaCode.NO_ROOM,
            f"{estimate.sentence}, but there is room for it only in place of replica {least.id}, which saves "
            f"{budget.runs * least.seconds_saved:.1f} s",
        )
    return ReplicaVerdict(
        ReplicaCode.DROP_OUTBID,
        f"{estimate.sentence}; replica {least.id} saves {budget.runs * least.seconds_saved:.1f} s, and there "
        "is no room for both",
        least.id,
    )


def _gain_in_place(best: LayoutFigures, least: ReplicaFigures, budget: Budget) -> float:
    saved = (best.seconds_saved or 0.0) - least.seconds_saved
    return budget.runs * saved - budget.margin * (best.rewrite_seconds_estimated or 0.0)

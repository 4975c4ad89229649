"""The cheapest grouping of two tables' blocks under a limit for the hashed side, or why there is none.

Every algorithm is tried with several numbers of groups. A grouping takes as long as the busiest core: at
least its largest group, and all groups divided by the cores. The hashed side of each group has to fit into
memory, since hash joins do not spill; where no grouping allows that, the groups are joined by sorting. A
grouping that is not clearly cheaper than a shuffle of both tables is refused, and so is one that reads the
larger table more than twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skipstone.joining.around_larger import around_larger
from skipstone.joining.by_ranges import by_ranges, split
from skipstone.joining.groups import Grouping, Tables, is_join
from skipstone.joining.halving import halving
from skipstone.view import count

__all__ = ["Chosen", "Limits", "Refused", "choose"]

_MOST_TIMES_READ = 2.0
_SHUFFLED = 1.8
"""What a join by a shuffle takes, where one that reads everything once takes 1; with sorting it is 1.9."""
_TASK = 1 << 20
"""What starting a task takes, as bytes of rows."""
_MOST_GROUPS = 2000


@dataclass(frozen=True, slots=True)
class Limits:
    """How many tasks run at a time, how many bytes of rows may be hashed in one, and which sides may be."""

    cores: int
    hashed: int
    may_hash: tuple[bool, bool] = (True, True)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A grouping; ``hashed`` is the side that is hashed in each group, None if both are sorted."""

    grouping: Grouping
    hashed: int | None

    def sentence(self) -> str:
        """What was chosen, for people."""
        grouping = self.grouping
        how = "sorted" if self.hashed is None else f"the {('left', 'right')[self.hashed]} side hashed"
        times = " and ".join(f"{grouping.times_read(side):.2f}" for side in (0, 1))
        return (
            f"{count(len(grouping.groups), 'group')} ({grouping.name}), {how}; left and right are read "
            f"{times} times, and {grouping.tables.total:,} bytes of rows are not shuffled"
        )


@dataclass(frozen=True, slots=True)
class Refused:
    """Why there is no grouping."""

    code: str
    sentence: str


def choose(tables: Tables, limits: Limits) -> Chosen | Refused:
    """The grouping that takes least, of those that fit; ties go to the algorithm that is tried first."""
    if not tables.total:
        return Refused("EMPTY", "one of the tables has no rows that could be joined")
    found = [grouping for grouping in _candidates(tables, limits.cores) if grouping.groups]
    if not found:
        return Refused("EMPTY", "no block of one table has keys of the other")
    found.sort(key=lambda grouping: _takes(grouping, limits.cores))
    sides = [_hashed_side(grouping, limits) for grouping in found]
    hashed = [Chosen(grouping, side) for grouping, side in zip(found, sides, strict=True) if side is not None]
    judged = [_judged(chosen, limits) for chosen in (*hashed[:1], Chosen(found[0], sides[0]))]
    return next((chosen for chosen in judged if isinstance(chosen, Chosen)), judged[-1])


def _judged(chosen: Chosen, limits: Limits) -> Chosen | Refused:
    grouping = chosen.grouping
    tables = grouping.tables
    times = grouping.times_read(tables.larger)
    if times > _MOST_TIMES_READ:
        return Refused("REPEATED", f"the larger table would be read {times:.1f} times")
    takes, shuffled = _takes(grouping, limits.cores), _SHUFFLED * tables.total / limits.cores
    if takes > shuffled + _TASK:
        return Refused(
            "COST",
            f"the best of the groupings would take {takes / shuffled:.1f} times as long as a shuffle",
        )
    if not is_join(grouping):
        return Refused("NOT_A_JOIN", f"the groups of {grouping.name} are not the whole join")
    return chosen


def _candidates(tables: Tables, cores: int) -> Iterator[Grouping]:
    """Each algorithm, with several numbers of groups."""
    for times in (1, 2, 4, 8):
        groups = min(_MOST_GROUPS, times * cores)
        yield halving(tables, max(1, tables.total // groups))
        yield around_larger(tables, groups)
        whole = by_ranges(tables, groups)
        yield whole
        yield split(by_ranges(tables, max(1, groups // 2)), max(1, tables.total // groups))


def _takes(grouping: Grouping, cores: int) -> float:
    """What the busiest core has to do, in bytes of rows."""
    cost = grouping.cost
    return max(float(cost.sum()) / cores, float(cost.max())) + _TASK * len(cost) / cores


def _hashed_side(grouping: Grouping, limits: Limits) -> int | None:
    """The side whose largest group is smaller, if it fits."""
    largest = [int(grouping.weights(side).max()) for side in (0, 1)]
    sides = [side for side in (0, 1) if limits.may_hash[side] and largest[side] <= limits.hashed]
    return min(sides, key=lambda side: largest[side]) if sides else None

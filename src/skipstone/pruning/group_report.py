"""What a scan reads of column groups, for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from skipstone.view import count, megabytes

__all__ = ["GroupJson", "GroupReport", "GroupsJson", "ReadGroup", "group_reports"]


class GroupJson(TypedDict):
    """A group as the shim writes it; ``stored`` are its columns that are read."""

    stored: list[str]
    blocks: int
    blocks_total: int
    rows: int
    bytes: int


class ReadJson(TypedDict):
    """What is read of one replica."""

    replica: str
    partitions: int
    partitions_total: int
    groups: list[GroupJson]


class GroupsJson(TypedDict):
    """What was decided about the groups of a scan; ``verdicts`` are by the number of the partition."""

    chosen: list[int]
    replaced: list[int]
    reads: list[ReadJson]
    verdicts: dict[str, str]


@dataclass(frozen=True, slots=True)
class ReadGroup:
    """One group: the columns that are read of it, and its blocks."""

    columns: tuple[str, ...]
    blocks: int
    blocks_total: int
    rows: int
    bytes: int

    def line(self) -> str:
        """The group as text."""
        read = f"{self.blocks:,} of {count(self.blocks_total, 'block')}"
        return (
            f"group ({', '.join(self.columns)}): {read}, {count(self.rows, 'row')}, {megabytes(self.bytes)}"
        )


@dataclass(frozen=True, slots=True)
class GroupReport:
    """What is read of one replica by column groups.

    ``partitions`` are the horizontal partitions in which every group has a block that is read.
    ``hash_joins`` and ``merge_joins`` put tuples together, over all replicas of the scan.
    """

    replica: str
    partitions: int
    partitions_total: int
    groups: tuple[ReadGroup, ...]
    hash_joins: int
    merge_joins: int

    @property
    def rows(self) -> int:
        """The most rows that are read of any group."""
        return max((group.rows for group in self.groups), default=0)

    def lines(self) -> tuple[str, ...]:
        """The report as text."""
        some = f"{self.partitions:,} of {count(self.partitions_total, 'horizontal partition')}"
        kinds = [("hash", self.hash_joins), ("sort-merge", self.merge_joins)]
        joins = " and ".join(f"{count(number, f'{kind} join')}" for kind, number in kinds if number)
        one = "of one group, so no tuple is put together"
        how = f"tuples put together by {joins}" if len(self.groups) > 1 and joins else one
        head = f"replica {self.replica}, {some} read by columns: {how}"
        return head, *(f"  {group.line()}" for group in self.groups)


def group_reports(found: GroupsJson | None, joins: Mapping[str, int] | None) -> tuple[GroupReport, ...]:
    """A report for each replica of which something is read."""
    if found is None:
        return ()
    how = joins or {"hash": 0, "merge": 0}
    return tuple(
        GroupReport(
            replica=read["replica"],
            partitions=read["partitions"],
            partitions_total=read["partitions_total"],
            groups=tuple(
                ReadGroup(
                    tuple(group["stored"]),
                    group["blocks"],
                    group["blocks_total"],
                    group["rows"],
                    group["bytes"],
                )
                for group in read["groups"]
            ),
            hash_joins=how["hash"],
            merge_joins=how["merge"],
        )
        for read in found["reads"]
    )

"""What a scan reads of column groups: files, and the bytes of them that each task reads.

Neighbouring blocks are read in one piece, and a skipped block between two others too if opening the file once
more would take longer than reading it. Where several groups are needed, all that is read of a horizontal
partition is one task, for there its tuples are put together. Where one group is enough, any blocks can
share a task, and tasks are made as large as Spark makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from skipstone.catalog.choose_groups import (
    JOINED_ROW_NANOS,
    OPEN_NANOS,
    GroupChoice,
    GroupQuestion,
    row_nanos,
)
from skipstone.catalog.column_groups import StoredGroup
from skipstone.catalog.files import Files
from skipstone.catalog.replicas import Flags, Replicas, concatenated

__all__ = ["GroupRead", "ReplicaRead", "group_reads"]

_LEAST_BYTES = 4_000_000
Range = tuple[int, int, int]
"""The number of a file, the first byte, and how many."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupRead:
    """What is read of one group of a replica, over all its horizontal partitions.

    ``rows`` and ``blocks`` are those that are read, ``most_rows`` those of the largest partition.
    """

    columns: tuple[str, ...]
    files: Files
    tasks: tuple[tuple[Range, ...], ...]
    rows: int
    most_rows: int
    blocks: int
    blocks_total: int
    bytes: int


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaRead:
    """What is read of one replica: ``partitions`` of those that it answers for, by these groups."""

    replica: str
    partitions: int
    partitions_total: int
    groups: tuple[GroupRead, ...]

    @property
    def joined(self) -> bool:
        """Whether tuples are put together."""
        return len(self.groups) > 1


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """One group of one horizontal partition, and which of its blocks are read."""

    group: StoredGroup
    read: Flags
    bytes_share: float

    @property
    def rows(self) -> int:
        return int(self.group.blocks.blocks.rows[self.read].sum())

    @property
    def bytes(self) -> float:
        return float(self.group.blocks.files.sizes[self.read].sum()) * self.bytes_share

    def ranges(self, first_file: int) -> list[Range]:
        """The blocks that are read, with files numbered from some number on."""
        group = self.group
        indices = np.flatnonzero(self.read)
        places = group.file_of[indices], group.starts[indices], group.blocks.files.sizes[indices]
        found = zip(*(each.tolist() for each in places), strict=True)
        return [(first_file + file, start, size) for file, start, size in found]


def group_reads(
    replicas: Replicas, asked: GroupQuestion, choice: GroupChoice, tasks: int
) -> tuple[ReplicaRead, ...]:
    """What the chosen partitions read, one replica after the other; about so many tasks for one group."""
    by_replica: dict[str, list[int]] = {}
    for part in np.flatnonzero(choice.chosen).tolist():
        by_replica.setdefault(replicas.parts[part].replica, []).append(part)
    return tuple(_replica(replicas, parts, asked, choice, tasks) for parts in by_replica.values())


def _replica(
    replicas: Replicas, parts: Sequence[int], asked: GroupQuestion, choice: GroupChoice, tasks: int
) -> ReplicaRead:
    first = replicas.parts[parts[0]]
    needed = [n for n, group in enumerate(first.groups) if set(group.columns) & set(asked.columns)]
    joined = len(needed) > 1
    pieces: list[list[_Piece]] = [[] for _ in needed]
    for part in parts:
        found = [_piece(replicas, part, number, asked, choice) for number in needed]
        if all(piece.read.any() for piece in found):
            for some, piece in zip(pieces, found, strict=True):
                some.append(_bridged(piece, joined, asked.columns))
    columns = [tuple(c for c in asked.columns if c in first.groups[n].columns) for n in needed]
    totals = [sum(len(replicas.parts[part].groups[n]) for part in parts) for n in needed]
    return ReplicaRead(
        replica=first.replica,
        partitions=len(pieces[0]) if pieces else 0,
        partitions_total=len(parts),
        groups=tuple(
            _read(names, some, total, 0 if joined else tasks)
            for names, some, total in zip(columns, pieces, totals, strict=True)
        ),
    )


def _piece(replicas: Replicas, part: int, number: int, asked: GroupQuestion, choice: GroupChoice) -> _Piece:
    grouped, owner = replicas.grouped, replicas.parts[part]
    group = owner.groups[number]
    index = next(n for n, (mine, stored) in enumerate(grouped.groups) if mine == part and stored is group)
    read = choice.keep[grouped.first[index] : grouped.first[index] + len(group)]
    wanted = sum(group.column_bytes.get(column, 0) for column in asked.columns if column in group.columns)
    return _Piece(group, read, wanted / max(sum(group.column_bytes.values()), 1))


def _bridged(piece: _Piece, joined: bool, columns: Sequence[str]) -> _Piece:
    """The piece with the gaps that are cheaper to read than to leave out."""
    group, read = piece.group, piece.read.copy()
    rows = group.blocks.blocks.rows
    mine = [column for column in columns if column in group.columns]
    each = row_nanos(group, mine) + (JOINED_ROW_NANOS if joined else 0.0)
    for left, right in pairwise(np.flatnonzero(read).tolist()):
        between = slice(left + 1, right)
        if group.file_of[left] == group.file_of[right] and rows[between].sum() * each < OPEN_NANOS:
            read[between] = True
    return replace(piece, read=read)


def _read(columns: tuple[str, ...], pieces: Sequence[_Piece], total: int, tasks: int) -> GroupRead:
    """One group; with ``tasks`` its blocks are dealt out to about so many, else each piece is a task."""
    files = concatenated([piece.group.files for piece in pieces])
    before = np.cumsum([0, *(len(piece.group.files) for piece in pieces)])
    ranges = [piece.ranges(int(first)) for piece, first in zip(pieces, before, strict=False)]
    wanted = sum(piece.bytes for piece in pieces)
    if tasks:
        share = pieces[0].bytes_share if pieces else 1.0
        ranges = _dealt([each for some in ranges for each in some], wanted, tasks, share)
    rows = [piece.rows for piece in pieces]
    return GroupRead(
        columns=columns,
        files=files,
        tasks=tuple(map(_merged, ranges)),
        rows=sum(rows),
        most_rows=max(rows, default=0),
        blocks=sum(int(piece.read.sum()) for piece in pieces),
        blocks_total=total,
        bytes=round(wanted),
    )


def _dealt(ranges: Sequence[Range], wanted: float, tasks: int, share: float) -> list[list[Range]]:
    """Ranges in their order, as many to a task as make it full."""
    most = max(_LEAST_BYTES, wanted / tasks)
    dealt: list[list[Range]] = []
    size = 0.0
    for each in ranges:
        if not dealt or size + each[2] * share / 2 > most:
            dealt.append([])
            size = 0.0
        dealt[-1].append(each)
        size += each[2] * share
    return dealt


def _merged(ranges: Sequence[Range]) -> tuple[Range, ...]:
    out: list[Range] = []
    for file, start, length in ranges:
        if out and out[-1][0] == file and out[-1][1] + out[-1][2] == start:
            out[-1] = (file, out[-1][1], out[-1][2] + length)
        else:
            out.append((file, start, length))
    return tuple(out)

"""Whether a scan reads column groups, and which blocks of them (GSOP, VLDB 2016, section 6).

Of a horizontal partition only the groups that hold requested columns are read, and of each only blocks that
can hold a row which satisfies the filter. A row is wanted only if none of its blocks is skipped, so where all
blocks of any group are skipped, also of one that is not read, the partition has no such row. Tuple ids are
read, and tuples put together, only if more than one group is needed.

Both ways are judged by what reading takes: bytes and values of the requested columns, files and parts of
files that are opened, and the rows that are put together. The base is read unless groups are cheaper by a
twentieth. Horizontal partitions that hold rows of the same files as a copy of whole rows which the scan reads
are taken together with all others that do, and only if they hold all rows of it; such a *cluster* is read in
place of base files and copies, or not at all.
Cost: linear in the blocks of the groups and the files of the replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skipstone.catalog.choose_copies import Choice, CopyState, Skips, Verdict
from skipstone.catalog.column_groups import StoredGroup
from skipstone.catalog.replicas import Flags, HorizontalPartition, Replicas
from skipstone.pruning.blocks import Counts

__all__ = ["JOINED_ROW_NANOS", "OPEN_NANOS", "GroupChoice", "GroupQuestion", "choose_groups", "row_nanos"]

_MARGIN = 0.95
# As costs of reading are until they are measured (skipstone.estimate.cost).
_BYTE_NANOS = 6.0
_VALUE_NANOS = 10.0
OPEN_NANOS = 3e6
"""Opening a file, or one more part of it: as much as reading half a megabyte."""
JOINED_ROW_NANOS = 800.0
"""Putting a row together with its values of one more group; measured between 0.7 and 1 µs."""
Costs = np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class GroupQuestion:
    """What a scan asks for: stored columns, the partitions that it may read, and what it reads otherwise.

    ``usable`` are partitions whose rows are those of the snapshot and that hold all requested columns as they
    are asked for; ``skip`` says which of the groups' blocks may be skipped. ``base_rows`` are the rows of the
    covered base files, as far as they are known. With ``always`` groups are read whatever that costs.
    """

    columns: tuple[str, ...]
    usable: Flags
    skip: Flags
    rows_choice: Choice
    skips: Skips
    base_rows: Counts
    state: CopyState
    always: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class GroupChoice:
    """The partitions that are read by groups, those of whole rows that are not read any more, and why.

    ``verdicts`` are of the partitions that are stored by groups. ``keep`` says which blocks of the groups are
    read; nothing is read of partitions in ``chosen`` in which some group has none.
    """

    chosen: Flags
    replaced: Flags
    keep: Flags
    verdicts: dict[int, Verdict]
    nanos: Costs
    base_nanos: Costs


def choose_groups(replicas: Replicas, asked: GroupQuestion) -> GroupChoice:
    """Choose for one scan."""
    count = len(replicas)
    keep = _kept(replicas, asked)
    nanos = np.array([_groups_nanos(replicas, number, asked, keep) for number in range(count)])
    base, rows_nanos = _base_nanos(replicas, asked), _rows_nanos(replicas, asked)
    chosen, replaced = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    verdicts = dict.fromkeys(np.flatnonzero(asked.usable).tolist(), Verdict.BASE_CHEAPER)
    lost = np.isin(np.arange(count), asked.state.base_missing)
    taken = np.zeros(int(replicas.covered_number.max(initial=-1)) + 1, np.bool_)
    found = []
    for parts, copies in _clusters(replicas, asked):
        needed = bool(lost[parts].any())
        otherwise = np.inf if needed else base[parts].sum() + rows_nanos[copies].sum()
        if asked.always or nanos[parts].sum() < _MARGIN * otherwise:
            found.append((nanos[parts].sum() - otherwise, parts, copies, needed))
    for _, parts, copies, needed in sorted(found, key=lambda each: each[0]):
        files = replicas.covered_number[np.isin(replicas.covered_by, parts)]
        free = not taken[files].any()
        taken[files] = True
        chosen[parts], replaced[copies] = free, free | replaced[copies]
        verdict = Verdict.COVERED if not free else Verdict.BASE_MISSING if needed else Verdict.CHEAPER
        verdicts |= dict.fromkeys(parts, verdict)
    return GroupChoice(chosen, replaced, keep, verdicts, nanos, base)


def row_nanos(group: StoredGroup, columns: Sequence[str]) -> float:
    """What reading these columns of a row of the group takes."""
    rows = int(group.blocks.blocks.rows.sum())
    sizes = sum(group.column_bytes.get(column, 0) for column in columns) / max(rows, 1)
    return sizes * _BYTE_NANOS + len(columns) * _VALUE_NANOS


def _kept(replicas: Replicas, asked: GroupQuestion) -> Flags:
    """The blocks that are read: none of a partition that has no row the query wants."""
    grouped = replicas.grouped
    kept = ~asked.skip
    left = np.bincount(grouped.group_of[kept], minlength=len(grouped))
    empty = {part for (part, _), blocks in zip(grouped.groups, left.tolist(), strict=True) if not blocks}
    gone = np.array([part in empty for part, _ in grouped.groups], np.bool_)
    return np.asarray(kept & ~gone[grouped.group_of] if len(gone) else kept, np.bool_)


def _groups_nanos(replicas: Replicas, part: int, asked: GroupQuestion, keep: Flags) -> float:
    """What reading a partition by its groups takes."""
    if not asked.usable[part]:
        return np.inf
    grouped = replicas.grouped
    total, rows = 0.0, []
    for number, (owner, group) in enumerate(grouped.groups):
        columns = [column for column in asked.columns if column in group.columns]
        if owner == part and columns:
            mine = slice(grouped.first[number], grouped.first[number] + len(group))
            read = keep[mine]
            rows.append(float(grouped.catalog.blocks.rows[mine][read].sum()))
            total += rows[-1] * row_nanos(group, columns)
            # One more part begins wherever a block is read and the one before it is not.
            total += OPEN_NANOS * float((read & ~np.append(False, read[:-1])).sum())
    if len(rows) > 1:
        ordered = sorted(rows)
        total += sum(ordered) * (_BYTE_NANOS + _VALUE_NANOS) + JOINED_ROW_NANOS * sum(ordered[1:])
    return total


def _base_nanos(replicas: Replicas, asked: GroupQuestion) -> Costs:
    """What reading the base files of each partition takes that are not read from a copy of whole rows."""
    count, by = len(replicas), replicas.covered_by
    copied = asked.rows_choice.chosen[by]
    elsewhere = np.isin(replicas.covered_number, replicas.covered_number[copied])
    read = np.append(~asked.skips.base_skip, True)[asked.skips.base_entry] & ~elsewhere
    rows = np.bincount(by[read], weights=asked.base_rows[read], minlength=count)
    files = np.bincount(by[read], minlength=count)
    each = np.array([_row_nanos(part, asked.columns) for part in replicas.parts])
    return np.asarray(rows * each + files * OPEN_NANOS)


def _rows_nanos(replicas: Replicas, asked: GroupQuestion) -> Costs:
    """What copies of whole rows take that the scan reads otherwise; a row takes what it does in groups."""
    count, of = len(replicas), replicas.part_of
    read = ~asked.skips.skip & asked.rows_choice.chosen[of]
    rows = np.bincount(of[read], weights=replicas.catalog.blocks.rows[read], minlength=count)
    grouped = [part for part, usable in zip(replicas.parts, asked.usable, strict=True) if usable]
    each = _row_nanos(grouped[0], asked.columns) if grouped else 0.0
    return np.asarray(rows * each + np.bincount(of[read], minlength=count) * OPEN_NANOS)


def _row_nanos(part: HorizontalPartition, columns: Sequence[str]) -> float:
    """What reading these columns of a row takes where they lie together; by their bytes in the groups."""
    return sum(
        row_nanos(group, [column for column in columns if column in group.columns]) for group in part.groups
    )


def _clusters(replicas: Replicas, asked: GroupQuestion) -> list[tuple[list[int], list[int]]]:
    """Partitions of one replica, and the copies of whole rows in whose place they can be read."""
    files: dict[int, set[int]] = {}
    for number, by in zip(replicas.covered_number.tolist(), replicas.covered_by.tolist(), strict=True):
        files.setdefault(by, set()).add(number)
    copies = np.flatnonzero(asked.rows_choice.chosen).tolist()
    by_replica: dict[str, list[int]] = {}
    for part in np.flatnonzero(asked.usable).tolist():
        by_replica.setdefault(replicas.parts[part].replica, []).append(part)
    found: list[tuple[list[int], list[int]]] = []
    for parts in by_replica.values():
        left = list(parts)
        while left:
            some, others = [left.pop()], list[int]()
            held = set(files[some[0]])
            while True:
                more = [copy for copy in copies if copy not in others and files[copy] & held]
                wanted = held.union(*(files[copy] for copy in more))
                joined = [part for part in left if files[part] & wanted]
                if not more and not joined:
                    break
                others += more
                some += joined
                left = [part for part in left if part not in joined]
                held = held.union(*(files[part] for part in joined))
                if more and not joined:
                    break
            if all(files[copy] <= held for copy in others) and _disjoint([files[part] for part in some]):
                found.append((sorted(some), sorted(others)))
    return found


def _disjoint(sets: Sequence[set[int]]) -> bool:
    return sum(map(len, sets)) == len(set[int]().union(*sets))

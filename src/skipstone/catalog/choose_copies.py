"""Which copy of its rows a scan reads, for each horizontal partition of each replica.

A copy is judged by the bytes of the files that are left after skipping, and by their number: to open a file
costs as much as to read half a megabyte more. The base is read unless a replica is cheaper by a twentieth,
so that figures which are about the same do not send similar queries to different copies. Base files that are
missing cannot be read at any price.

Partitions that cover a common base file exclude each other. Those for missing base files are chosen first, so
that as few of these as possible stay lost (:mod:`~skipstone.catalog.cover_lost`). Of the others, the one that
saves most is taken first, and then each that is still possible. Where all replicas have the same partitions,
that is the cheapest choice.
Cost: linear in the files of the replicas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

from skipstone.catalog.cover_lost import cover_lost
from skipstone.catalog.replicas import Flags, Replicas, holds_columns
from skipstone.pruning.blocks import Counts

__all__ = ["NO_COPIES", "Choice", "CopyState", "Skips", "Verdict", "choose_copies"]

FILE_BYTES = 500_000
"""What opening a file costs, in bytes that could be read instead."""
_MARGIN = 0.95
Costs = npt.NDArray[np.float64]


class Verdict(Enum):
    """Why a horizontal partition is read, or not."""

    CHEAPER = "it costs less than the base files that it covers"
    BASE_MISSING = "base files that it covers are missing or damaged"
    BASE_CHEAPER = "the base files that it covers cost no more"
    COVERED = "another replica that holds the same rows costs less"
    STALE = "base files that it covers have changed or are gone"
    FILES_MISSING = "some of its own files are missing, or have another size than when they were written"
    OTHER_SCHEMA = "the table had other columns when it was made"
    OTHER_SETTINGS = "it was made under other settings of the Parquet reader"
    BY_COLUMNS = "it is stored by column groups, and is chosen by the columns that the query reads"
    OTHER_COLUMNS = "a column that the query reads is in none of its groups, or of another type there"
    TURNED_OFF = "reading column groups is turned off in this session"
    LEFT_ALONE = "the query can tell from which files its rows come, or is part of a transaction"


@dataclass(frozen=True, slots=True)
class CopyState:
    """The partitions whose base files are in the scanned snapshot, as the JVM found them, by number.

    ``missing`` lack files of their own, or have some of another size than was recorded. Of ``base_missing``,
    base files are not there any more; ``lost`` are these files, by their number among all that the replicas
    cover.
    """

    valid: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    base_missing: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()

    @classmethod
    def read(cls, found: Mapping[str, Sequence[int]]) -> CopyState:
        """Read the JVM's JSON."""
        return cls(*(tuple(found[name]) for name in ("valid", "missing", "base_missing", "lost")))


NO_COPIES = CopyState()


@dataclass(frozen=True, slots=True, eq=False)
class Skips:
    """What pruning found: entries of the base catalog and of the replicas' that a scan may skip.

    ``base_entry`` holds, for each covered file of the replicas, its entry in the base catalog, or -1.
    """

    base_skip: Flags
    base_entry: Counts
    skip: Flags


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The partitions to read, and for every one the verdict and what it and its base files would cost."""

    chosen: Flags
    verdicts: tuple[Verdict, ...]
    base_bytes: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    base_files: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    own_bytes: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    own_files: Counts = field(default_factory=lambda: np.zeros(0, np.int64))


def choose_copies(
    replicas: Replicas, state: CopyState | None, schema: str, settings: Mapping[str, str], skips: Skips
) -> Choice:
    """Choose for one scan; ``state`` is None for a scan that reads the base, whatever it costs."""
    verdicts = _verdicts(replicas, state, schema, settings)
    count = len(replicas)
    base_read = np.append(~skips.base_skip, True)[skips.base_entry]
    by, part_of = replicas.covered_by, replicas.part_of
    base_bytes, base_files = _sums(by, base_read, replicas.covered.sizes, count)
    own_bytes, own_files = _sums(part_of, ~skips.skip, replicas.catalog.files.sizes, count)
    base = base_bytes + FILE_BYTES * base_files.astype(np.float64)
    own = own_bytes + FILE_BYTES * own_files.astype(np.float64)
    lost = np.zeros(count, np.bool_)
    lost[list((state or NO_COPIES).base_missing)] = True
    usable = np.array([verdict is None for verdict in verdicts], np.bool_)
    wanted = usable & (lost | (own < _MARGIN * base))
    gone = _lost_files(replicas, state or NO_COPIES, usable & lost)
    chosen = _compatible(replicas, wanted, base - own, gone)
    final = tuple(
        verdict or _judged(bool(chosen[part]), bool(wanted[part]), bool(lost[part]))
        for part, verdict in enumerate(verdicts)
    )
    return Choice(chosen, final, base_bytes, base_files, own_bytes, own_files)


def _judged(chosen: bool, wanted: bool, lost: bool) -> Verdict:
    if chosen:
        return Verdict.BASE_MISSING if lost else Verdict.CHEAPER
    return Verdict.COVERED if wanted else Verdict.BASE_CHEAPER


def _verdicts(
    replicas: Replicas, state: CopyState | None, schema: str, settings: Mapping[str, str]
) -> list[Verdict | None]:
    """Why partitions cannot be read; None for those that can."""
    if state is None:
        return [Verdict.LEFT_ALONE] * len(replicas)
    found: list[Verdict | None] = [Verdict.STALE] * len(replicas)
    for number in state.missing:
        found[number] = Verdict.FILES_MISSING
    foreign = np.zeros(len(replicas), np.bool_)
    foreign[replicas.part_of[replicas.catalog.foreign(dict(settings))]] = True
    for number in state.valid:
        part = replicas.parts[number]
        if not part.groups and not holds_columns(part.schema, schema):
            found[number] = Verdict.OTHER_SCHEMA
        elif foreign[number]:
            found[number] = Verdict.OTHER_SETTINGS
        else:
            found[number] = Verdict.BY_COLUMNS if part.groups else None
    return found


def _sums(parts: Counts, read: Flags, sizes: Counts, count: int) -> tuple[Counts, Counts]:
    """Bytes and number of the files that are read, by partition."""
    chosen = parts[read]
    bytes_ = np.bincount(chosen, weights=sizes[read], minlength=count).astype(np.int64)
    return bytes_, np.bincount(chosen, minlength=count).astype(np.int64)


def _lost_files(replicas: Replicas, state: CopyState, lost: Flags) -> Flags:
    """The covered files that are missing or damaged, of partitions that can be read in their place."""
    found = replicas.damaged_files.copy()
    found[list(state.lost)] = True
    found &= lost[replicas.covered_by]
    # Of which files nobody says which are gone, all have to be covered.
    told = np.zeros(len(replicas), np.bool_)
    told[replicas.covered_by[found]] = True
    return np.asarray(found | (lost & ~told)[replicas.covered_by], np.bool_)


def _compatible(replicas: Replicas, wanted: Flags, gain: Costs, gone: Flags) -> Flags:
    """Of the wanted partitions those that cover no common file: first for what is gone, then by gain."""
    chosen = np.zeros(len(replicas), np.bool_)
    numbers = np.flatnonzero(wanted)
    if not len(numbers):
        return chosen
    taken = np.zeros(int(replicas.covered_number.max()) + 1, np.bool_)
    starts = np.searchsorted(replicas.covered_by, np.arange(len(replicas) + 1))
    ordered = numbers[np.argsort(-gain[numbers], kind="stable")].tolist()
    for part in (*_for_lost(replicas, ordered, gone), *ordered):
        files = replicas.covered_number[starts[part] : starts[part + 1]]
        if not taken[files].any():
            taken[files] = chosen[part] = True
    return chosen


def _for_lost(replicas: Replicas, ordered: Sequence[int], gone: Flags) -> tuple[int, ...]:
    """The partitions to read in place of files that are gone; those in ``ordered`` may be."""
    if not gone.any():
        return ()
    place = {part: number for number, part in enumerate(ordered)}
    covered: dict[int, set[int]] = {part: set() for part in ordered}
    for number, by in zip(replicas.covered_number.tolist(), replicas.covered_by.tolist(), strict=True):
        if by in covered:
            covered[by].add(number)
    candidates: dict[int, list[int]] = {}
    where = zip(replicas.covered_number[gone].tolist(), replicas.covered_by[gone].tolist(), strict=True)
    for number, by in where:
        candidates.setdefault(number, []).append(by)
    best_first = {number: sorted(parts, key=place.__getitem__) for number, parts in candidates.items()}
    return cover_lost(best_first, {part: frozenset(found) for part, found in covered.items()})

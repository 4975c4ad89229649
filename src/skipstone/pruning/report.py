"""What was decided about a scan, for people and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from skipstone.predicate.readable import readable
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import Counts
from skipstone.pruning.group_report import GroupReport
from skipstone.pruning.join_report import JoinReport
from skipstone.pruning.masks import Flags
from skipstone.pruning.reasons import PruneResult
from skipstone.view import Cell, Grid, Share, View, Viewed, count, megabytes

__all__ = [
    "CopyReport",
    "Explanation",
    "ReadReason",
    "ScanReport",
    "SkipReason",
    "UnusedPredicate",
    "skip_reasons",
    "unused_predicates",
]

_MOST_LINES = 12


@dataclass(frozen=True, slots=True)
class SkipReason:
    """Files that were skipped for one reason."""

    code: str
    sentence: str
    files: int
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ReadReason:
    """Files that are read, and why one condition of the filter did not rule them out.

    ``predicate`` is exact SQL. ``remedy`` is a command that would help, if there is one.
    """

    predicate: str
    code: str
    sentence: str
    files: int
    rows: int
    bytes: int
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class UnusedPredicate:
    """A condition that could not rule out any file; ``predicate`` is exact SQL, ``text`` is for people."""

    predicate: str
    code: str
    sentence: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What became of a replica in one scan: its horizontal partitions with one verdict, and what they cost.

    ``base_files`` and ``base_bytes`` are what would be read of the base files that they cover, ``files`` and
    ``bytes`` what would be read of their own.
    """

    replica: str
    code: str
    sentence: str
    partitions: int
    partitions_total: int
    base_files: int
    base_bytes: int
    files: int
    bytes: int

    def line(self) -> str:
        """The report as text."""
        some = f"{self.partitions:,} of {count(self.partitions_total, 'horizontal partition')}"
        costs = f"{count(self.files, 'file')} ({megabytes(self.bytes)}) instead of {self.base_files:,}"
        instead = f"{costs} ({megabytes(self.base_bytes)})"
        return f"replica {self.replica}, {some}: {instead}: {self.sentence} [{self.code}]"


@dataclass(frozen=True, slots=True)
class ScanReport:
    """One scan of a registered table.

    ``files_total`` are the table's, ``files_pruned`` those that Spark or Delta left out by themselves,
    ``files_unindexed`` those that are read because the catalog has no entry for them, ``files_foreign`` those
    that are read because they were indexed under other reader settings. ``failure`` is the sentence that
    says why nothing was skipped. ``filter`` is exact SQL, ``filter_text`` the same for people. ``read`` has,
    for every condition, the files that it could not rule out. ``joins`` is what joins will decide when the
    query runs, beyond ``files_skipped``. ``groups`` is what is read of replicas by column groups.
    """

    root: str
    filter: str
    files_total: int
    files_pruned: int
    files_skipped: int
    files_read: int
    files_unindexed: int
    bytes_total: int
    bytes_read: int
    skipped: tuple[SkipReason, ...] = ()
    unused: tuple[UnusedPredicate, ...] = ()
    failure: str = ""
    files_foreign: int = 0
    read: tuple[ReadReason, ...] = ()
    filter_text: str = ""
    copies: tuple[CopyReport, ...] = ()
    joins: tuple[JoinReport, ...] = ()
    groups: tuple[GroupReport, ...] = ()

    def lines(self) -> Iterator[str]:
        """The report as text."""
        yield f"scan of {self.root}"
        yield f"  filter: {self.filter_text or self.filter}"
        yield (
            f"  files: {self.files_read:,} of {self.files_total:,} read "
            f"({self.files_pruned:,} pruned by Spark, {self.files_skipped:,} skipped by skipstone)"
        )
        yield f"  bytes: {self.bytes_read:,} of {self.bytes_total:,} read"
        yield from (f"  {copy.line()}" for copy in self.copies)
        yield from (f"  {line}" for group in self.groups for line in group.lines())
        yield from (f"  {join.line()}" for join in self.joins)
        yield from _listed(self.skipped, "skipped")
        yield from _listed(self.read, "read")
        if self.files_unindexed:
            yield f"  read {self.files_unindexed:,} without an entry: index to judge them [NOT_INDEXED]"
        if self.files_foreign:
            yield (
                f"  read {self.files_foreign:,} indexed under other settings of the Parquet reader: "
                "index under these to judge them [OTHER_SETTINGS]"
            )
        yield from self._unused_lines()
        if self.failure:
            yield f"  everything is read: {self.failure}"
        for remedy in dict.fromkeys(reason.remedy for reason in self.read if reason.remedy):
            yield f"  to skip more: {remedy}"

    def _unused_lines(self) -> Iterator[str]:
        """Conditions that were of no use and do not say so as the reason why files are read."""
        said = {(reason.predicate, reason.code) for reason in self.read}
        left = [unused for unused in self.unused if (unused.predicate, unused.code) not in said]
        for (code, sentence), times in Counter((each.code, each.sentence) for each in left).items():
            text = next(each.text for each in left if (each.code, each.sentence) == (code, sentence))
            others = f" and {times - 1:,} more" if times > 1 else ""
            yield f"  not used: {text}{others}: {sentence} [{code}]"


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Viewed):
    """The scans of one query."""

    scans: tuple[ScanReport, ...]

    def view(self) -> View:
        """The files and bytes that each scan reads, and all that is said about it."""
        if not self.scans:
            return View(str(self))
        read, total = (
            sum(getattr(scan, f"files_{name}") for scan in self.scans) for name in ("read", "total")
        )
        return View(
            f"{count(len(self.scans), 'scan')}, {read:,} of {count(total, 'file')} read",
            grids=tuple(Grid(scan.root, (), tuple(_details(scan))) for scan in self.scans),
        )

    def __str__(self) -> str:
        if not self.scans:
            return "no filter of this query reaches a table that skipstone knows"
        return "\n".join(line for scan in self.scans for line in scan.lines())

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"scans": [asdict(scan) for scan in self.scans]}


def _details(scan: ScanReport) -> Iterator[tuple[Cell, ...]]:
    yield "filter", scan.filter
    files = f"{scan.files_read:,} of {scan.files_total:,}"
    yield "files read", Share(scan.files_read, scan.files_total, files)
    size = f"{scan.bytes_read:,} of {scan.bytes_total:,}"
    yield "bytes read", Share(scan.bytes_read, scan.bytes_total, size)
    # What else the text says, without its name, filter, files and bytes.
    for line in list(scan.lines())[4:]:
        name, _, rest = line.strip().partition(": ")
        yield name, rest


def skip_reasons(result: PruneResult, skipped: Flags, rows: Counts, sizes: Counts) -> tuple[SkipReason, ...]:
    """The skipped files by reason, most files first; ``rows`` and ``sizes`` (bytes) are of all files."""
    indices = np.flatnonzero(skipped)
    numbers, inverse = np.unique(result.reason[indices], return_inverse=True)
    rows, sizes = rows[indices], sizes[indices]
    found = [
        SkipReason(
            code=result.reasons[number].code.name,
            sentence=result.reasons[number].sentence,
            files=int((inverse == index).sum()),
            rows=int(rows[inverse == index].sum()),
            bytes=int(sizes[inverse == index].sum()),
        )
        for index, number in enumerate(numbers)
    ]
    return tuple(sorted(found, key=lambda reason: (-reason.files, reason.sentence)))


def unused_predicates(result: PruneResult) -> tuple[UnusedPredicate, ...]:
    """The conditions that ruled nothing out."""
    return tuple(
        UnusedPredicate(
            to_sql(unused.predicate),
            unused.detail or unused.code.name,
            unused.sentence,
            readable(unused.predicate, 120),
        )
        for unused in result.unused
    )


def _listed(reasons: tuple[SkipReason, ...] | tuple[ReadReason, ...], word: str) -> Iterator[str]:
    for reason in reasons[:_MOST_LINES]:
        yield f"  {word} {reason.files:,}: {reason.sentence} [{reason.code}]"
    if len(reasons) > _MOST_LINES:
        yield f"  {word}: {len(reasons) - _MOST_LINES:,} more reasons, all in --json"

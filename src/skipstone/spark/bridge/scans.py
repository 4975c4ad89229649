"""The scans of a query as the shim decided them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypedDict

import numpy as np
import numpy.typing as npt
from pyspark.sql import DataFrame

from skipstone.catalog import Catalog
from skipstone.catalog.files import Files
from skipstone.catalog.replicas import Replicas
from skipstone.predicate.expr import Expr
from skipstone.pruning.group_report import GroupReport, GroupsJson, group_reports
from skipstone.pruning.join_report import JoinJson, JoinReport
from skipstone.spark.bridge.jvm import JavaObject
from skipstone.spark.bridge.loaded_table import Decided
from skipstone.spark.bridge.question import Question, QuestionJson
from skipstone.spark.bridge.runtime import Runtime

__all__ = ["DecidedScan", "ScanFigures", "scans_of"]

Flags = npt.NDArray[np.bool_]


class _Summary(TypedDict):
    """A scan as the shim writes it."""

    question: str | QuestionJson | None
    root: str
    files_total: int
    bytes_total: int
    files_offered: int
    files_kept: int
    bytes_kept: int
    files_unindexed: int
    files_replaced: int
    replica_files: int
    replica_files_kept: int
    replica_bytes_kept: int
    parts: list[int]
    failure: str
    partitions: list[str]
    joins: list[JoinJson]
    groups: GroupsJson | None
    group_joins: dict[str, int] | None


@dataclass(frozen=True, slots=True)
class ScanFigures:
    """How many files and bytes a scan was offered and reads; ``failure`` says why nothing is skipped.

    ``parts`` are the horizontal partitions of replicas that it reads, in place of ``files_replaced`` base
    files: some of their ``replica_files``. ``joins`` is what joins decide when the query runs. ``groups``
    is what is read of column groups, ``group_verdicts`` why, by the number of the partition.
    """

    root: str
    files_total: int
    bytes_total: int
    files_offered: int
    files_kept: int
    bytes_kept: int
    files_unindexed: int
    failure: str
    partitions: tuple[str, ...]
    files_replaced: int = 0
    replica_files: int = 0
    replica_files_kept: int = 0
    replica_bytes_kept: int = 0
    parts: tuple[int, ...] = ()
    joins: tuple[JoinReport, ...] = ()
    groups: tuple[GroupReport, ...] = ()
    group_verdicts: Mapping[int, str] = field(default_factory=dict)

    @property
    def files_read(self) -> int:
        """Files of the base and of replicas."""
        return self.files_kept + self.replica_files_kept

    @property
    def bytes_read(self) -> int:
        """Bytes in them."""
        return self.bytes_kept + self.replica_bytes_kept

    @classmethod
    def read(cls, found: _Summary) -> ScanFigures:
        """Read the shim's JSON."""
        return cls(
            root=found["root"],
            files_total=found["files_total"],
            bytes_total=found["bytes_total"],
            files_offered=found["files_offered"],
            files_kept=found["files_kept"],
            bytes_kept=found["bytes_kept"],
            files_unindexed=found["files_unindexed"],
            failure=found["failure"],
            partitions=tuple(found["partitions"]),
            files_replaced=found["files_replaced"],
            replica_files=found["replica_files"],
            replica_files_kept=found["replica_files_kept"],
            replica_bytes_kept=found["replica_bytes_kept"],
            parts=tuple(found["parts"]),
            joins=tuple(map(JoinReport.read, found["joins"])),
            groups=group_reports(found["groups"], found["group_joins"]),
            group_verdicts={
                int(part): code for part, code in (found["groups"] or {"verdicts": {}})["verdicts"].items()
            },
        )


@dataclass(frozen=True, slots=True, eq=False)
class DecidedScan:
    """One scan: its figures, and which catalog entries it was offered and skipped.

    ``runtime`` and ``jvm_scan`` are for this package only.
    """

    figures: ScanFigures
    question: Question | None
    offered: Flags
    skipped: Flags
    runtime: Runtime
    jvm_scan: JavaObject

    @property
    def root(self) -> str:
        """The table's root path."""
        return self.figures.root

    @property
    def catalog(self) -> Catalog:
        """What is known about the table's blocks."""
        return self.runtime.catalog(self.root)

    @property
    def replicas(self) -> Replicas:
        """The table's replicas."""
        return self.runtime.replicas(self.root)

    @property
    def replaced(self) -> Flags:
        """The catalog entries of base files in whose place a replica is read."""
        return self.replaced_of(self.catalog.files)

    def replaced_of(self, files: Files) -> Flags:
        """Those of some base files, known to the catalog or not, in whose place a replica is read."""
        chosen = np.isin(self.replicas.covered_by, self.figures.parts)
        found = np.zeros(len(files) + 1, np.bool_)
        found[self.replicas.covered.indices_in(files)[chosen]] = True
        return found[:-1]

    def decision(self, question: Question, filter_: Expr | None = None) -> Decided:
        """Decide the question again, with its reasons; with ``filter_`` under another filter."""
        return self.runtime.decision(question if filter_ is None else replace(question, filter=filter_))

    def rows_of_copies(self, question: Question) -> int:
        """By how many rows more or less are read because of the replicas that are.

        Of the base files that they replace, those that Delta leaves out by itself count as not offered.
        """
        replicas, chosen = self.replicas, np.isin(np.arange(len(self.replicas)), self.figures.parts)
        if not chosen.any():
            return 0
        own = self.decision(question).own
        assert own is not None
        grouped = np.array([bool(part.groups) for part in replicas.parts], np.bool_)
        of_rows = (chosen & ~grouped)[replicas.part_of] & ~own.skip
        read = int(replicas.catalog.blocks.rows[of_rows].sum())
        read += sum(group.rows for group in self.figures.groups)
        unread = self.replaced & ~self.offered
        rows = sum(part.rows for part, taken in zip(replicas.parts, chosen, strict=True) if taken)
        return read - rows + int(self.catalog.blocks.rows[unread].sum())

    def rows_needed(self) -> int:
        """How many rows satisfy the scan's filter; they are counted by a Spark job."""
        return int(self.runtime.shim.rowsNeeded(self.jvm_scan))


def scans_of(runtime: Runtime, frame: DataFrame) -> tuple[DecidedScan, ...]:
    """Plan a query anew, without running it, and return what was decided about its scans."""
    found = []
    handles = runtime.shim.scansOf(frame._jdf)
    # By number, for the end of an iterator is an exception, and exceptions from the JVM take long.
    for index in range(len(handles)):
        handle = handles[index]
        summary: _Summary = json.loads(handle.summary())
        question = None if summary["question"] is None else Question.read(summary["question"])
        size = len(runtime.catalog(summary["root"]))
        offered, skipped = (_flags(bits, size) for bits in (handle.offeredBits(), handle.skippedBits()))
        found.append(DecidedScan(ScanFigures.read(summary), question, offered, skipped, runtime, handle))
    return tuple(found)


def _flags(data: bytes, size: int) -> Flags:
    bits = np.unpackbits(np.frombuffer(bytes(data), np.uint8), bitorder="little")[:size]
    return np.concatenate([bits, np.zeros(size - len(bits), np.uint8)]).astype(np.bool_)

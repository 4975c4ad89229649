"""The scans of a query as the shim decided them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np
import numpy.typing as npt
from pyspark.sql import DataFrame

from skipstone.catalog import Catalog
from skipstone.predicate.expr import Expr
from skipstone.pruning.reasons import PruneResult
from skipstone.spark.bridge.jvm import JavaObject
from skipstone.spark.bridge.runtime import Question, QuestionJson, Runtime

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
    failure: str
    partitions: list[str]


@dataclass(frozen=True, slots=True)
class ScanFigures:
    """How many files and bytes a scan was offered and reads; ``failure`` says why nothing is skipped."""

    root: str
    files_total: int
    bytes_total: int
    files_offered: int
    files_kept: int
    bytes_kept: int
    files_unindexed: int
    failure: str
    partitions: tuple[str, ...]

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

    def decision(self, question: Question, filter_: Expr | None = None) -> PruneResult:
        """Decide the question again, with its reasons; with ``filter_`` under another filter."""
        return self.runtime.decision(question if filter_ is None else replace(question, filter=filter_))

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

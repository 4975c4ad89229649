"""The scans of a query as the shim decided them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pyspark.sql import DataFrame

from skipstone.spark.bridge.runtime import Question, Runtime

__all__ = ["DecidedScan", "scans_of"]

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class DecidedScan:
    """One scan: its figures, and which catalog entries it was offered and skipped."""

    figures: Mapping[str, Any]
    question: Question | None
    offered: Flags
    skipped: Flags
    handle: Any

    @property
    def root(self) -> str:
        """The table's root path."""
        return str(self.figures["root"])


def scans_of(runtime: Runtime, frame: DataFrame) -> tuple[DecidedScan, ...]:
    """Plan a query anew, without running it, and return what was decided about its scans."""
    found = []
    handles = runtime.shim.scansOf(frame._jdf)
    # By number, for the end of an iterator is an exception, and exceptions from the JVM take long.
    for place in range(len(handles)):
        handle = handles[place]
        figures = json.loads(handle.summary())
        question = None if figures["question"] is None else Question.read(figures["question"])
        size = len(runtime.catalog(figures["root"]))
        offered, skipped = (_flags(bits, size) for bits in (handle.offeredBits(), handle.skippedBits()))
        found.append(DecidedScan(figures, question, offered, skipped, handle))
    return tuple(found)


def _flags(data: bytes, size: int) -> Flags:
    bits = np.unpackbits(np.frombuffer(bytes(data), np.uint8), bitorder="little")[:size]
    return np.concatenate([bits, np.zeros(size - len(bits), np.uint8)]).astype(np.bool_)

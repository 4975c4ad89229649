"""Generated tables whose scans and rewrites are timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from skipstone.catalog.column_sizes import ColumnSizes, PerRow
from skipstone.catalog.tracked import TrackedSet
from skipstone.layout.assignment import Assignment
from skipstone.predicate.expr import Expr
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.assign import Placing
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.open_table import OpenTable, open_table
from skipstone.spark.engine.read_column_sizes import read_column_sizes
from skipstone.spark.engine.resolve_tracked import tracked_columns, tracked_features
from skipstone.spark.engine.rewrite import Plan, Rewriting

__all__ = ["NUMBERS", "TEXT", "VALUES", "TimedRewrite", "TimedScan", "TrialTable", "generate_tables"]

NUMBERS = tuple(f"n{index}" for index in range(4))
"""Columns of numbers from 0 to ``VALUES``, in no order."""
VALUES = 1_000
TEXT = "digest"
"""A column of long texts."""
_FILES = 32
Timer = Callable[[], float]


@dataclass(frozen=True, slots=True)
class TimedScan:
    """What was read, how much of it is in a row, and how long it took."""

    rows: float
    row: PerRow
    files: int
    seconds: float


@dataclass(frozen=True, slots=True)
class TimedRewrite:
    """What was rewritten, how much of it is in a row, and how long it took."""

    rows: int
    row: PerRow
    seconds: float


def generate_tables(engine: Engine, path: str, rows: int) -> tuple[TrialTable, TrialTable]:
    """Make two Delta tables at a path and beside it: one of all kinds of columns, one of narrow ones."""
    numbers = [f"pmod(xxhash64(id, {index}), {VALUES}) AS {name}" for index, name in enumerate(NUMBERS)]
    generated = engine.spark.range(0, rows, 1, _FILES).selectExpr(
        "id",
        *numbers,
        "date_add(DATE'2024-01-01', CAST(pmod(xxhash64(id, 8), 700) AS INT)) AS day",
        "xxhash64(id) / 1e15D AS amount",
        "concat('customer ', pmod(xxhash64(id, 9), 10000)) AS customer",
        f"sha2(CAST(id AS STRING), 256) AS {TEXT}",
    )
    generated.write.format("delta").save(path)
    narrow = f"{path}-narrow"
    entries = ", ".join(f"'{name}', CAST({name} AS STRING)" for name in NUMBERS)
    generated.selectExpr(*NUMBERS, f"map({entries}) AS numbers").write.format("delta").save(narrow)
    return TrialTable(engine, path), TrialTable(engine, narrow)


@dataclass(frozen=True, slots=True, eq=False)
class TrialTable:
    """One generated table."""

    engine: Engine
    path: str
    timer: Timer = time.perf_counter

    def open(self) -> OpenTable:
        """The table as it is now."""
        return open_table(self.engine, self.engine.spark.read.format("delta").load(self.path), self.path)

    def scans(self) -> _Scans:
        """The table as it is now, to be scanned several times."""
        table = self.open()
        every = table.file_indices
        rows = table.live(every).count()
        return _Scans(table, read_column_sizes(table, every), rows / len(every), self.timer)

    def rewrite(self, assignment: Assignment, features: Sequence[Expr], share: float = 1.0) -> TimedRewrite:
        """Rewrite a share of the files by an assignment; ``features`` get a bit in each block."""
        table = self.open()
        row = read_column_sizes(table, table.file_indices).of()
        started = self.timer()
        rewriting = Rewriting(table)
        names = table.snapshot.logical_names
        texts = [names.sql(feature) for feature in features]
        tracked = TrackedSet(tracked_columns(table.snapshot.schema), tracked_features(table, texts))
        plan = Plan(
            chosen=np.arange(max(1, int(len(table.files) * share))),
            placing=Placing.of(table, assignment),
            sort=(NUMBERS[0],),
            tracked=tracked,
            values={},
            layout="calibration",
            created="",
        )
        rewritten = rewriting.run(plan)
        return TimedRewrite(rewritten.rows, row, self.timer() - started)


@dataclass(frozen=True, slots=True, eq=False)
class _Scans:
    """Scans of one table, of which the size of columns is known."""

    table: OpenTable
    sizes: ColumnSizes
    rows_a_file: float
    timer: Timer

    def scan(self, indices: Counts, columns: Sequence[str]) -> TimedScan:
        """Read some columns of the files at these indices."""
        frame = self.table.live(indices).select(*columns)
        started = self.timer()
        frame.write.format("noop").mode("overwrite").save()
        seconds = self.timer() - started
        return TimedScan(self.rows_a_file * len(indices), self.sizes.of(columns), len(indices), seconds)

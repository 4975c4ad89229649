"""The contestants of the replay: who does what to its table after rows were inserted.

All have a Delta table of their own and get the same rows. Delta's default file of 1 GB would leave a table of
this size in one file, so Delta's own layouts are told to make files of the size of skipstone's blocks, and
liquid clustering to close a cube of files once it has as many of them as a few batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skipstone.bench.settings import settings
from skipstone.catalog.decisions import Decision
from skipstone.optimize.cost import CostModel
from skipstone.optimize.policy import Policy
from skipstone.spark import DataFrame, SparkSession
from skipstone.tables import Table, table

__all__ = ["Automatic", "BlockBytes", "Contestant", "Liquid", "ZorderOnce"]

BlockBytes = Callable[[int, int], int]
"""How large files should be, by the bytes and the batches of a table."""

_FILE_SIZE = "spark.databricks.delta.optimize.maxFileSize"
_CUBE = "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize"
_CUBE_FILES = 128


@dataclass(slots=True)
class Contestant:
    """A table that is never optimised, and what inserting into it cost."""

    spark: SparkSession
    path: Path
    name: str = "no optimisation"
    write_seconds: float = 0.0
    optimise_seconds: float = 0.0
    optimised_after: list[int] = field(default_factory=list)
    clock: Callable[[], float] = time.perf_counter

    def insert(self, rows: DataFrame, batch: int) -> None:
        """Append rows, then optimise."""
        started = self.clock()
        rows.write.format("delta").mode("append").save(str(self.path))
        written = self.clock()
        if self.optimise(batch):
            self.optimised_after.append(batch)
        self.write_seconds += written - started
        self.optimise_seconds += self.clock() - written

    def optimise(self, batch: int) -> bool:
        """Rearrange the table if it is time to; whether anything was done."""
        return False

    def show(self, name: str) -> None:
        """Let queries find the table, as it is now, under a name."""
        self.spark.read.format("delta").load(str(self.path)).createOrReplaceTempView(name)

    def size(self) -> tuple[int, int]:
        """Bytes and files of the table as it is now."""
        detail: Any = self.spark.sql(f"DESCRIBE DETAIL delta.`{self.path}`").first()
        return int(detail["sizeInBytes"]), int(detail["numFiles"])


@dataclass(slots=True, kw_only=True)
class ZorderOnce(Contestant):
    """Somebody runs OPTIMIZE ZORDER BY once."""

    name: str = "one Z-order"
    columns: Sequence[str]
    at: int
    block_bytes: BlockBytes

    def optimise(self, batch: int) -> bool:
        """Once."""
        if batch != self.at:
            return False
        size = self.block_bytes(self.size()[0], batch + 1)
        with settings(self.spark, {_FILE_SIZE: str(size)}):
            self.spark.sql(f"OPTIMIZE delta.`{self.path}` ZORDER BY ({', '.join(self.columns)})").collect()
        return True


@dataclass(slots=True, kw_only=True)
class Liquid(Contestant):
    """Delta's liquid clustering; OPTIMIZE runs every few batches."""

    name: str = "liquid clustering"
    columns: Sequence[str]
    every: int
    block_bytes: BlockBytes

    def optimise(self, batch: int) -> bool:
        """Every few batches."""
        if batch == 0:
            self.spark.sql(f"ALTER TABLE delta.`{self.path}` CLUSTER BY ({', '.join(self.columns)})")
        if (batch + 1) % self.every:
            return False
        size = self.block_bytes(self.size()[0], batch + 1)
        cubes = {f"{_CUBE}.threshold": _CUBE_FILES * size, f"{_CUBE}.targetCubeSize": 2 * _CUBE_FILES * size}
        values = {_FILE_SIZE: str(size)} | {key: str(value) for key, value in cubes.items()}
        with settings(self.spark, values):
            self.spark.sql(f"OPTIMIZE delta.`{self.path}`").collect()
        return True


@dataclass(slots=True, kw_only=True)
class Automatic(Contestant):
    """skipstone decides after every insert, by the table's own query log."""

    name: str = "automatic"
    policy: Policy = field(default_factory=Policy)
    model: CostModel | None = None
    decisions: list[Decision] = field(default_factory=list)
    index_seconds: float = 0.0
    _table: Table | None = None

    def optimise(self, batch: int) -> bool:
        """What ``Table.append`` does once the rows are in the table."""
        started = datetime.now(UTC)
        if self._table is None:
            # Turned on once: scans of a table without a catalog are not logged.
            self._table = table(self.spark, str(self.path))
            begun = self.clock()
            self._table.index()
            self.index_seconds = self.clock() - begun
        decision = self._table.auto(policy=self.policy, lazy=True, model=self.model)
        # A no that still holds is returned again as it was written down.
        if datetime.fromisoformat(decision.time) >= started:
            self.decisions.append(decision)
        return decision.acted

    def seconds(self) -> dict[str, float]:
        """Where the time of inserts went, and how much of the analysis led to a rewrite."""
        acted = [decision.numbers for decision in self.decisions if decision.acted]
        analysis = sum(decision.numbers.get("analysis_seconds", 0.0) for decision in self.decisions)
        rewrite = sum(numbers["rewrite_seconds"] for numbers in acted)
        return {
            "analysis_of_rewrites": sum(numbers["analysis_seconds"] for numbers in acted),
            "writing": self.write_seconds,
            "analysis and estimation": analysis,
            "rewriting": rewrite,
            "indexing, once": self.index_seconds,
            "reading the log and the rest": self.optimise_seconds - analysis - rewrite - self.index_seconds,
        }

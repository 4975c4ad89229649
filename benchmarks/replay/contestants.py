"""The contestants of the replay: who does what to its table after rows were inserted.

All have a Delta table of their own and get the same rows. Delta's default file of 1 GB would leave a table of
this size in one file, so Delta's own layouts are told to make files of the size of skipstone's blocks, and
liquid clustering to close a cube of files once it has as many of them as a few batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.session_settings import session_settings
from skipstone.api import Table, table
from skipstone.catalog.decisions import Decision, load_decisions
from skipstone.estimate.cost import CostModel
from skipstone.estimate.policy import Policy
from skipstone.json_types import json_number
from skipstone.spark import DataFrame, SparkSession
from skipstone.spark.bridge.runtime import runtime_of

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
        (detail,) = self.spark.sql(f"DESCRIBE DETAIL delta.`{self.path}`").collect()
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
        with session_settings(self.spark, {_FILE_SIZE: str(size)}):
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
        with session_settings(self.spark, values):
            self.spark.sql(f"OPTIMIZE delta.`{self.path}`").collect()
        return True


@dataclass(slots=True, kw_only=True)
class Automatic(Contestant):
    """skipstone decides after every insert, by the table's own query log."""

    name: str = "automatic"
    policy: Policy = field(default_factory=Policy)
    model: CostModel | None = None
    _table: Table | None = None

    def insert(self, rows: DataFrame, batch: int) -> None:
        """Append by ``Table.append``; the table itself is made by the first batch."""
        if self._table is None:
            Contestant.insert(self, rows, batch)
            return
        started = self.clock()
        if self._table.append(rows, self.policy, self.model).acted:
            self.optimised_after.append(batch)
        self.optimise_seconds += self.clock() - started

    def optimise(self, batch: int) -> bool:
        """Turned on once, after the first batch."""
        self._table = table(self.spark, str(self.path))
        return self._table.auto(policy=self.policy, lazy=True, model=self.model).acted

    def decisions(self) -> tuple[Decision, ...]:
        """What the table's decision log has."""
        return load_decisions(runtime_of(self.spark).store(str(self.path)))

    def seconds(self) -> dict[str, float]:
        """Where the time of inserts went, and how much of the analysis led to a rewrite."""
        numbers = [decision.numbers for decision in self.decisions()]
        parts = {
            "writing in the layout": sum(json_number(each.get("write_seconds", 0.0)) for each in numbers),
            "statistics of these": sum(json_number(each.get("index_seconds", 0.0)) for each in numbers),
            "analysis and estimation": sum(
                json_number(each.get("analysis_seconds", 0.0)) for each in numbers
            ),
            "rewriting": sum(json_number(each.get("rewrite_seconds", 0.0)) for each in numbers),
        }
        rest = self.write_seconds + self.optimise_seconds - sum(parts.values())
        return {**parts, "writing as it comes, and the rest": rest}

    def analysis_of_rewrites(self) -> float:
        """Seconds of the analyses that led to a rewrite."""
        acted = (decision.numbers for decision in self.decisions() if decision.acted)
        return float(
            sum(json_number(each["analysis_seconds"]) for each in acted if "rewrite_seconds" in each)
        )

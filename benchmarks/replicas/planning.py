"""What replicas add to planning: three of them, of 10,000 files each, beside a table of as many.

Two Delta tables of links to one small file, both with statistics for every file; one of them has replicas
too. All statistics are drawn from seeds, and those of the replicas are narrower in one column each, so that
queries go to them. Queries are planned on both tables in turns, and the differences count. Files are listed
before the clock starts, as they are for a table that is queried again and again.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.context import context_of
from benchmarks.jvm import plan_physically
from benchmarks.skip.planning import FILES, drawn_blocks, make_delta, make_files
from skipstone.api import table
from skipstone.catalog import Files, Segment
from skipstone.catalog.replica_store import partition_folder, save_partition
from skipstone.catalog.replicas import HorizontalPartition
from skipstone.pruning.blocks import Counts
from skipstone.spark import SparkSession
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.open_table import OpenTable

__all__ = ["ReplicaPlanning", "Shape", "add_replicas", "make_tables", "measure", "query"]

_SPREADS = (10_000, 1_000)
"""How far the ids of a block are apart, in turns: some partitions serve queries better than the table."""
_FILTER = "id BETWEEN {0} AND {0} + 5000 AND day >= DATE'1995-01-01' AND amount > 0"
_CREATED = "2000-01-01T00:00:00+00:00"


@dataclass(frozen=True, slots=True)
class Shape:
    """How many files the table and each replica have, and in how many horizontal partitions."""

    files: int = FILES
    replicas: int = 3
    partitions: int = 4


def make_tables(folder: Path, shape: Shape) -> tuple[Path, Path]:
    """A table, and one to which replicas will be added, both without statistics."""
    alone, copied = (make_delta(make_files(folder / name, shape.files)) for name in ("alone", "copied"))
    return alone, copied


def add_replicas(spark: SparkSession, folder: Path, shape: Shape) -> None:
    """Give a table replicas, as if they had been made."""
    opened = context_of(table(spark, str(folder))).table
    for number in range(shape.replicas):
        groups = np.array_split(opened.file_indices, shape.partitions)
        for part, group in enumerate(groups):
            seed = 1 + number * shape.partitions + part
            save_partition(opened.store, _partition(opened, folder, (f"r{number}", f"p{part}", seed), group))
    opened.refresh()


def _partition(
    opened: OpenTable, folder: Path, name: tuple[str, str, int], covered: Counts
) -> HorizontalPartition:
    replica, id_, seed = name
    own = _linked(folder, partition_folder(replica, id_), len(covered))
    settings = opened.engine.reader_settings()
    settings.pop("user.timezone", None)
    blocks = drawn_blocks(own, seed, _SPREADS[seed % len(_SPREADS)])
    return HorizontalPartition(
        id=id_,
        replica=replica,
        created=_CREATED,
        table_version=opened.snapshot.version,
        schema=opened.snapshot.schema,
        covered=opened.files.some(covered),
        rows=int(blocks.rows.sum()),
        row_hash=0,
        segment=Segment(own, blocks, settings, _CREATED, layout=replica),
        partition_values=("",) * len(own),
    )


def _linked(root: Path, below: str, count: int) -> Files:
    """Links to the first file of the table, in a folder below it."""
    folder = root / below
    folder.mkdir(parents=True)
    first = root / "part-00000.parquet"
    names = [f"part-{index:05d}.parquet" for index in range(count)]
    for name in names:
        os.link(first, folder / name)
    stat = first.stat()
    sizes, times = (np.full(count, value, np.int64) for value in (stat.st_size, int(stat.st_mtime * 1_000)))
    return Files(tuple(f"{below}/{name}" for name in names), sizes, times)


@dataclass(frozen=True, slots=True)
class ReplicaPlanning:
    """Median milliseconds of planning without and with replicas; ``queries_copied`` read a replica."""

    files: int
    replicas: int
    alone_milliseconds: float
    copied_milliseconds: float
    overhead_milliseconds: float
    queries: int
    queries_copied: int
    differences: list[float]


def query(name: str, number: int) -> str:
    """A query on a view, one of many with other constants."""
    return f"SELECT count(*) FROM {name} WHERE {_FILTER.format(number * 9_973 % 900_000)}"


def measure(spark: SparkSession, shape: Shape, pairs: int = 41, warm: int = 15) -> ReplicaPlanning:
    """Plan the same queries on the views ``alone`` and ``copied``, in turns."""
    times: dict[str, list[float]] = {"alone": [], "copied": []}
    for number in range(warm + pairs):
        # Which goes first alternates too, so that neither always pays for what the other left behind.
        for name in sorted(times, reverse=number % 2 == 0):
            started = time.perf_counter()
            plan_physically(spark.sql(query(name, number)))
            if number >= warm:
                times[name].append((time.perf_counter() - started) * 1_000)
    differences = [more - less for more, less in zip(times["copied"], times["alone"], strict=True)]
    engine = Engine.of(spark)
    copied = [any(scan.figures.parts for scan in engine.scans_of(query("copied", n))) for n in range(pairs)]
    return ReplicaPlanning(
        files=shape.files,
        replicas=shape.replicas,
        alone_milliseconds=round(median(times["alone"]), 2),
        copied_milliseconds=round(median(times["copied"]), 2),
        overhead_milliseconds=median(differences),
        queries=pairs,
        queries_copied=sum(copied),
        differences=[round(difference, 2) for difference in differences],
    )

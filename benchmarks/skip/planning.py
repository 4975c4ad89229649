"""What an enabled session adds to the planning of a query on a table of 10,000 files.

The same query is planned with skipping on and off, in turns, and the medians are compared. Plans are made
up to the physical plan; the files of the table are listed before the clock starts, as they are for a table
that is queried again and again. The files are links to one small file, and their statistics are drawn from
a seed: planning reads neither.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.context import context_of
from benchmarks.jvm import plan_physically
from benchmarks.session_settings import SWITCH, session_settings
from benchmarks.skip.decision import statistics_of
from skipstone.api import table
from skipstone.catalog import Files, Segment, publish
from skipstone.predicate.expr import Expr
from skipstone.predicate.types import DATE, DOUBLE, LONG, STRING
from skipstone.pruning.blocks import BlockSet, Statistics
from skipstone.spark import SparkSession
from skipstone.spark.engine.engine import Engine

__all__ = ["PlanningTimes", "drawn_blocks", "make_delta", "make_files", "measure", "register"]

FILES = 10_000
_ROWS = pa.table({
    "id": pa.array([1, 2], pa.int64()),
    "day": pa.array([9_000, 9_001], pa.int32()).cast(pa.date32()),
    "name": ["a", "b"],
    "amount": [0.5, 1.5],
})  # fmt: skip
_FIELDS = {"id": "long", "day": "date", "name": "string", "amount": "double"}
_FILTER = "id BETWEEN {0} AND {0} + 5000 AND day >= DATE'1995-01-01' AND name = 'name-{1:05d}' AND amount > 0"


def make_files(folder: Path, files: int = FILES) -> Path:
    """A directory of many links to one Parquet file."""
    folder.mkdir(parents=True)
    first = folder / "part-00000.parquet"
    pq.write_table(_ROWS, first)
    for index in range(1, files):
        os.link(first, folder / f"part-{index:05d}.parquet")
    return folder


def make_delta(folder: Path) -> Path:
    """Make such a directory a Delta table by writing its log, without the statistics Delta might keep."""
    fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in _FIELDS.items()]
    schema = json.dumps({"type": "struct", "fields": fields})
    head: list[dict[str, object]] = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {
            "metaData": {
                "id": "00000000-0000-0000-0000-000000000001",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": schema,
                "partitionColumns": [],
                "configuration": {},
                "createdTime": 0,
            }
        },
    ]
    adds = [
        {
            "add": {
                "path": file.name,
                "partitionValues": {},
                "size": file.stat().st_size,
                "modificationTime": int(file.stat().st_mtime * 1_000),
                "dataChange": True,
            }
        }
        for file in sorted(folder.glob("*.parquet"))
    ]
    log = folder / "_delta_log"
    log.mkdir()
    lines = "\n".join(json.dumps(action) for action in [*head, *adds])
    (log / f"{0:020d}.json").write_text(lines + "\n", encoding="utf-8")
    return folder


def register(spark: SparkSession, folder: Path, seed: int = 0) -> None:
    """Publish drawn statistics for every file of the table, as if it had been indexed."""
    opened = context_of(table(spark, str(folder))).table
    settings = opened.engine.reader_settings()
    # No old timestamps are read here, so the zone does not matter (see spark/engine/reader_settings.py).
    settings.pop("user.timezone", None)
    segment = Segment(opened.files, drawn_blocks(opened.files, seed), settings, "2000-01-01T00:00:00+00:00")
    publish(opened.store, segment, replace=True)
    opened.refresh()


def drawn_blocks(files: Files, seed: int, spread: int = 10_000) -> BlockSet:
    """Statistics from a seed; each file has ids that are up to ``spread`` of a million apart."""
    rng = np.random.default_rng(seed)
    count = len(files)
    ids, days, names = (rng.integers(*ends, count) for ends in ((0, 10**6), (8_000, 10_500), (0, 5_000)))
    amounts = rng.normal(size=count)
    text = np.array([f"name-{number:05d}" for number in range(8_000)], dtype=object)
    statistics: dict[Expr, Statistics] = dict((
        statistics_of("id", LONG, pa.array(ids), pa.array(ids + spread)),
        statistics_of("day", DATE, pa.array(days), pa.array(days + 100)),
        statistics_of("name", STRING, pa.array(text[names]), pa.array(text[names + 2_000])),
        statistics_of("amount", DOUBLE, pa.array(amounts), pa.array(amounts + 1)),
    ))  # fmt: skip
    return BlockSet.of(np.full(count, 2), statistics)


@dataclass(frozen=True, slots=True)
class PlanningTimes:
    """Median milliseconds with skipping on and off; ``files_skipped`` shows that skipping was at work."""

    files_skipped: int
    on_milliseconds: float
    off_milliseconds: float
    overhead_milliseconds: float
    differences: list[float]


def measure(spark: SparkSession, name: str, pairs: int = 41, warm: int = 15) -> PlanningTimes:
    """Plan queries on the view ``name`` with skipping on and off, in turns."""
    times: dict[bool, list[float]] = {True: [], False: []}
    before = {SWITCH: spark.conf.get(SWITCH, "true") or "true"}
    with session_settings(spark, before):
        for number in range(warm + pairs):
            # Which goes first alternates too, so that neither always pays for what the other left behind.
            for switch in (number % 2 == 0, number % 2 == 1):
                spark.conf.set(SWITCH, str(switch).lower())
                milliseconds = _plan(spark, _query(name, number))
                if number >= warm:
                    times[switch].append(milliseconds)
    decided = [scan.figures for scan in Engine.of(spark).scans_of(_query(name, 0))]
    differences = [on - off for on, off in zip(times[True], times[False], strict=True)]
    return PlanningTimes(
        files_skipped=sum(scan.files_offered - scan.files_kept for scan in decided),
        on_milliseconds=round(median(times[True]), 2),
        off_milliseconds=round(median(times[False]), 2),
        overhead_milliseconds=median(differences),
        differences=[round(difference, 2) for difference in differences],
    )


def _query(name: str, number: int) -> str:
    where = _FILTER.format(number * 9_973 % 900_000, number % 5_000)
    return f"SELECT count(*) FROM {name} WHERE {where}"


def _plan(spark: SparkSession, query: str) -> float:
    started = time.perf_counter()
    plan_physically(spark.sql(query))
    return (time.perf_counter() - started) * 1_000

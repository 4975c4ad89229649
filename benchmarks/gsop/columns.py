"""A table of 450 columns with a GSOP replica, made and read: whether many groups slow planning down.

Columns have topics. A query sums some columns of a topic where its first ones are small, so groups follow the
topics, and a few queries read two of them. The same queries are planned with groups and without, in turns.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

import skipstone
from benchmarks.cpu import cpu_seconds
from benchmarks.jvm import plan_physically
from benchmarks.pieces import Piece
from benchmarks.session_settings import session_settings
from skipstone.workload.queries import Query, Workload

__all__ = ["ManyColumns"]

_TABLE = "many_columns"
_COLUMNS, _TOPICS, _QUERIES, _FILTERED = 450, 30, 300, 3
_WAYS = {"groups": "always", "base": "never"}
_WARM, _PLANNED, _RUN = 10, 30, 12


@dataclass(frozen=True, slots=True, eq=False)
class ManyColumns:
    """Makes a table of so many rows below ``home``."""

    spark: skipstone.spark.SparkSession
    home: Path
    rows: int = 100_000

    def made(self) -> Piece:
        """The table, and its replica by the paper's cost."""
        path = self.home / _TABLE
        shutil.rmtree(path, ignore_errors=True)
        values = [f"CAST(pmod(xxhash64(id, {n}), 1000) AS INT) AS c{n}" for n in range(_COLUMNS)]
        self.spark.range(0, self.rows, 1, 4).selectExpr(*values).write.format("delta").save(str(path))
        table = skipstone.table(self.spark, f"{_TABLE}={path}")
        log = Workload(tuple(map(Query, _queries(_QUERIES, seed=1))))
        before = cpu_seconds()
        made = table.replicate(
            log, "gsop", self.rows // 100, num_features=100, layout_options={"reconstruction": "sort-merge"}
        )
        return {
            "rows": made.rows,
            "reason": made.reason,
            "fit_seconds": made.fit_seconds,
            "copy_seconds": made.copy_seconds,
            "cpu": cpu_seconds() - before,
            "files": made.files,
        }

    def planned(self) -> Piece:
        """Medians of planning and of running with groups and without, and whether answers differ."""
        table = skipstone.table(self.spark, f"{_TABLE}={self.home / _TABLE}")
        texts = _queries(_WARM + _PLANNED, seed=2)
        planning: dict[str, list[float]] = {way: [] for way in _WAYS}
        running: dict[str, list[float]] = {way: [] for way in _WAYS}
        read, different = [], 0
        for number, sql in enumerate(texts):
            answers = set()
            for way in sorted(_WAYS, reverse=number % 2 == 0):
                with session_settings(self.spark, {"spark.skipstone.groups": _WAYS[way]}):
                    started = time.perf_counter()
                    frame = self.spark.sql(sql)
                    plan_physically(frame)
                    if number >= _WARM:
                        planning[way].append(1_000 * (time.perf_counter() - started))
                    if number < _RUN:
                        answers.add(repr(frame.collect()))
                        running[way].append(1_000 * (time.perf_counter() - started))
            different += len(answers) > 1
            if number < _RUN:
                with session_settings(self.spark, {"spark.skipstone.groups": _WAYS["groups"]}):
                    reports = [report for scan in table.explain(sql).scans for report in scan.groups]
                read.append(max((len(report.groups) for report in reports), default=0))
        return {
            "planning_milliseconds": {way: median(found) for way, found in planning.items()},
            "query_milliseconds": {way: median(found) for way, found in running.items()},
            "groups_read": read,
            "different": different,
        }


def _queries(count: int, seed: int) -> list[str]:
    random, width = Random(seed), _COLUMNS // _TOPICS
    texts = []
    for _ in range(count):
        topic, other = random.sample(range(_TOPICS), 2)
        first = topic * width
        read = [first + random.randrange(width) for _ in range(4)]
        read += [other * width + random.randrange(width)] if random.random() < 1 / _FILTERED else []
        sums = ", ".join(f"sum(c{column})" for column in dict.fromkeys(read))
        filtered = first + random.randrange(_FILTERED)
        texts.append(f"SELECT {sums} FROM {_TABLE} WHERE c{filtered} < {random.choice((20, 50, 100))}")
    return texts

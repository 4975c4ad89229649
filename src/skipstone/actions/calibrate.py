"""Calibration: generated tables are rewritten and scanned in several ways, and the cost model fitted to it.

One thing is varied at a time, as in Self-organising layouts for Delta (thesis), section 5.1: the size, the
number of Z features, of SOP features and of additional features; and the bytes per value, by a second table
of narrow columns and a map. Scans read few and all files, and one, the narrow or all columns. The first
rewrites and scans only warm up the JVM and are not counted. Then every rewrite runs twice, in one order and
back again, and the quicker run counts: a JVM that becomes faster meanwhile, or a moment's other work, would
otherwise look like what a feature costs. What was just written is read from the operating system's cache;
where tables are far larger than memory, scans cost more, and savings are larger than estimated.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from skipstone.arguments import checked
from skipstone.catalog.column_names import ColumnNames
from skipstone.estimate.cost import CostModel, Extent, Observation, Shape
from skipstone.layout.assignment import Clusters, Dimension, Grid
from skipstone.layout.pack import pack
from skipstone.predicate.expr import Column, Comparison, Expr, Literal, Match
from skipstone.predicate.types import LONG, STRING
from skipstone.progress import Progress, Steps
from skipstone.spark import DataFrame, SparkSession
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.assign import LogicalNames, with_block
from skipstone.spark.engine.column_sizes import PerRow, column_sizes
from skipstone.spark.engine.open_table import TableFiles, open_files
from skipstone.spark.engine.rewrite import Plan, Rewriting
from skipstone.spark.engine.tracked import columns_to_keep, features_to_keep
from skipstone.spark.querylog.query_log import unlogged

__all__ = ["Calibration", "calibrate"]

_BLOCKS = 8
_VALUES = 1_000
_NUMBERS = tuple(f"n{place}" for place in range(4))
_TEXT = "digest"
_PLAIN = (1, 0, 0)
_WARM_UP = 2 * ((1, 32, 32),)
_SHAPES = (_PLAIN, (4, 0, 0), (1, 4, 0), (1, 32, 0), (1, 0, 32))
"""Z, SOP and additional features of the rewrites of the whole table."""
_TRIALS = {"scans": 18, "rewrites": len(_WARM_UP) + 2 * (len(_SHAPES) + 2)}


@dataclass(frozen=True, slots=True)
class Calibration:
    """The model, what was measured for it, and how long that took."""

    model: CostModel
    bytes: int
    rows: int
    seconds: float


def calibrate(
    spark: SparkSession,
    runtime: Runtime,
    directory: str,
    rows: int = 600_000,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Calibration:
    """Measure on tables that are made below ``directory`` and left there for the caller to delete."""
    rows = checked(rows=rows)["rows"]
    started = clock()
    path = f"{directory}/calibration-{uuid.uuid4().hex[:8]}"
    with unlogged(spark):
        generated = _generated(spark, rows)
        generated.write.format("delta").save(path)
        size = int(_open(spark, path).files.sizes.sum())
        narrow = f"{path}-narrow"
        entries = ", ".join(f"'{name}', CAST({name} AS STRING)" for name in _NUMBERS)
        generated.selectExpr(*_NUMBERS, f"map({entries}) AS numbers").write.format("delta").save(narrow)
        steps = Steps(progress, sum(_TRIALS.values()), _TRIALS)
        bench = _Bench(spark, runtime, path, steps, clock)
        with steps:
            observations = bench.scans() + bench.rewrites(_Bench(spark, runtime, narrow, steps, clock))
    model = CostModel().calibrated(observations)
    return Calibration(model, size, rows, clock() - started)


def _generated(spark: SparkSession, rows: int) -> DataFrame:
    """Numbers, dates and texts in no order, in a few dozen files."""
    numbers = [f"pmod(xxhash64(id, {place}), {_VALUES}) AS {name}" for place, name in enumerate(_NUMBERS)]
    return spark.range(0, rows, 1, 32).selectExpr(
        "id",
        *numbers,
        "date_add(DATE'2024-01-01', CAST(pmod(xxhash64(id, 8), 700) AS INT)) AS day",
        "xxhash64(id) / 1e15D AS amount",
        "concat('customer ', pmod(xxhash64(id, 9), 10000)) AS customer",
        f"sha2(CAST(id AS STRING), 256) AS {_TEXT}",
    )


def _open(spark: SparkSession, path: str) -> TableFiles:
    return open_files(spark, spark.read.format("delta").load(path), path)


class _Bench:
    """Measures one table."""

    def __init__(
        self,
        spark: SparkSession,
        runtime: Runtime,
        path: str,
        steps: Steps,
        clock: Callable[[], float],
    ) -> None:
        self._spark = spark
        self._runtime = runtime
        self._path = path
        self._steps = steps
        self._clock = clock

    def scans(self) -> list[Observation]:
        """Scans of a quarter and of all files, of one, the narrow and all columns."""
        files = _open(self._spark, self._path)
        every = np.arange(len(files.files))
        sizes = column_sizes(self._spark, files, every)
        rows_a_file = files.live(self._spark, every).count() / len(every)
        found = []
        some = (_NUMBERS[:1], _NUMBERS, tuple(sizes.columns))
        wanted = [(share, columns) for _ in range(3) for share in (4, 1) for columns in some]
        for place, (share, columns) in enumerate(wanted):
            self._tell("scans", place, len(wanted))
            chosen = every[::share]
            frame = files.live(self._spark, chosen).select(*columns)
            started = self._clock()
            frame.write.format("noop").mode("overwrite").save()
            seconds = self._clock() - started
            extent = Extent.of(rows_a_file * len(chosen), sizes.of(columns))
            found.append(Observation.read(extent, len(chosen), seconds))
        return found[len(wanted) // 3 :]

    def rewrites(self, narrow: _Bench) -> list[Observation]:
        """Rewrites of the whole table by each shape and of a third of it, and one of the narrow table."""
        trials = [(self, shape, 1.0) for shape in _SHAPES]
        trials += [(self, _PLAIN, 1 / 3), (narrow, _PLAIN, 1.0)]
        wanted = [*((self, shape, 1.0) for shape in _WARM_UP), *trials, *reversed(trials)]
        found = []
        for place, (bench, shape, share) in enumerate(wanted):
            self._tell("rewrites", place, len(wanted))
            found.append(bench.rewrite(*shape, share))
        there, back = found[len(_WARM_UP) : -len(trials)], found[-len(trials) :]
        pairs = zip(there, reversed(back), strict=True)
        return [min(pair, key=lambda run: run.seconds) for pair in pairs]

    def rewrite(self, z: int, sop: int, additional: int, share: float = 1.0) -> Observation:
        """One rewrite."""
        row = self._row()
        started = self._clock()
        rewriting = Rewriting(self._spark, self._runtime, self._path)
        files = rewriting.before
        chosen = np.arange(max(1, int(len(files.files) * share)))
        names = LogicalNames.of(ColumnNames.from_schema(files.schema))
        assignment = _assignment(z, sop)
        none = files.frame(self._spark, np.zeros(0, np.int64))
        texts = [names.sql(predicate) for predicate in (*_predicates(sop), *_predicates(additional, sop))]
        plan = Plan(
            chosen=chosen,
            assign=lambda frame: with_block(frame, assignment, names),
            blocks=assignment.blocks,
            sort=(_NUMBERS[0],),
            kept=columns_to_keep(files.schema),
            features=features_to_keep(self._spark, none, files.schema, texts),
            values={},
            layout="calibration",
            created="",
        )
        rewritten = rewriting.run(plan)
        seconds = self._clock() - started
        return Observation.rewrite(Shape(Extent.of(rewritten.rows, row), z, sop, additional), seconds)

    def _row(self) -> PerRow:
        """How much is in a row."""
        files = _open(self._spark, self._path)
        return column_sizes(self._spark, files, np.arange(len(files.files))).of()

    def _tell(self, what: str, done: int, total: int) -> None:
        if (told := self._steps.step(what)) is not None:
            told(f"calibrating {what}", done, total)


def _assignment(z: int, sop: int) -> Grid:
    """A grid of so many columns, and of clusters of so many predicates if there are any."""
    buckets = max(2, round((4 * _BLOCKS) ** (1 / z)))
    bounds = tuple(_VALUES * place // buckets for place in range(1, buckets))
    axes: list[Dimension | Clusters] = [Dimension(_number(place), bounds) for place in range(z)]
    if sop:
        vectors = pack(np.tri(sop + 1, sop, -1, dtype=np.bool_)[:, ::-1])
        places = np.arange(sop + 1, dtype=np.int32)
        axes.append(Clusters(tuple(_predicates(sop)), vectors, places, 0, sop + 1))
    cells = int(np.prod([axis.buckets for axis in axes]))
    blocks = (np.arange(cells) * _BLOCKS // cells).astype(np.int32)
    return Grid(tuple(axes), blocks, _BLOCKS)


def _number(place: int) -> Column:
    return Column((_NUMBERS[place],), LONG)


def _predicates(count: int, after: int = 0) -> Sequence[Expr]:
    """Different predicates: comparisons of numbers and patterns in texts by turns."""
    return [
        Match("contains", Column((_TEXT,), STRING), f"{place:03x}")
        if place % 2
        else Comparison("<", _number(place // 2 % len(_NUMBERS)), Literal(_VALUES * (place + 1) // 64, LONG))
        for place in range(after, after + count)
    ]

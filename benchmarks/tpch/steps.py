"""The steps of the TPC-H benchmark. Each measures a few pieces; what it needs is made on first use.

* A layout's name (``as_lies``, ``delta_zorder``, ``sop`` …): its table is made and the test queries replayed.
* ``make-`` and a layout's name: its table is only made.
* ``seconds``: the test queries on all tables that are there, in one run.
* ``simulate``: all layouts at about 100, 1,000 and 10,000 blocks, uniform and skewed, and the sweeps.
* ``costs``: clustering time, and the parts of the SOP rewrite.
* ``auto``: the table decides by itself, the training queries in its log.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.context import context_of
from benchmarks.pieces import Piece, Pieces
from benchmarks.tpch.data import denormalised_table
from benchmarks.tpch.measure import Contender, measure_scan, measure_seconds
from benchmarks.tpch.queries import tpch_workloads
from benchmarks.tpch.simulations import (
    best_columns,
    clustering_seconds,
    generated_workload,
    simulate_layouts,
    simulate_ranges,
    sweep_block_rows,
    sweep_features,
)
from benchmarks.tpch.simulator import Simulator, make_simulator, parsed
from benchmarks.tpch.tables import AS_LIES, AUTO, DELTA, LAYOUTS, RANGES, Builder, Log
from skipstone.progress import Progress
from skipstone.spark import SparkSession
from skipstone.spark.engine.draw_sample import count_vectors
from skipstone.spark.session import session
from skipstone.workload.analysis import analyze
from skipstone.workload.predicates import LoggedFilter, date_filters

__all__ = ["MORE_STEPS", "STEPS", "TABLES", "Bench"]

TABLES = (AS_LIES, *DELTA, *LAYOUTS, *RANGES)
STEPS = (*TABLES, "seconds", "simulate", "costs", AUTO)
MORE_STEPS = tuple(f"make-{name}" for name in TABLES)
"""Steps that are no part of a whole run."""
_PAPER_BLOCKS = 10_000
_PAPER_FEATURES = 15
_MOST_FEATURES = 40
_MOST_ROWS = 6_100_000
_SETTINGS = {
    "spark.driver.memory": "6g",
    "spark.driver.maxResultSize": "4g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "16",
    # Reads by many threads at once are for object stores; here the data is on a local disk.
    "spark.hadoop.parquet.hadoop.vectored.io.enabled": "false",
}


@dataclass(frozen=True)
class Bench:
    """One scale factor, and about how many blocks real tables get."""

    sf: float
    blocks: int
    home: Path
    pieces: Pieces
    progress: Progress | None = None
    clock: Callable[[], float] = time.perf_counter

    def step(self, name: str) -> None:
        """Measure what a step is about, unless it was measured before."""
        self._say(name)
        match name:
            case "seconds":
                self.pieces.measure("seconds", self._seconds)
            case "simulate":
                for skewed in (False, True):
                    self._simulate_layouts(skewed)
                    self._simulate_sop(skewed)
                self.pieces.measure("sweep-features-generated", self._generated)
            case "costs":
                self.pieces.measure("clustering", self._clustering)
                self.pieces.measure("breakdown", self._breakdown)
            case "auto":
                self.pieces.measure(AUTO, lambda: self.builder.by_itself(tpch_workloads()[0]))
            case _:
                table = name.removeprefix("make-")
                self.pieces.measure(f"table-{table}", lambda: self._table(table))
                if table == name:
                    self.pieces.measure(f"scan-{name}", lambda: self._scan(name))

    def _say(self, what: str) -> None:
        if self.progress is not None:
            self.progress(what, 0, 1)

    @cached_property
    def spark(self) -> SparkSession:
        """One session for all steps."""
        return session(app_name="skipstone-bench-tpch", config=_SETTINGS)

    @cached_property
    def builder(self) -> Builder:
        """The denormalised table, made if it is not there."""
        path, seconds = denormalised_table(self.spark, self.sf, self.home, self.clock)
        self.pieces.measure("data", lambda: seconds)
        rows = self.spark.read.format("delta").load(str(path)).count()
        return Builder(self.spark, path.parent, rows, self.blocks, self.clock)

    @cached_property
    def training(self) -> tuple[LoggedFilter, ...]:
        """The uniform training workload, parsed once."""
        return parsed(self.builder.open(AS_LIES), tpch_workloads()[0])

    def _table(self, name: str) -> Piece:
        if name == AS_LIES:
            return self.builder.as_lies()
        if name in RANGES:
            return self.builder.by_range(name)
        if name in DELTA:
            columns = self.pieces.measure("columns", self._best_columns)["columns"]
            return self.builder.by_delta(name, columns)
        made = self.builder.by_layout(name, Log(self.training))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {**made, "python_peak_megabytes": peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)}

    def _best_columns(self) -> Piece:
        simulator = self._simulator(False, "zorder", most_rows=1)
        return best_columns(simulator, self.blocks, self.builder.rows)

    def _scan(self, name: str) -> Piece:
        return measure_scan(self.builder, name, tpch_workloads()[1], self.progress)

    def _seconds(self) -> Piece:
        ready = [name for name in TABLES if self.pieces.find(f"table-{name}") is not None]
        plain = [Contender(name, False) for name in (AS_LIES, *DELTA) if name in ready]
        skipping = [Contender(name, True) for name in ready]
        return measure_seconds(self.builder, [*plain, *skipping], tpch_workloads()[1], self.progress)

    def _simulator(self, skewed: bool, layout: str, most_rows: int = _MOST_ROWS) -> Simulator:
        opened = self.builder.open(AS_LIES)
        training, test = tpch_workloads(skewed)
        entries = parsed(opened, training) if skewed else self.training
        asked = parsed(opened, test)
        options = replace(LAYOUTS[layout], block_rows=self._block_rows(self.blocks))
        if layout == "sop":
            options = replace(options, num_features=_MOST_FEATURES)
        return make_simulator(opened, entries, asked, options, most_rows)

    def _block_rows(self, blocks: int) -> int:
        return max(1, self.builder.rows // blocks)

    def _simulate_layouts(self, skewed: bool) -> None:
        names = _of_workload(("simulate-others", "simulate-ranges"), skewed)
        if not self._missing(names):
            return
        self._say(f"simulating layouts, skewed={skewed}")
        simulator = self._simulator(skewed, "qdtree")
        layouts = [name for name in LAYOUTS if name != "sop"]
        rows = self.builder.rows
        self.pieces.measure(names[0], lambda: simulate_layouts(simulator, layouts, rows, self.clock))
        self.pieces.measure(names[1], lambda: simulate_ranges(simulator))

    def _simulate_sop(self, skewed: bool) -> None:
        names = _of_workload(("simulate-sop", "sweep-blocks", "sweep-features"), skewed)
        if not self._missing(names):
            return
        self._say(f"simulating SOP, skewed={skewed}")
        simulator = self._simulator(skewed, "sop")
        rows, few = self.builder.rows, simulator.with_features(_PAPER_FEATURES)
        self.pieces.measure(names[0], lambda: simulate_layouts(few, ["sop"], rows, self.clock))
        self.pieces.measure(names[1], lambda: sweep_block_rows(few, rows))
        self.pieces.measure(names[2], lambda: sweep_features(simulator, self._block_rows(_PAPER_BLOCKS)))

    def _missing(self, names: Sequence[str]) -> bool:
        return self.pieces.again or any(self.pieces.find(name) is None for name in names)

    def _generated(self) -> Piece:
        opened = self.builder.open(AS_LIES)
        training = parsed(opened, generated_workload(400, seed=1))
        test = parsed(opened, generated_workload(80, seed=2))
        block_rows = self._block_rows(_PAPER_BLOCKS)
        options = replace(LAYOUTS["sop"], num_features=_MOST_FEATURES, block_rows=block_rows)
        return sweep_features(make_simulator(opened, training, test, options, _MOST_ROWS), block_rows)

    def _clustering(self) -> Piece:
        sizes = ((3_000, 40), (8_192, 40))
        return {f"{n} x {m}": clustering_seconds(n, m, self.clock) for n, m in sizes}

    def _breakdown(self) -> Piece:
        """The parts of the SOP rewrite (figure 9); its shuffle includes writing, statistics and checks."""
        shuffle = self.pieces.measure("table-sop", lambda: self._table("sop"))["rewrite_seconds"]
        simulator = self._simulator(False, "sop", most_rows=1)
        fitting = simulator.fitting(self._block_rows(self.blocks), _PAPER_FEATURES)
        table = context_of(self.builder.open(AS_LIES)).table
        by = fitting.view.sample.partition_by
        texts = [feature.text for feature in fitting.workload.features]
        marks = [self.clock()]
        analyze(self.training, num_features=_PAPER_FEATURES, leave_out=date_filters)
        marks.append(self.clock())
        counted = count_vectors(table, table.file_indices, texts, by)
        marks.append(self.clock())
        replace(fitting, view=replace(fitting.view, vector_counts=counted)).fit("sop")
        marks.append(self.clock())
        parts = ("workload analysis", "featurisation and reduce", "partitioning")
        return {**dict(zip(parts, np.diff(marks).tolist(), strict=True)), "shuffle and write": shuffle}


def _of_workload(names: Sequence[str], skewed: bool) -> list[str]:
    return [f"{name}-skewed" if skewed else name for name in names]

"""Runs the benchmark of hyper-partitioning: the figures of chapter 6 of its thesis, on TPC-H's lineitem.

``simulate`` needs no Spark: trees are fitted on a sample of 300,000 rows and judged on 1.5 million. ``files``
lays real tables out and asks the ranges of them; the name of one of these tables is a step too. ``costs``
takes the time of laying out beside that of plain writes, ``one copy`` and ``three copies`` a part of that,
and ``sweep`` that of one copy in several numbers of files.
Every measured piece is kept, so a run continues where the last one ended.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import skipstone
from benchmarks.figures import RESULTS, Figure, write
from benchmarks.hyper.costs import COPIES, measure_costs, sweep_costs
from benchmarks.hyper.files import GENERATED, REPLICAS, Tables
from benchmarks.hyper.lineitem import MANY_PLACES, Range, lineitem_file, ranges_of, read_rows, sampled
from benchmarks.hyper.plots import draw_all
from benchmarks.hyper.report import figures
from benchmarks.hyper.simulations import (
    BALANCES,
    CURVES,
    measure_robustness,
    simulate_layouts,
    simulate_replicas,
)
from benchmarks.pieces import Pieces
from benchmarks.tpch.run import data_directory
from skipstone.errors import SkipstoneError
from skipstone.layout.options import SAMPLE_ROWS
from skipstone.layout.sample import Sample
from skipstone.progress import Progress

__all__ = ["STEPS", "Options", "run"]

STEPS = ("simulate", "files", "costs", "sweep")
_TABLES = (GENERATED, *BALANCES, *REPLICAS, *CURVES)
_BLOCKS = 1_000
_MOST_JUDGED = 1_500_000
_SIZES = (0.064, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Numbers of blocks, as parts of what is asked for: tables of other sizes with blocks as large."""


@dataclass(frozen=True, slots=True)
class Options:
    """The scale factor, the steps (all by default), and about how many blocks tables get.

    ``data`` and ``again`` are as for the TPC-H benchmark.
    """

    sf: float = 1.0
    only: tuple[str, ...] = ()
    blocks: int = _BLOCKS
    data: str | None = None
    again: bool = False

    def name(self) -> str:
        """What the results are called."""
        whole = "hyper" if (self.sf, self.blocks) == (1, _BLOCKS) else f"hyper-sf{self.sf:g}-{self.blocks}"
        return "-".join((whole, *self.only))

    def command(self) -> str:
        """The command that measures this."""
        blocks = [f"--blocks {self.blocks}"] if self.blocks != _BLOCKS else []
        steps = [f"--only {step}" for step in self.only]
        return " ".join(("python -m benchmarks hyper", f"--sf {self.sf:g}", *blocks, *steps))


def run(options: Options, output: Path = RESULTS, progress: Progress | None = None) -> list[Figure]:
    """Run the steps, and write the figures and plots of what they are about."""
    steps = (*STEPS, *_TABLES, *COPIES)
    unknown = [step for step in options.only if step not in steps]
    if unknown:
        raise SkipstoneError(f"The benchmark has no step {unknown[0]}; its steps are {', '.join(steps)}.")
    home = data_directory(options.data) / f"hyper-sf{options.sf:g}"
    pieces = Pieces(home / f"pieces-{options.blocks}", options.again)
    bench = _Bench(options, home, pieces, progress)
    for step in options.only or STEPS:
        bench.step(step)
    measured = pieces.asked_for() if options.only else pieces.all()
    draw_all(measured, options.name(), output)
    return write(options.name(), figures(measured, options.command()), measured, output)


@dataclass(frozen=True, eq=False)
class _Bench:
    options: Options
    home: Path
    pieces: Pieces
    progress: Progress | None

    @cached_property
    def source(self) -> Path:
        return lineitem_file(self.options.sf, self.home)

    @cached_property
    def rows(self) -> Sample:
        return sampled(read_rows(self.source), _MOST_JUDGED, seed=1)

    @cached_property
    def sample(self) -> Sample:
        return sampled(dict(self.rows.columns), SAMPLE_ROWS)

    @cached_property
    def ranges(self) -> tuple[Range, ...]:
        return ranges_of(self.sample)

    @cached_property
    def many_ranges(self) -> tuple[Range, ...]:
        return ranges_of(self.sample, MANY_PLACES)

    @cached_property
    def tables(self) -> Tables:
        spark = skipstone.session(app_name="skipstone-bench")
        return Tables(spark, self.home, self.source, self.options.blocks)

    def step(self, name: str) -> None:
        match name:
            case "simulate":
                self.simulate()
            case "costs":
                for copies in COPIES:
                    self.costs(copies)
            case "sweep":
                self.pieces.measure("sweep", lambda: sweep_costs(self.tables, self.progress))
            case _ if name in COPIES:
                self.costs(name)
            case "files":
                for table in _TABLES:
                    self.files(table)
            case _:
                self.files(name)

    def simulate(self) -> None:
        sizes = [max(2, round(part * self.options.blocks)) for part in _SIZES]
        self._say("building trees", 0)
        self.pieces.measure("robustness", lambda: measure_robustness(self.sample, sizes, time.perf_counter))
        blocks = self.options.blocks
        self._say("simulating layouts", 1)
        self.pieces.measure("simulate", lambda: simulate_layouts(self.sample, self.rows, self.ranges, blocks))
        self._say("simulating replicas", 2)
        self.pieces.measure(
            "replicas", lambda: simulate_replicas(self.sample, self.rows, self.ranges, blocks)
        )

    def costs(self, copies: str) -> None:
        self.pieces.measure(f"costs-{copies}", lambda: measure_costs(self.tables, copies, self.progress))

    def files(self, name: str) -> None:
        self._say(f"making the table {name}", 0)
        self.pieces.measure(f"table-{name}", lambda: self.tables.made(name))
        self.pieces.measure(f"scan-{name}", lambda: self.tables.scanned(name, self.ranges, self.progress))
        if name in BALANCES:
            self.pieces.measure(f"places-{name}", lambda: self.tables.planned(name, self.many_ranges))

    def _say(self, what: str, done: int) -> None:
        if self.progress is not None:
            self.progress(what, done, 3)

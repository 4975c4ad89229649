"""Runs the benchmark of GSOP: figures 6 to 10 of its paper (VLDB 2016).

``grouping`` is how long column grouping takes, in seconds of a processor, and how good estimates are
(figure 9). ``sensitivity`` varies the workload (figure 6). Neither needs Spark. ``cells`` counts data cells
and tuple ids on denormalised TPC-H (figures 7a and 8a). ``reads`` makes replicas of that table and runs
queries on them (figures 7b, 8b and 10). ``columns`` does so with a table of 450 columns. Measured pieces are
kept, so a run continues where the last one ended.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import skipstone
from benchmarks.figures import RESULTS, Figure, write
from benchmarks.gsop.columns import ManyColumns
from benchmarks.gsop.grouping import SHAPES, compare_estimates, time_grouping
from benchmarks.gsop.plots import draw_all
from benchmarks.gsop.reads import LAYOUTS, WAYS, Reads
from benchmarks.gsop.report import figures
from benchmarks.gsop.sensitivity import Setting, settings, simulate_setting
from benchmarks.gsop.tpch import CONTESTANTS, PLAIN, prepare_cells
from benchmarks.gsop.wide import Shape
from benchmarks.pieces import Piece, Pieces
from benchmarks.tpch.data import denormalised_table
from benchmarks.tpch.queries import TABLE
from benchmarks.tpch.run import data_directory
from skipstone.errors import SkipstoneError
from skipstone.progress import Progress

__all__ = ["STEPS", "Options", "run"]

STEPS = ("grouping", "sensitivity", "cells", "reads", "columns")
_BLOCKS = 1_000
_MOST_JUDGED = 1_500_000


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
        whole = "gsop" if (self.sf, self.blocks) == (1, _BLOCKS) else f"gsop-sf{self.sf:g}-{self.blocks}"
        return "-".join((whole, *self.only))

    def command(self) -> str:
        """The command that measures this."""
        blocks = [f"--blocks {self.blocks}"] if self.blocks != _BLOCKS else []
        steps = [f"--only {step}" for step in self.only]
        return " ".join(("python -m benchmarks gsop", f"--sf {self.sf:g}", *blocks, *steps))


def run(options: Options, output: Path = RESULTS, progress: Progress | None = None) -> list[Figure]:
    """Run the steps, and write the figures and plots of what they are about."""
    unknown = [step for step in options.only if step not in STEPS]
    if unknown:
        raise SkipstoneError(f"The benchmark has no step {unknown[0]}; its steps are {', '.join(STEPS)}.")
    home = data_directory(options.data)
    pieces = Pieces(home / f"gsop-sf{options.sf:g}" / f"pieces-{options.blocks}", options.again)
    for number, step in enumerate(options.only or STEPS):
        if progress is not None:
            progress(step, number, len(options.only or STEPS))
        match step:
            case "grouping":
                _grouping(pieces)
            case "sensitivity":
                _sensitivity(pieces)
            case "reads":
                _reads(options, home, pieces)
            case "columns":
                _columns(options, home, pieces)
            case _:
                _cells(options, home, pieces)
    measured = pieces.asked_for() if options.only else pieces.all()
    draw_all(measured, options.name(), output)
    return write(options.name(), figures(measured, options.command()), measured, output)


def _grouping(pieces: Pieces) -> None:
    for name, shape in SHAPES.items():
        pieces.measure(f"grouping-{shape.columns}", partial(_timed, name, shape))
    pieces.measure("estimates", compare_estimates)


def _timed(name: str, shape: Shape) -> Piece:
    return {name: time_grouping(shape)}


def _sensitivity(pieces: Pieces) -> None:
    for sweep, found in settings().items():
        pieces.measure(f"sensitivity-{sweep}", partial(_swept, found))


def _swept(found: Sequence[Setting]) -> Piece:
    return {each.named(): simulate_setting(each) for each in found}


def _cells(options: Options, home: Path, pieces: Pieces) -> None:
    missing = [name for name in (PLAIN, *CONTESTANTS) if options.again or not pieces.find(f"cells-{name}")]
    if not missing:
        return
    spark = skipstone.session(app_name="skipstone-bench")
    path, _ = denormalised_table(spark, options.sf, home, time.perf_counter)
    cells = prepare_cells(skipstone.table(spark, f"{TABLE}={path}"), options.blocks, _MOST_JUDGED)
    for name in missing:
        pieces.measure(f"cells-{name}", partial(cells.measure, name))


def _reads(options: Options, home: Path, pieces: Pieces) -> None:
    spark = skipstone.session(app_name="skipstone-bench")
    base, _ = denormalised_table(spark, options.sf, home, time.perf_counter)
    reads = Reads(spark, base, home / f"gsop-sf{options.sf:g}" / f"tables-{options.blocks}", options.blocks)
    pieces.measure("reads-load", reads.load)
    for name in LAYOUTS:
        pieces.measure(f"reads-built-{name}", partial(reads.built, name))
    pieces.measure("reads-choice", reads.choice)
    pieces.measure("reads-built-same", reads.built_as_rows)
    pieces.measure("reads-timed", partial(reads.timed, tuple(WAYS)))
    pieces.measure("reads-memory", reads.all_rows)


def _columns(options: Options, home: Path, pieces: Pieces) -> None:
    many = ManyColumns(skipstone.session(app_name="skipstone-bench"), home / f"gsop-sf{options.sf:g}")
    pieces.measure("columns-made", many.made)
    pieces.measure("columns-planned", many.planned)

"""Runs the benchmark of joins: queries that filter small tables only, with skipstone on and off.

lineitem lies in ranges of ship dates, or by a qd-tree. Every measured piece is kept, so a run continues where
the last one ended.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import exp, log
from pathlib import Path

import skipstone
from benchmarks.figures import RESULTS, Figure, at_least, at_most, unbarred, write
from benchmarks.joins.grouped import GroupedJoins, grouped_figures
from benchmarks.joins.measure import LAYOUTS, Joins
from benchmarks.joins.normalized import Normalized
from benchmarks.joins.plots import draw_all
from benchmarks.joins.ssb import StarSchema
from benchmarks.pieces import Piece, Pieces
from benchmarks.tpch.run import data_directory
from benchmarks.tpchgen import run_tpchgen
from skipstone.errors import SkipstoneError
from skipstone.progress import Progress

__all__ = ["Options", "run"]

GROUPED = "grouped"
"""The step that joins large tables without a shuffle."""
_BLOCKS = 1_000
_PAIRS = 5
_TIMED_PAIRS = 31
_FASTER = 2
_SCANNED = 20
FEATURES = "features"
"""The part about features of joined tables, which has two layouts of its own."""
STAR = "ssb"
"""The same on the Star Schema Benchmark."""
_TIMES_NEEDED = 5


@dataclass(frozen=True, slots=True)
class Options:
    """The scale factor, the layouts (all by default), and about how many files lineitem gets."""

    sf: float = 1.0
    only: tuple[str, ...] = ()
    blocks: int = _BLOCKS
    data: str | None = None
    again: bool = False

    def name(self) -> str:
        """What the results are called."""
        whole = "joins" if (self.sf, self.blocks) == (1, _BLOCKS) else f"joins-sf{self.sf:g}-{self.blocks}"
        return "-".join((whole, *self.only))

    def command(self) -> str:
        """The command that measures this."""
        blocks = [f"--blocks {self.blocks}"] if self.blocks != _BLOCKS else []
        layouts = [f"--only {layout}" for layout in self.only]
        return " ".join(("python -m benchmarks joins", f"--sf {self.sf:g}", *blocks, *layouts))


def run(options: Options, output: Path = RESULTS, progress: Progress | None = None) -> list[Figure]:
    """Make the tables, time the queries and write the figures."""
    steps = (*LAYOUTS, FEATURES, STAR, GROUPED)
    unknown = [step for step in options.only if step not in steps]
    if unknown:
        raise SkipstoneError(f"The benchmark has no layout {unknown[0]}; it has {', '.join(steps)}.")
    home = data_directory(options.data) / f"joins-sf{options.sf:g}-{options.blocks}"
    source = home / "parquet"
    if not (source / "lineitem.parquet").exists():
        run_tpchgen(options.sf, source)
    pieces = Pieces(home / "pieces", options.again)
    wanted = options.only or steps
    layouts = [step for step in wanted if step in LAYOUTS]
    spark = skipstone.session(app_name="skipstone-bench")
    joins = Joins(spark, home, source, options.blocks, time.perf_counter)
    if FEATURES in wanted:
        _measure_features(pieces, Normalized(spark, home, source, options.blocks), progress)
    if STAR in wanted:
        _measure_star(pieces, StarSchema(spark, home, source, options.blocks), progress)
    if layouts:
        pieces.measure("small", joins.small)
    for index, layout in enumerate(layouts):
        if progress is not None:
            progress(f"lineitem by {layout}", index, len(layouts))
        pieces.measure(f"table-{layout}", partial(joins.laid_out, layout))
        pieces.measure(f"timed-{layout}", partial(joins.timed, layout, _TIMED_PAIRS))
    every = pieces.asked_for()
    measured = {name: piece for name, piece in every.items() if name.startswith(("timed-", "scanned-"))}
    found = figures(measured, options.command())
    if GROUPED in wanted:
        grouped = GroupedJoins(spark, home, source, options.blocks)
        pieces.measure("keyed-tables", grouped.tables)
        measured[GROUPED] = pieces.measure(GROUPED, partial(grouped.measured, _PAIRS))
        found += grouped_figures(measured[GROUPED], options.command())
    draw_all(measured, options.name(), output)
    return write(options.name(), found, measured, output)


def _measure_features(pieces: Pieces, normalized: Normalized, progress: Progress | None) -> None:
    """The templates of TPC-H as joins, with features about the joined tables and without."""
    pieces.measure("normalized", normalized.tables)
    for index, joined in enumerate((False, True)):
        if progress is not None:
            progress("lineitem by its joins" if joined else "lineitem by its own columns", index, 2)
        name = "joined" if joined else "alone"
        pieces.measure(f"table-{name}", partial(normalized.laid_out, joined))
        needed = pieces.measure("needed", normalized.needed)
        pieces.measure(f"scanned-{name}", partial(normalized.measured, joined, needed))


def _measure_star(pieces: Pieces, star: StarSchema, progress: Progress | None) -> None:
    """The Star Schema Benchmark, with features about its dimensions."""
    pieces.measure("ssb-tables", star.tables)
    if progress is not None:
        progress("lineorder by its joins", 0, 1)
    pieces.measure("ssb-table", star.laid_out)
    pieces.measure("scanned-ssb", star.measured)


def figures(measured: Mapping[str, Piece], command: str) -> list[Figure]:
    """What the queries gain and lose, by layout."""
    found: list[Figure] = []
    for name, queries in measured.items():
        if name == f"scanned-{STAR}":
            found += _star(queries, command)
            continue
        if name.startswith("scanned-"):
            found += _scanned(name.removeprefix("scanned-"), queries, command)
            continue
        layout = name.removeprefix("timed-")
        gains = [query["times_faster"] for query in queries.values() if query["skips"]]
        mean = exp(sum(map(log, gains)) / len(gains))
        slower = max(query["slower_percent"] for query in queries.values())
        cpu = max(query["more_cpu_percent"] for query in queries.values())
        same = sum(not query["same_result"] for query in queries.values())
        found += [
            at_least(
                f"{layout}: best of the queries whose keys are in few files",
                max(gains),
                "times",
                _FASTER,
                command,
            ),
            at_least(f"{layout}: geometric mean of these", mean, "times", _FASTER, command),
            at_most(f"{layout}: most that any query loses", slower, "%", 3, command),
            at_most(f"{layout}: most that any query loses, CPU", cpu, "%", 3, command),
            at_most(f"{layout}: queries with another result", same, "queries", 0, command),
            unbarred(
                f"{layout}: queries at least 2 times faster",
                sum(gain >= _FASTER for gain in gains),
                "",
                command,
            ),
        ]
    return found


def _scanned(name: str, piece: Piece, command: str) -> list[Figure]:
    """Shares of lineitem's rows, mean of the templates, each with other parameters than the layout knows."""
    scanned = f"{name}: rows of lineitem scanned"
    needed = unbarred(f"{name}: rows of lineitem that survive the joins", piece["needed"], "%", command)
    if name == "joined":
        return [at_most(scanned, piece["scanned"], "%", _SCANNED, command), needed]
    return [unbarred(scanned, piece["scanned"], "%", command), needed]


def _star(piece: Piece, command: str) -> list[Figure]:
    """How many times what the joins need is scanned: over drawn parameters, and over the published ones."""
    found = []
    for what, each in (("other parameters", piece), ("the published parameters", piece["published"])):
        title = f"ssb, {what}: rows of lineorder"
        times = each["scanned"] / each["needed"]
        found += [
            unbarred(f"{title} scanned", each["scanned"], "%", command),
            unbarred(f"{title} that survive the joins", each["needed"], "%", command),
            at_most(f"{title} scanned over those that survive", times, "times", _TIMES_NEEDED, command),
        ]
    return found

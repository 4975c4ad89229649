"""Runs the TPC-H benchmark: layouts on the denormalised table, by the method of SIGMOD'14 section 7.

Every measured piece is kept, so a run continues where the last one ended, and each step can be run alone:
``python -m benchmarks tpch --sf 1 --only qdtree``. Chosen steps have a results file of their own; that of the
whole benchmark is made by a whole run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import RESULTS, Figure, write
from benchmarks.pieces import Pieces
from benchmarks.tpch.plots import draw_all
from benchmarks.tpch.report import figures
from benchmarks.tpch.steps import MORE_STEPS, STEPS, Bench
from skipstone.errors import SkipstoneError
from skipstone.progress import Progress

__all__ = ["DATA", "Options", "data_directory", "run"]

DATA = "SKIPSTONE_BENCH_DATA"
_BLOCKS = 1_000


@dataclass(frozen=True, slots=True)
class Options:
    """The scale factor, the steps (all by default), and about how many blocks real tables get.

    ``data`` is where tables and pieces are kept, else the directory that SKIPSTONE_BENCH_DATA names, else the
    user's cache directory. ``again`` measures anew what was measured before.
    """

    sf: float = 1.0
    only: tuple[str, ...] = ()
    blocks: int = _BLOCKS
    data: str | None = None
    again: bool = False

    def name(self) -> str:
        """What the results are called."""
        whole = "tpch" if (self.sf, self.blocks) == (1, _BLOCKS) else f"tpch-sf{self.sf:g}-{self.blocks}"
        return "-".join((whole, *self.only))

    def command(self) -> str:
        """The command that measures this."""
        blocks = [f"--blocks {self.blocks}"] if self.blocks != _BLOCKS else []
        steps = [f"--only {step}" for step in self.only]
        return " ".join(("python -m benchmarks tpch", f"--sf {self.sf:g}", *blocks, *steps))


def run(options: Options, output: Path = RESULTS, progress: Progress | None = None) -> list[Figure]:
    """Run the steps, and write the figures and plots of what they are about."""
    unknown = [step for step in options.only if step not in (*STEPS, *MORE_STEPS)]
    if unknown:
        raise SkipstoneError(f"The benchmark has no step {unknown[0]}; its steps are {', '.join(STEPS)}.")
    home = data_directory(options.data)
    pieces = Pieces(home / f"sf{options.sf:g}" / f"pieces-{options.blocks}", options.again)
    bench = Bench(options.sf, options.blocks, home, pieces, progress)
    for step in options.only or STEPS:
        bench.step(step)
    measured = pieces.asked_for() if options.only else pieces.all()
    draw_all(measured, options.name(), output)
    details = {
        key: {name: value for name, value in piece.items() if name != "queries"}
        for key, piece in measured.items()
    }
    memory = _memory(home, options.blocks) if "table-qdtree" in measured else {}
    return write(options.name(), figures(measured, options.command(), memory), details, output)


def data_directory(given: str | None) -> Path:
    """Where generated tables and measured pieces are kept."""
    chosen = given or os.environ.get(DATA)
    if chosen:
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "skipstone" / "bench" / "tpch"


def _memory(home: Path, blocks: int) -> dict[str, float]:
    """The peak of the driver's Python once the qd-tree's table was made, by scale factor.

    It is that of the whole process, so each should have made this table alone: ``--only make-qdtree``.
    """
    found = {}
    for directory in sorted(home.glob("sf*"), key=lambda path: float(path.name[2:])):
        piece = Pieces(directory / f"pieces-{blocks}").find("table-qdtree")
        if piece is not None:
            found[directory.name[2:]] = float(piece["python_peak_megabytes"])
    return found

"""The TPC-H benchmark: layouts on the denormalised table, by the method of SIGMOD'14 section 7.

Every measured piece is kept, so a run continues where the last one ended, and each step can be run alone:
``skipstone bench tpch --sf 1 --only qdtree``. Chosen steps have a results file of their own; that of the
whole benchmark is made by a whole run.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import RESULTS, write
from benchmarks.pieces import Pieces
from benchmarks.tpch_plots import draw_all
from benchmarks.tpch_report import figures
from benchmarks.tpch_steps import MORE_STEPS, STEPS, Bench

from skipstone.errors import SkipstoneError
from skipstone.spark.engine.job_progress import Progress

__all__ = ["DATA", "run"]

DATA = "SKIPSTONE_BENCH_DATA"
_BLOCKS = 1_000


def run(
    sf: float = 1.0,
    only: Sequence[str] = (),
    blocks: int = _BLOCKS,
    data: str | None = None,
    output: Path = RESULTS,
    again: bool = False,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Run the steps, all by default, and write the figures and plots of what they are about.

    ``data`` is where tables and pieces are kept, else the directory that SKIPSTONE_BENCH_DATA names, else the
    user's cache directory. ``again`` measures anew what was measured before.
    """
    unknown = [step for step in only if step not in (*STEPS, *MORE_STEPS)]
    if unknown:
        raise SkipstoneError(f"The benchmark has no step {unknown[0]}; its steps are {', '.join(STEPS)}.")
    home = _data_directory(data)
    pieces = Pieces(home / f"sf{sf:g}" / f"pieces-{blocks}", again)
    bench = Bench(sf, blocks, home, pieces, progress)
    for step in only or STEPS:
        bench.step(step)
    measured = pieces.asked_for() if only else pieces.all()
    name = "-".join(("tpch" if sf == 1 and blocks == _BLOCKS else f"tpch-sf{sf:g}-{blocks}", *only))
    draw_all(measured, name, output)
    sizes = f"--sf {sf:g}" + (f" --blocks {blocks}" if blocks != _BLOCKS else "")
    command = " ".join(("skipstone bench tpch", sizes, *(f"--only {step}" for step in only)))
    details = {
        key: {name: value for name, value in piece.items() if name != "queries"}
        for key, piece in measured.items()
    }
    memory = _memory(home, blocks) if "table-qdtree" in measured else {}
    return write(name, figures(measured, command, memory), details, output)


def _data_directory(given: str | None) -> Path:
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


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tpch")
    parser.add_argument("--sf", type=float, default=1.0, help="TPC-H scale factor")
    parser.add_argument("--only", action="append", default=[], help=f"a step: {', '.join(STEPS)}")
    parser.add_argument("--blocks", type=int, default=_BLOCKS, help="about how many blocks real tables get")
    parser.add_argument("--data", help=f"where tables are kept (default: ${DATA} or the cache directory)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where figures and plots go")
    parser.add_argument("--again", action="store_true", help="measure again what was measured before")
    for figure in run(**vars(parser.parse_args()), progress=_print):
        print(*(figure[key] for key in ("name", "value", "unit", "bar", "holds")), sep="\t")


def _print(what: str, done: int, total: int) -> None:
    print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    _main()

"""Runs the benchmark of adaptation: rows scanned against a qd-tree's, and the bytes that are rewritten.

``simulate`` needs no Spark, ``files`` adapts real tables of TPC-H's lineitem; the name of a workload is a
step too. Measured pieces are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import skipstone
from benchmarks.adapt.files import adapted, hyper_base, laid_out_anew
from benchmarks.adapt.simulations import WORKLOADS, measure
from benchmarks.adapt.workloads import KINDS
from benchmarks.figures import RESULTS, Figure, at_most, unbarred, write
from benchmarks.hyper.files import Tables
from benchmarks.hyper.lineitem import lineitem_file
from benchmarks.pieces import Piece, Pieces
from benchmarks.tpch.run import data_directory
from skipstone.errors import SkipstoneError
from skipstone.progress import Progress

__all__ = ["STEPS", "Options", "run"]

STEPS = ("simulate", "files")
_BLOCKS = 1_000
_TIMES_QDTREE, _PERCENT_REWRITTEN = 1.5, 50.0


@dataclass(frozen=True, slots=True)
class Options:
    """As for the benchmark of hyper-partitioning, whose tables are taken."""

    sf: float = 1.0
    only: tuple[str, ...] = ()
    blocks: int = _BLOCKS
    data: str | None = None
    again: bool = False

    def name(self) -> str:
        """What the results are called."""
        whole = "adapt" if (self.sf, self.blocks) == (1, _BLOCKS) else f"adapt-sf{self.sf:g}-{self.blocks}"
        return "-".join((whole, *self.only))

    def command(self) -> str:
        """The command that measures this."""
        blocks = [f"--blocks {self.blocks}"] if self.blocks != _BLOCKS else []
        steps = [f"--only {step}" for step in self.only]
        return " ".join(("python -m benchmarks adapt", f"--sf {self.sf:g}", *blocks, *steps))


def run(options: Options, output: Path = RESULTS, progress: Progress | None = None) -> list[Figure]:
    """Run the steps, and write the figures of what they are about."""
    known = (*STEPS, *KINDS)
    unknown = [step for step in options.only if step not in known]
    if unknown:
        raise SkipstoneError(f"The benchmark has no step {unknown[0]}; its steps are {', '.join(known)}.")
    home = data_directory(options.data) / f"hyper-sf{options.sf:g}"
    pieces = Pieces(home / f"adapt-pieces-{options.blocks}", options.again)
    steps = options.only or STEPS
    if "simulate" in steps:
        for kind in WORKLOADS:
            pieces.measure(f"simulated-{kind}", partial(measure, kind, options.blocks))
    kinds = [kind for kind in KINDS if "files" in steps or kind in steps]
    if kinds:
        _files(options, home, pieces, kinds, progress)
    measured = pieces.asked_for() if options.only else pieces.all()
    return write(options.name(), _figures(measured, options.command()), measured, output)


def _files(
    options: Options, home: Path, pieces: Pieces, kinds: Sequence[str], progress: Progress | None
) -> None:
    spark = skipstone.session(app_name="skipstone-bench")
    tables = Tables(spark, home, lineitem_file(options.sf, home), options.blocks)
    pieces.measure("base", lambda: hyper_base(tables))
    for kind in kinds:
        pieces.measure(f"qdtree-{kind}", partial(laid_out_anew, tables, kind, progress))
        pieces.measure(f"adapted-{kind}", partial(adapted, tables, kind, progress))


def _figures(pieces: Mapping[str, Piece], command: str) -> list[Figure]:
    found: list[Figure] = []
    for kind in WORKLOADS:
        if (piece := pieces.get(f"simulated-{kind}")) is not None:
            scanned = (piece["percent_scanned_after"], piece["percent_scanned_qdtree"])
            least = piece["percent_least_left"]
            found += _compared(f"simulated, {kind}", scanned, piece["percent_rewritten"], least, command)
    for kind in KINDS:
        if f"adapted-{kind}" in pieces and f"qdtree-{kind}" in pieces:
            piece, best = pieces[f"adapted-{kind}"], pieces[f"qdtree-{kind}"]["after"]["percent_scanned"]
            report, least = piece["report"], piece["percent_least_left"]
            rewritten = 100 * report["bytes_rewritten"] / report["bytes"]
            scanned = (piece["after"]["percent_scanned"], best)
            found += _compared(f"files, {kind}", scanned, rewritten, least, command)
            before, needed = (piece["before"][name] for name in ("percent_scanned", "percent_needed"))
            found.append(unbarred(f"files, {kind}: rows scanned before", round(before, 3), "%", command))
            found.append(unbarred(f"files, {kind}: rows needed", round(needed, 3), "%", command))
    return found


def _compared(
    name: str, scanned: tuple[float, float], rewritten: float, least: float, command: str
) -> list[Figure]:
    """The figures of one workload; ``scanned`` is that after adaptation, and by the qd-tree."""
    after, best = scanned
    return [
        at_most(f"{name}: rows scanned, of a qd-tree", after / best, "times", _TIMES_QDTREE, command),
        at_most(f"{name}: rewritten", rewritten, "%", _PERCENT_REWRITTEN, command),
        unbarred(f"{name}: rows scanned after adaptation", round(after, 3), "%", command),
        unbarred(f"{name}: rows scanned, qd-tree", round(best, 3), "%", command),
        unbarred(f"{name}: least possible with half rewritten", round(least, 3), "%", command),
        unbarred(f"{name}: least possible, of a qd-tree", round(least / best, 3), "times", command),
    ]

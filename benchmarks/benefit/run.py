"""Runs the benchmark of the benefit estimate: what it says is skipped against what is, over a grid.

It writes ``benchmarks/results/benefit.json`` and a heat map of the grid, which is that of Self-organising
layouts for Delta (thesis), table 5.1.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import skipstone
from benchmarks.benefit.grid import Cell, Grid, measure_cell
from benchmarks.benefit.readings import RANGES, workload
from benchmarks.figures import RESULTS, Figure, at_most, unbarred, write
from benchmarks.plots import axes, save_plot
from skipstone.progress import Progress

__all__ = ["Options", "run"]

_Z = (0, 1, 2, 3)
_SOP = (0, 4, 8, 12)
_BLOCKS = 64
_SAMPLED = 20
"""One in so many rows is sampled."""
_QUICK_ROWS, _QUICK_RANGES = 20_000, 4


@dataclass(frozen=True, slots=True)
class Options:
    """What is generated; ``quick`` measures a part of the grid, and ``data`` is where tables are made."""

    rows: int = 500_000
    seed: int = 0
    quick: bool = False
    data: str | None = None


def run(options: Options, output: Path = RESULTS, progress: Progress | None = None) -> list[Figure]:
    """Measure the grid, write the results and return the figures."""
    rows = _QUICK_ROWS if options.quick else options.rows
    found = _measure(options, rows, progress)
    name = "benefit-quick" if options.quick else "benefit"
    command = f"python -m benchmarks benefit --rows {rows} --seed {options.seed}"
    worst = max(found, key=lambda cell: cell.factor)
    figure = at_most("benefit, estimated against real: largest factor", worst.factor, "times", 1.25, command)
    if options.quick:
        figure = unbarred(figure.name, figure.value, figure.unit, command)
    _draw(found, f"{name}-5.1-factors", output)
    details = {
        "rows": rows,
        "blocks": _BLOCKS,
        "sampled_rows": rows // _SAMPLED,
        "worst": {"z": worst.z, "sop": worst.sop},
        "cells": [cell.to_dict() for cell in found],
    }
    return write(name, [figure], details, output)


def _measure(options: Options, rows: int, progress: Progress | None) -> list[Cell]:
    cells = [(0, 0), (1, 4)] if options.quick else [(z, sop) for z in _Z for sop in _SOP]
    asked = workload(options.seed, _QUICK_RANGES if options.quick else RANGES)
    found: list[Cell] = []
    with tempfile.TemporaryDirectory(prefix="skipstone-bench-", dir=options.data) as folder:
        spark = skipstone.session(app_name="skipstone-bench")
        grid = Grid(spark, Path(folder), asked, max(1, rows // _BLOCKS), rows // _SAMPLED, options.seed)
        grid.make(rows)
        for index, (z, sop) in enumerate(cells):
            if progress is not None:
                progress("estimating and rewriting", index, len(cells))
            found.append(measure_cell(grid, z, sop))
    return found


def _draw(cells: Sequence[Cell], name: str, directory: Path) -> None:
    """The factors as a heat map; a cell that was not measured stays empty."""
    factors = np.full((len(_Z), len(_SOP)), np.nan)
    for cell in cells:
        factors[_Z.index(cell.z), _SOP.index(cell.sop)] = cell.factor
    canvas, plot = axes(4.8, 3.6)
    drawn = plot.imshow(factors, cmap="YlOrRd", vmin=1.0, vmax=1.5, aspect="auto")
    for row, column in zip(*np.nonzero(~np.isnan(factors)), strict=True):
        plot.text(column, row, f"{factors[row, column]:.2f}", ha="center", va="center", fontsize=9)
    plot.set_xticks(range(len(_SOP)), [str(number) for number in _SOP])
    plot.set_yticks(range(len(_Z)), [str(number) for number in _Z])
    plot.set_xlabel("SOP features", fontsize=8)
    plot.set_ylabel("Z features", fontsize=8)
    plot.set_title("skipped bytes, estimated against real: factor", fontsize=9)
    canvas.colorbar(drawn, ax=plot)
    save_plot(canvas, name, directory)

"""The figures of chapter 6 of the hyper-partitioning thesis."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.hyper.files import GENERATED, REPLICAS
from benchmarks.hyper.simulations import BALANCES, CURVES
from benchmarks.pieces import Piece
from benchmarks.plots import axes, save_plot

__all__ = ["draw_all"]

_COLOURS = {"least-allocated": "#2a9d8f", "worst": "#264653", "k-d tree": "#e76f51"}


def draw_all(pieces: Mapping[str, Piece], name: str, directory: Path) -> None:
    """Draw what the measured pieces have."""
    if "robustness" in pieces:
        _lines(pieces["robustness"], "robustness", f"{name}-6.1b-robustness", directory)
        _lines(pieces["robustness"], "seconds", f"{name}-6.1c-build", directory)
    if "simulate" in pieces:
        _bars(
            {each: pieces["simulate"][each] for each in pieces["simulate"]},
            f"{name}-6.2-simulated",
            directory,
        )
    names = (GENERATED, *CURVES, *BALANCES, *REPLICAS)
    real = {each: pieces[f"scan-{each}"] for each in names if f"scan-{each}" in pieces}
    if real:
        _bars(real, f"{name}-6.2-files", directory)


def _lines(piece: Piece, what: str, name: str, directory: Path) -> None:
    canvas, plot = axes()
    for kind, colour in _COLOURS.items():
        found = [each for key, each in piece.items() if key.rsplit(" ", 1)[0] == kind]
        found.sort(key=lambda each: each["blocks"])
        plot.plot(
            [each["blocks"] for each in found], [each[what] for each in found], "o-", label=kind, color=colour
        )
    plot.set_xscale("log")
    plot.set_xlabel("blocks", fontsize=8)
    plot.set_ylabel(f"{what} (mean / deviation of allocations)" if what == "robustness" else what, fontsize=8)
    plot.legend(fontsize=8, frameon=False)
    save_plot(canvas, name, directory)


def _bars(piece: Mapping[str, Piece], name: str, directory: Path) -> None:
    """The share scanned of each attribute, a group of bars for each."""
    attributes = list(next(iter(piece.values()))["attributes"])
    canvas, plot = axes(10.0, 3.6)
    width = 0.8 / len(piece)
    for index, (layout, found) in enumerate(piece.items()):
        places = np.arange(len(attributes)) + index * width
        heights = [found["attributes"][attribute] for attribute in attributes]
        plot.bar(places, heights, width, label=f"{layout} ({found['mean']:.0f} / {found['worst']:.0f} %)")
    ticks = [attribute.removeprefix("l_") for attribute in attributes]
    plot.set_xticks(np.arange(len(attributes)) + 0.4, ticks, rotation=40, ha="right", fontsize=7)
    plot.set_ylabel("rows scanned, %", fontsize=8)
    plot.legend(fontsize=7, frameon=False, ncols=3, title="mean / worst attribute", title_fontsize=7)
    save_plot(canvas, name, directory)

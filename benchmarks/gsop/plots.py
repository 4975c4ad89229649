"""The plots of GSOP's benchmark: figures 6 to 8 and 10 of its paper."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.gsop.reads import LAYOUTS
from benchmarks.gsop.tpch import CONTESTANTS, PLAIN
from benchmarks.pieces import Piece
from benchmarks.plots import axes, save_plot

__all__ = ["draw_all"]

_COLOURS = {"sop": "#e76f51", "gsop-single": "#e9c46a", "gsop": "#2a9d8f"}


def draw_all(pieces: Mapping[str, Piece], name: str, directory: Path) -> None:
    """Draw what the measured pieces have."""
    for sweep in "ktzs":
        if piece := pieces.get(f"sensitivity-{sweep}"):
            _sweep(piece, sweep, f"{name}-6-{sweep}", directory)
    found = {each: pieces[f"cells-{each}"] for each in (PLAIN, *CONTESTANTS) if f"cells-{each}" in pieces}
    if found:
        _cells(found, f"{name}-7a-8a-cells", directory)
    if queries := pieces.get("reads-timed"):
        _seconds(queries, f"{name}-7b-8b-seconds", directory)
    if load := pieces.get("reads-load"):
        _built(load, pieces, f"{name}-10-loading", directory)


def _sweep(piece: Piece, sweep: str, name: str, directory: Path) -> None:
    """The cost of a query with only tuple ids to read, where groupings differ most."""
    canvas, plot = axes()
    values = [dict(part.split("=") for part in setting.split(","))[sweep] for setting in piece]
    for layout, colour in _COLOURS.items():
        costs = [found["tuple ids"][layout] for found in piece.values()]
        plot.plot(values, costs, "o-", label=layout, color=colour)
    plot.set_xlabel(sweep, fontsize=8)
    plot.set_ylabel("cells and tuple ids of a query", fontsize=8)
    plot.legend(fontsize=8, frameon=False)
    save_plot(canvas, name, directory)


def _cells(found: Mapping[str, Piece], name: str, directory: Path) -> None:
    canvas, plot = axes(8.0, 3.2)
    cells, ids = ([piece[what] for piece in found.values()] for what in ("cells", "tuple_ids"))
    plot.bar(list(found), cells, label="data cells", color="#2a9d8f")
    plot.bar(list(found), ids, bottom=cells, label="tuple ids", color="#e9c46a")
    plot.set_ylabel("read by a query, by the table's rows", fontsize=8)
    plot.tick_params(axis="x", labelsize=6)
    plot.legend(fontsize=8, frameon=False)
    save_plot(canvas, name, directory)


def _seconds(queries: Piece, name: str, directory: Path) -> None:
    canvas, plot = axes(6.0, 3.2)
    ways = list(next(iter(queries.values()))["ways"])
    for what, colour, shift in (("seconds", "#2a9d8f", -0.2), ("cpu", "#e9c46a", 0.2)):
        means = [sum(query["ways"][way][what] for query in queries.values()) / len(queries) for way in ways]
        plot.bar([place + shift for place in range(len(ways))], means, 0.4, label=what, color=colour)
    plot.set_xticks(range(len(ways)), ways)
    plot.set_ylabel("seconds of a query, and of processors", fontsize=8)
    plot.tick_params(axis="x", labelsize=7)
    plot.legend(fontsize=8, frameon=False)
    save_plot(canvas, name, directory)


def _built(load: Piece, pieces: Mapping[str, Piece], name: str, directory: Path) -> None:
    canvas, plot = axes(5.0, 3.2)
    made = {each: found for each in LAYOUTS if (found := pieces.get(f"reads-built-{each}"))}
    names = ["plain load", *made]
    fit = [0.0, *(piece["fit"]["cpu"] for piece in made.values())]
    copy = [load["plain"]["cpu"], *(piece["copy"]["cpu"] for piece in made.values())]
    plot.bar(names, fit, label="fitting", color="#e9c46a")
    plot.bar(names, copy, bottom=fit, label="copying", color="#2a9d8f")
    plot.set_ylabel("seconds of processors", fontsize=8)
    plot.tick_params(axis="x", labelsize=7)
    plot.legend(fontsize=8, frameon=False)
    save_plot(canvas, name, directory)

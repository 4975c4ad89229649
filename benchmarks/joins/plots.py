"""How long each query takes with skipstone and without."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.pieces import Piece
from benchmarks.plots import axes, save_plot

__all__ = ["plot_queries"]


def plot_queries(name: str, layout: str, queries: Mapping[str, Piece], directory: Path) -> None:
    """Two bars for each query of a layout."""
    canvas, plot = axes(height=0.9 + 0.45 * len(queries))
    places = range(len(queries))
    for shift, side, colour in ((-0.2, "off", "#9aa5b1"), (0.2, "on", "#2a9d8f")):
        seconds = [query[f"seconds_{side}"] for query in queries.values()]
        plot.barh([place + shift for place in places], seconds, 0.38, color=colour, label=f"skipstone {side}")
    for place, query in zip(places, queries.values(), strict=True):
        plot.text(query["seconds_on"], place + 0.2, f" {query['times_faster']:.2g}x", va="center", fontsize=7)
    plot.set_yticks(places, list(queries), fontsize=8)
    plot.set_xlabel(f"seconds, lineitem by {layout}", fontsize=8)
    plot.legend(fontsize=7, frameon=False)
    plot.invert_yaxis()
    save_plot(canvas, f"{name}-{layout}", directory)

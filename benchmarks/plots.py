"""Plots beside the figures of a benchmark, drawn without a screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from benchmarks.figures import RESULTS, Figure

__all__ = ["Canvas", "against_bars", "axes", "new_canvas", "save_plot"]


def new_canvas(width: float, height: float) -> Canvas:
    """An empty plot; its size is in inches."""
    canvas = Canvas(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(canvas)
    return canvas


def axes(width: float = 6.4, height: float = 3.2) -> tuple[Canvas, Axes]:
    """A new plot and its axes."""
    canvas = new_canvas(width, height)
    found = canvas.add_subplot()
    found.spines[["top", "right"]].set_visible(False)
    return canvas, found


def save_plot(canvas: Canvas, name: str, directory: Path = RESULTS) -> None:
    """Save a plot as ``NAME.png``."""
    directory.mkdir(parents=True, exist_ok=True)
    # Without the metadata, the same plot is the same file.
    canvas.savefig(directory / f"{name}.png", dpi=110, metadata={"Software": None})


def against_bars(name: str, figures: Sequence[Figure], directory: Path = RESULTS) -> None:
    """Draw each figure as a share of its bar; left of the line it holds."""
    barred = [(figure, figure.bar) for figure in figures if figure.bar]
    canvas, plot = axes(height=0.9 + 0.55 * len(barred))
    shares = [max(figure.value / bar, 0.0) for figure, bar in barred]
    colours = ["#2a9d8f" if figure.holds else "#d1495b" for figure, _ in barred]
    plot.barh(range(len(barred)), shares, color=colours, height=0.6)
    for index, ((figure, bar), share) in enumerate(zip(barred, shares, strict=True)):
        text = f" {figure.value:,.3g} {figure.unit} of {bar:g}"
        plot.text(share, index, text, va="center", fontsize=8)
    plot.axvline(1.0, color="#444444", linewidth=1, linestyle="--")
    plot.set_yticks(range(len(barred)), [figure.name for figure, _ in barred], fontsize=8)
    plot.set_xlim(0, max(1.5, 1.35 * max(shares, default=1.0)))
    plot.set_xlabel("share of the bar", fontsize=8)
    plot.invert_yaxis()
    save_plot(canvas, name, directory)

"""Figures: what a benchmark measured, held against the bar that it should reach, and drawn.

A benchmark writes ``NAME.json`` with its figures, what it ran on and whatever else is worth keeping, and its
plots beside it as ``NAME-*.png``.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = [
    "RESULTS",
    "Figure",
    "against_bars",
    "at_least",
    "at_most",
    "axes",
    "machine",
    "save_plot",
    "write",
]

RESULTS = Path("benchmarks/results")
_LIBRARIES = ("pyspark", "delta-spark", "numpy", "pyarrow")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number; ``bar`` and ``holds`` are None where nothing was asked for."""

    name: str
    value: float
    unit: str
    bar: float | None
    holds: bool | None
    command: str


def at_most(name: str, value: float, unit: str, bar: float, command: str) -> Figure:
    """A figure that should not exceed its bar.

    >>> at_most("decision", 12.34567, "ms", 50, "make bench-skip").holds
    True
    """
    return Figure(name, round(value, 3), unit, bar, value <= bar, command)


def at_least(name: str, value: float, unit: str, bar: float, command: str) -> Figure:
    """A figure that should reach its bar.

    >>> at_least("speedup", 2.9, "times", 3, "make bench-replay").holds
    False
    """
    return Figure(name, round(value, 3), unit, bar, value >= bar, command)


def machine() -> dict[str, object]:
    """What the figures were measured on, without names or places."""
    return {
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        **{library: version(library) for library in _LIBRARIES},
    }


def write(
    name: str, figures: Sequence[Figure], details: Mapping[str, object], directory: Path = RESULTS
) -> list[dict[str, Any]]:
    """Write ``NAME.json`` and return its figures."""
    listed = [asdict(figure) for figure in figures]
    directory.mkdir(parents=True, exist_ok=True)
    content = {"figures": listed, "machine": machine(), "details": dict(details)}
    (directory / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return listed


def axes(width: float = 6.4, height: float = 3.2) -> tuple[Any, Any]:
    """A new plot and its axes, drawn without a screen."""
    # Imported late: only who draws needs it.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(canvas)
    found = canvas.add_subplot()
    found.spines[["top", "right"]].set_visible(False)
    return canvas, found


def save_plot(canvas: Any, name: str, directory: Path = RESULTS) -> None:
    """Save a plot as ``NAME.png``."""
    directory.mkdir(parents=True, exist_ok=True)
    # Without the metadata, the same plot is the same file.
    canvas.savefig(directory / f"{name}.png", dpi=110, metadata={"Software": None})


def against_bars(name: str, figures: Sequence[Figure], directory: Path = RESULTS) -> None:
    """Draw each figure as a share of its bar; left of the line it holds."""
    barred = [figure for figure in figures if figure.bar is not None]
    canvas, plot = axes(height=0.9 + 0.55 * len(barred))
    shares = [figure.value / figure.bar for figure in barred if figure.bar]
    colours = ["#2a9d8f" if figure.holds else "#d1495b" for figure in barred]
    plot.barh(range(len(barred)), [max(share, 0.0) for share in shares], color=colours, height=0.6)
    for place, (figure, share) in enumerate(zip(barred, shares, strict=True)):
        text = f" {figure.value:,.3g} {figure.unit} of {figure.bar:g}"
        plot.text(max(share, 0.0), place, text, va="center", fontsize=8)
    plot.axvline(1.0, color="#444444", linewidth=1, linestyle="--")
    plot.set_yticks(range(len(barred)), [figure.name for figure in barred], fontsize=8)
    plot.set_xlim(0, max(1.5, 1.35 * max(shares, default=1.0)))
    plot.set_xlabel("share of the bar", fontsize=8)
    plot.invert_yaxis()
    save_plot(canvas, name, directory)

"""Figures: what a benchmark measured, and the bar that it should reach.

A benchmark writes ``NAME.json`` with its figures, what it ran on and whatever else is worth keeping, and its
plots beside it as ``NAME-*.png`` (see :mod:`benchmarks.plots`).
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

__all__ = ["RESULTS", "Figure", "at_least", "at_most", "machine", "unbarred", "write"]

RESULTS = Path(__file__).with_name("results")
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


def unbarred(name: str, value: float, unit: str, command: str) -> Figure:
    """A figure of which nothing is asked.

    >>> unbarred("rows needed", 0.79, "%", "make bench-tpch").holds is None
    True
    """
    return Figure(name, value, unit, None, None, command)


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
) -> list[Figure]:
    """Write ``NAME.json`` and return its figures."""
    content = {
        "figures": [asdict(figure) for figure in figures],
        "machine": machine(),
        "details": dict(details),
    }
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return list(figures)

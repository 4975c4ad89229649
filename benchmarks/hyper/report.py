"""The figures of hyper-partitioning, against what was asked for."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.figures import Figure, at_least, at_most, unbarred
from benchmarks.hyper.simulations import BALANCES
from benchmarks.pieces import Piece

__all__ = ["figures"]

_BARS = {"least-allocated": (60.0, 75.0), "worst": (58.0, 62.0)}
_REPLICAS = (30.0, 50.0)
_TIMES_AS_ROBUST, _TIMES_A_WRITE = 4.0, 2.6


def figures(pieces: Mapping[str, Piece], command: str) -> list[Figure]:
    """All figures that the measured pieces have."""
    found: list[Figure] = []
    if "robustness" in pieces:
        found += _robustness(pieces["robustness"], command)
    for name, piece in pieces.get("simulate", {}).items():
        found += _scanned(f"simulated, {name}", piece, _BARS.get(name), command)
    for name in _BARS:
        if "replicas" in pieces:
            bars = _REPLICAS if name == "worst" else None
            found += _scanned(f"simulated, three replicas, {name}", pieces["replicas"][name], bars, command)
    for name in ("plain", *BALANCES):
        if f"scan-{name}" in pieces:
            found += _scanned(f"files, {name}", pieces[f"scan-{name}"], _BARS.get(name), command)
    if "plain" in pieces:
        found += _cost(pieces, command)
    return found


def _robustness(piece: Piece, command: str) -> list[Figure]:
    by_size = {size: piece[f"least-allocated {size}"] for size in _sizes(piece)}
    found = []
    for size, fair in by_size.items():
        ratio = fair["robustness"] / piece[f"k-d tree {size}"]["robustness"]
        name = f"robustness at {fair['blocks']:,} blocks, of that of a k-d tree"
        whole = size == sorted(by_size)[-3]
        make = at_least(name, ratio, "times", _TIMES_AS_ROBUST, command) if whole else None
        found.append(make or unbarred(name, round(ratio, 3), "times", command))
    return found


def _sizes(piece: Piece) -> list[int]:
    return sorted({int(name.split()[-1]) for name in piece})


def _scanned(name: str, piece: Piece, bars: tuple[float, float] | None, command: str) -> list[Figure]:
    titles = (f"{name}: rows scanned, mean", f"{name}: rows scanned, worst attribute")
    values = (piece["mean"], piece["worst"])
    if bars is None:
        return [
            unbarred(title, round(value, 3), "%", command)
            for title, value in zip(titles, values, strict=True)
        ]
    # A share of exactly half of the rows is half of them but for rounding.
    return [
        at_most(title, round(value, 2), "%", bar, command)
        for title, value, bar in zip(titles, values, bars, strict=True)
    ]


def _cost(pieces: Mapping[str, Piece], command: str) -> list[Figure]:
    plain = pieces["plain"]["parquet_seconds"]
    found = []
    for name in BALANCES:
        if f"table-{name}" in pieces:
            made = pieces[f"table-{name}"]
            seconds = made["fit_seconds"] + made["rewrite_seconds"]
            title = f"laying out, {name}, of a plain Parquet write"
            barred = name == "least-allocated"
            figure = at_most(title, seconds / plain, "times", _TIMES_A_WRITE, command)
            found.append(figure if barred else unbarred(title, figure.value, "times", command))
    return found

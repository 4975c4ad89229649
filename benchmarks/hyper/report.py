"""The figures of hyper-partitioning, against what was asked for."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.figures import Figure, at_least, at_most, unbarred
from benchmarks.hyper.costs import COPIES, DEALT
from benchmarks.hyper.files import GENERATED, REPLICAS
from benchmarks.hyper.lineitem import MANY_PLACES
from benchmarks.hyper.simulations import BALANCES, CURVES
from benchmarks.pieces import Piece

__all__ = ["figures"]

_REPLICAS = (30.0, 50.0)
_BARS = {
    "least-allocated": (60.0, 75.0),
    "worst": (58.0, 62.0),
    "three replicas": None,
    "three replicas, worst": _REPLICAS,
}
_SIMULATED = ("least-allocated", "worst")
_TIMES_AS_ROBUST, _TIMES_A_WRITE = 4.0, {"one copy": 2.6, "three copies": 3.5}


def figures(pieces: Mapping[str, Piece], command: str) -> list[Figure]:
    """All figures that the measured pieces have."""
    found: list[Figure] = []
    if "robustness" in pieces:
        found += _robustness(pieces["robustness"], command)
    for name, piece in pieces.get("simulate", {}).items():
        found += _scanned(f"simulated, {name}", piece, _BARS.get(name), command)
    for name in _SIMULATED:
        if "replicas" in pieces:
            bars = _REPLICAS if name == "worst" else None
            found += _scanned(f"simulated, three replicas, {name}", pieces["replicas"][name], bars, command)
    for name in (GENERATED, *BALANCES, *REPLICAS, *CURVES):
        found += _on_files(name, pieces, command)
    for name in COPIES:
        if f"costs-{name}" in pieces:
            found += _costs(name, pieces[f"costs-{name}"], command)
    if "sweep" in pieces:
        found += _sweep(pieces["sweep"], command)
    return found


def _on_files(name: str, pieces: Mapping[str, Piece], command: str) -> list[Figure]:
    found: list[Figure] = []
    if (piece := pieces.get(f"scan-{name}")) is not None:
        found += _scanned(f"files, {name}", piece, _BARS.get(name), command)
        found.append(_seconds(name, piece, command))
    if (piece := pieces.get(f"places-{name}")) is not None:
        found += _scanned(f"files, {name}, {MANY_PLACES} places of ranges", piece, None, command)
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


def _seconds(name: str, piece: Piece, command: str) -> Figure:
    return unbarred(
        f"files, {name}: one range of each attribute", round(piece["seconds_on"], 2), "s", command
    )


def _sweep(piece: Piece, command: str) -> list[Figure]:
    """By processor time: of a plain write and of one of as many files, then what a file more costs."""
    found = []

    def seconds(name: str) -> float:
        return float(piece[name]["cpu_seconds"])

    for number in piece["files"]:
        title = f"laying out, one copy in {number:,} files, CPU"
        mine, others = f"laid out {number}", ("plain", f"dealt {number}")
        plain, dealt = (seconds(mine) / seconds(other) for other in others)
        found.append(unbarred(f"{title}, of a plain Parquet write", round(plain, 3), "times", command))
        found.append(unbarred(f"{title}, of a write of as many files", round(dealt, 3), "times", command))
    first, last = piece["files"][0], piece["files"][-1]
    for name in ("dealt", "laid out") if first < last else ():
        each = (seconds(f"{name} {last}") - seconds(f"{name} {first}")) / (last - first)
        found.append(unbarred(f"{name}: a file more, CPU", round(1_000 * each, 2), "ms", command))
    return found


def _costs(name: str, piece: Piece, command: str) -> list[Figure]:
    """Of the seconds of plain writes; beside them seconds of a processor, which other work slows less."""
    copies, title = COPIES[name], f"laying out, {name}"
    plain, dealt = (
        {what: piece[name][what] / piece[other][what] for what in ("seconds", "cpu_seconds")}
        for other in ("plain", DEALT)
    )
    found = [
        at_most(
            f"{title}, of a plain Parquet write", plain["seconds"], "times", _TIMES_A_WRITE[name], command
        ),
        unbarred(f"{title}, of a plain Parquet write, CPU", round(plain["cpu_seconds"], 3), "times", command),
        unbarred(
            f"{title}, of a write of as many files, CPU", round(dealt["cpu_seconds"], 3), "times", command
        ),
    ]
    if copies > 1:
        title = f"{title}, of {copies} plain Parquet writes"
        found.append(unbarred(title, round(plain["seconds"] / copies, 3), "times", command))
        found.append(unbarred(f"{title}, CPU", round(plain["cpu_seconds"] / copies, 3), "times", command))
    return found

"""Plots of the papers' figures from the measured pieces: SIGMOD'14 6 to 9 and 11, SOP on Spark 7 and 8."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from benchmarks.pieces import Piece
from benchmarks.plots import axes, save_plot
from benchmarks.tpch.report import total_seconds
from benchmarks.tpch.tables import AS_LIES, DELTA, LAYOUTS, RANGES

__all__ = ["draw_all"]

Pieces = Mapping[str, Piece]
_SCHEMES = (AS_LIES, *RANGES, *DELTA, *LAYOUTS)
_GREEN, _BLUE, _GREY = "#2a9d8f", "#33658a", "#999999"


def draw_all(pieces: Pieces, benchmark: str, directory: Path) -> list[str]:
    """Draw every plot whose pieces are there; returns their names."""
    return [name for name, plot in _PLOTS.items() if plot(pieces, f"{benchmark}-{name}", directory)]


def _bars(values: Mapping[str, float], label: str, name: str, directory: Path) -> bool:
    if not values:
        return False
    canvas, plot = axes(height=0.9 + 0.3 * len(values))
    plot.barh(range(len(values)), list(values.values()), color=_GREEN, height=0.65)
    for index, value in enumerate(values.values()):
        plot.text(value, index, f" {value:,.3g}", va="center", fontsize=8)
    plot.set_yticks(range(len(values)), list(values), fontsize=8)
    plot.set_xlabel(label, fontsize=8)
    plot.invert_yaxis()
    save_plot(canvas, name, directory)
    return True


def _lines(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    labels: tuple[str, str],
    name: str,
    directory: Path,
    logarithmic: Literal["x", "y", ""] = "",
) -> bool:
    drawn = {title: points for title, points in lines.items() if points}
    if not drawn:
        return False
    canvas, plot = axes()
    for (title, points), colour in zip(drawn.items(), (_GREEN, _BLUE, _GREY), strict=False):
        plot.plot(
            [x for x, _ in points],
            [y for _, y in points],
            marker="o",
            markersize=3,
            color=colour,
            label=title,
        )
    plot.set_xlabel(labels[0], fontsize=8)
    plot.set_ylabel(labels[1], fontsize=8)
    if logarithmic == "x":
        plot.set_xscale("log")
    if logarithmic == "y":
        plot.set_yscale("log", base=2)
    else:
        plot.set_ylim(bottom=0)
    plot.legend(fontsize=8, frameon=False)
    save_plot(canvas, name, directory)
    return True


def _scheme_scanned(pieces: Pieces, name: str, directory: Path) -> bool:
    values = {
        f"{scheme}, {pieces[f'scan-{scheme}']['files']:,} files": pieces[f"scan-{scheme}"]["percent_scanned"]
        for scheme in _SCHEMES
        if f"scan-{scheme}" in pieces
    }
    for scheme in _SCHEMES:
        if f"scan-{scheme}" in pieces:
            values["needed"] = pieces[f"scan-{scheme}"]["percent_needed"]
    return _bars(values, "% of rows scanned over the 80 test queries", name, directory)


def _scheme_seconds(pieces: Pieces, name: str, directory: Path) -> bool:
    return _bars(total_seconds(pieces), "seconds of the 80 test queries", name, directory)


def _sweep(piece: Piece, y: Callable[[Piece], float]) -> list[tuple[float, float]]:
    return [(float(key), y(value)) for key, value in piece.items()]


def _ratio(piece: Piece) -> float:
    return float(piece["percent_scanned"]) / float(piece["percent_needed"])


def _min_size(pieces: Pieces, name: str, directory: Path) -> bool:
    lines = {title: _sweep(pieces.get(key, {}), _ratio) for title, key in _workloads("blocks").items()}
    return _lines(lines, ("number of blocks", "rows scanned / rows needed"), name, directory, logarithmic="x")


def _num_features(pieces: Pieces, name: str, directory: Path) -> bool:
    lines = {title: _sweep(pieces.get(key, {}), _ratio) for title, key in _workloads("features").items()}
    return _lines(lines, ("number of features", "rows scanned / rows needed"), name, directory)


def _distinct_vectors(pieces: Pieces, name: str, directory: Path) -> bool:
    lines = {
        title: _sweep(pieces.get(key, {}), lambda piece: max(1, piece["vectors"]))
        for title, key in _workloads("features").items()
    }
    return _lines(lines, ("number of features", "distinct vectors"), name, directory, logarithmic="y")


def _workloads(sweep: str) -> dict[str, str]:
    return {"TPC-H": f"sweep-{sweep}", "TPC-H skewed": f"sweep-{sweep}-skewed"}


def _generated(pieces: Pieces, name: str, directory: Path) -> bool:
    lines = {"generated workload": _sweep(pieces.get("sweep-features-generated", {}), _ratio)}
    return _lines(lines, ("number of features", "rows scanned / rows needed"), name, directory)


def _generated_vectors(pieces: Pieces, name: str, directory: Path) -> bool:
    points = _sweep(pieces.get("sweep-features-generated", {}), lambda piece: max(1, piece["vectors"]))
    labels = ("number of features", "distinct vectors")
    return _lines({"generated workload": points}, labels, name, directory, logarithmic="y")


def _breakdown(pieces: Pieces, name: str, directory: Path) -> bool:
    return _bars(pieces.get("breakdown", {}), "seconds of the SOP rewrite", name, directory)


def _three_ways(pieces: Pieces) -> dict[str, tuple[Piece, str, str]]:
    """Plain, blocked with plain queries, and blocked with skipping."""
    plain, blocked = pieces.get("scan-as_lies"), pieces.get("scan-sop")
    if plain is None or blocked is None:
        return {}
    return {
        "plain": (plain, "seconds_off", "percent_scanned_delta_alone"),
        "blocked, plain queries": (blocked, "seconds_off", "percent_scanned_delta_alone"),
        "blocked, skipping": (blocked, "seconds_on", "percent_scanned"),
    }


def _three_seconds(pieces: Pieces, name: str, directory: Path) -> bool:
    values = {
        way: piece[seconds] / len(piece["queries"])
        for way, (piece, seconds, _) in _three_ways(pieces).items()
    }
    return _bars(values, "mean seconds per query", name, directory)


def _three_rows(pieces: Pieces, name: str, directory: Path) -> bool:
    values = {
        way: piece[percent] / 100 * piece["rows_total"] / len(piece["queries"])
        for way, (piece, _, percent) in _three_ways(pieces).items()
    }
    return _bars(values, "mean rows scanned per query", name, directory)


_PLOTS: dict[str, Callable[[Pieces, str, Path], bool]] = {
    "sigmod14-6a-scanned": _scheme_scanned,
    "sigmod14-6b-seconds": _scheme_seconds,
    "sigmod14-7-min-size": _min_size,
    "sigmod14-8a-features": _num_features,
    "sigmod14-8b-vectors": _distinct_vectors,
    "sigmod14-9-breakdown": _breakdown,
    "sigmod14-11a-features": _generated,
    "sigmod14-11b-vectors": _generated_vectors,
    "spark-7-seconds": _three_seconds,
    "spark-8-rows": _three_rows,
}

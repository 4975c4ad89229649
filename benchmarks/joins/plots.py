"""Plots of what queries scan through joins, and of what joins of large tables take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.pieces import Piece
from benchmarks.plots import axes, save_plot

__all__ = ["draw_all"]

_COLOURS = ("#999999", "#2a9d8f", "#33658a", "#e9c46a")


def draw_all(measured: Mapping[str, Piece], benchmark: str, directory: Path) -> list[str]:
    """Draw every plot whose pieces are there; returns their names."""
    drawn: dict[str, bool] = {}
    alone, joined = (measured.get(f"scanned-{name}") for name in ("alone", "joined"))
    if alone and joined:
        shares = {
            "lineitem by its own columns": _of(alone, "scanned"),
            "lineitem by its joins": _of(joined, "scanned"),
            "survive the joins": _of(joined, "needed"),
        }
        drawn["features"] = _bars(shares, "% of the rows of lineitem", f"{benchmark}-scanned", directory)
    if star := measured.get("scanned-ssb"):
        shares = {"lineorder by its joins": _of(star, "scanned"), "survive the joins": _of(star, "needed")}
        drawn["ssb"] = _bars(shares, "% of the rows of lineorder", f"{benchmark}-ssb", directory)
    if grouped := measured.get("grouped"):
        ways = [way for way in next(iter(grouped.values())) if way != "explain"]
        seconds = {
            way: {f"lineitem with {name}": found[way]["cpu_seconds"] for name, found in grouped.items()}
            for way in ways
        }
        drawn["grouped"] = _bars(seconds, "seconds of processor time", f"{benchmark}-grouped", directory)
    for piece in measured:
        if piece.startswith("timed-"):
            layout = piece.removeprefix("timed-")
            drawn[layout] = _queries(benchmark, layout, measured[piece], directory)
    return [name for name, plot in drawn.items() if plot]


def _of(piece: Piece, what: str) -> dict[str, float]:
    return {"mean": piece[what]} | {name: each[what] for name, each in piece["templates"].items()}


def _bars(series: Mapping[str, Mapping[str, float]], label: str, name: str, directory: Path) -> bool:
    titles: Sequence[str] = list(next(iter(series.values())))
    thick = 0.8 / len(series)
    canvas, plot = axes(height=1.2 + 0.16 * len(titles) * len(series))
    for index, ((title, values), colour) in enumerate(zip(series.items(), _COLOURS, strict=False)):
        places = [place + (index - (len(series) - 1) / 2) * thick for place in range(len(titles))]
        plot.barh(places, [values[each] for each in titles], height=thick, color=colour, label=title)
        for place, each in zip(places, titles, strict=True):
            plot.text(values[each], place, f" {values[each]:.3g}", va="center", fontsize=6)
    plot.set_yticks(range(len(titles)), titles, fontsize=8)
    plot.set_xlabel(label, fontsize=8)
    plot.legend(fontsize=7, frameon=False)
    plot.invert_yaxis()
    save_plot(canvas, name, directory)
    return True


def _queries(name: str, layout: str, queries: Mapping[str, Piece], directory: Path) -> bool:
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
    return True

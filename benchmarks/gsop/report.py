"""The figures of GSOP's benchmark against their bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.figures import Figure, at_least, at_most, unbarred
from benchmarks.gsop.report_reads import read_figures
from benchmarks.gsop.tpch import CONTESTANTS, PLAIN
from benchmarks.pieces import Piece

__all__ = ["figures"]

_SECONDS = {"grouping-70": 60.0, "grouping-450": 600.0}
_WORST = 1.1
_FROM_FULL = 1.05


def figures(pieces: Mapping[str, Piece], command: str) -> list[Figure]:
    """What the measured pieces show."""
    return [
        *_grouping(pieces, command),
        *_estimates(pieces.get("estimates", {}), command),
        *_sensitivity(pieces, command),
        *_cells(pieces, command),
        *read_figures(pieces, command),
    ]


def _grouping(pieces: Mapping[str, Piece], command: str) -> Iterator[Figure]:
    for name, bar in _SECONDS.items():
        for what, found in pieces.get(name, {}).items():
            yield at_most(f"grouping {what}, processor time", found["seconds"], "s", bar, command)
            ends = min(found["one"], found["single"])
            yield at_most(
                f"grouping {what}, cost by the better end", found["cost"] / ends, "times", 1.0, command
            )


def _estimates(piece: Piece, command: str) -> Iterator[Figure]:
    for cost, found in piece.items():
        worst = found["worst"]
        name = f"objective by full computation, {cost}"
        yield at_most(f"{name}, blocks", worst["blocks"], "times", _FROM_FULL, command)
        yield unbarred(f"{name}, selectivity", round(worst["selectivity"], 3), "times", command)
        faster = found["seconds"]["full"] / max(found["seconds"]["blocks"], 1e-9)
        yield unbarred(f"estimates by blocks, {cost}, faster than full", round(faster, 1), "times", command)


def _sensitivity(pieces: Mapping[str, Piece], command: str) -> Iterator[Figure]:
    found = [
        (cost, costs["gsop"] / min(costs["sop"], costs["gsop-single"]))
        for name, piece in pieces.items()
        if name.startswith("sensitivity-")
        for costs_of in piece.values()
        for cost, costs in costs_of.items()
    ]
    for cost in dict.fromkeys(cost for cost, _ in found):
        ratios = [ratio for each, ratio in found if each == cost]
        name = f"sensitivity, {cost}, gsop by the better of sop and gsop-single"
        yield at_most(f"{name}, at worst", max(ratios), "times", _WORST, command)
        yield unbarred(f"{name}, at best", round(min(ratios), 3), "times", command)


def _cells(pieces: Mapping[str, Piece], command: str) -> Iterator[Figure]:
    found = {name: pieces[f"cells-{name}"] for name in (PLAIN, *CONTESTANTS) if f"cells-{name}" in pieces}
    for name, piece in found.items():
        for what in ("cells", "tuple_ids", "with_measured_joins"):
            label = f"{name}, {what.replace('_', ' ')} of a query, by the table's rows"
            yield unbarred(label, round(piece[what], 4), "", command)
        if "needed" in piece:
            label = "cells of the rows that a query wants, by the table's rows"
            yield unbarred(label, round(piece["needed"], 4), "", command)
    if {PLAIN, "SOP", "GSOP"} <= found.keys():
        read = {name: piece["cells"] + piece["tuple_ids"] for name, piece in found.items()}
        gsop = max(read["GSOP"], 1e-12)
        yield at_least("fewer cells and ids than plain Parquet", read[PLAIN] / gsop, "times", 20.0, command)
        yield at_least("fewer cells and ids than SOP", read["SOP"] / gsop, "times", 3.0, command)

"""The figures of GSOP's replicas on real files: making them, reading them, and a table of 450 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.figures import Figure, at_least, at_most, unbarred
from benchmarks.gsop.reads import ALWAYS, GROUPED, LAYOUTS, PLAIN_TABLE, SAME_BLOCKS, WAYS
from benchmarks.pieces import Piece

__all__ = ["read_figures"]

_LOADS, _BITS, _TIMES_PLAIN, _NOISE, _PLANNING = 2.6, 10.0, 5.0, 1.05, 50.0
_SPENT = {"seconds": "time", "cpu": "processor time"}


def read_figures(pieces: Mapping[str, Piece], command: str) -> Iterator[Figure]:
    """What the measured pieces show."""
    yield from _built(pieces, command)
    if queries := pieces.get("reads-timed"):
        rows = pieces[f"reads-built-{GROUPED}"]["rows"] * len(queries)
        yield from _means(queries, rows, command)
        yield from _against_others(queries, pieces, command)
        yield from _one_group(queries, pieces, command)
    yield from _memory(pieces, command)
    yield from _columns(pieces, command)


def _sum(queries: Piece, way: str, what: str) -> float:
    return float(sum(query["ways"][way][what] for query in queries.values()))


def _means(queries: Piece, rows: float, command: str) -> Iterator[Figure]:
    """What a query takes, and reads of the real files."""
    for way in WAYS:
        for what, called in _SPENT.items():
            mean = _sum(queries, way, what) / len(queries)
            yield unbarred(f"{way}, {called} of a query", round(mean, 3), "s", command)
        for what in ("cells", "tuple_ids"):
            label = f"{way}, {what.replace('_', ' ')} read of files by a query, by the table's rows"
            yield unbarred(label, round(_sum(queries, way, what) / rows, 4), "", command)


def _against_others(queries: Piece, pieces: Mapping[str, Piece], command: str) -> Iterator[Figure]:
    """Figures 7b and 8b: sums over the test queries."""
    chosen = _chosen_way(pieces)
    for what, called in _SPENT.items():
        plain, grouped = (_sum(queries, way, what) for way in (PLAIN_TABLE, GROUPED))
        yield unbarred(f"GSOP, {called} of plain Parquet", round(plain / grouped, 2), "times", command)
        if chosen is not None:
            mine = _sum(queries, chosen, what)
            best = min(_sum(queries, way, what) for way in LAYOUTS if way != GROUPED)
            label = f"what replicate chooses ({chosen}), {called}"
            yield at_least(f"{label} of plain Parquet", plain / mine, "times", _TIMES_PLAIN, command)
            yield at_most(f"{label} by the best single group", mine / best, "times", _NOISE, command)
    different = sum(query["answers"] > 1 for query in queries.values())
    yield at_most("queries with different answers", different, "", 0, command)


def _built(pieces: Mapping[str, Piece], command: str) -> Iterator[Figure]:
    """Figure 10, by processor time."""
    load = pieces.get("reads-load")
    for name in LAYOUTS:
        piece = pieces.get(f"reads-built-{name}")
        if load is None or piece is None:
            continue
        copy, whole = piece["copy"]["cpu"], piece["copy"]["cpu"] + piece["fit"]["cpu"]
        plain = load["plain"]["cpu"]
        yield unbarred(f"{name}, fitting by a plain load", round((whole - copy) / plain, 2), "times", command)
        if name == GROUPED:
            yield at_most(f"{name}, copying by a plain load", copy / plain, "times", _LOADS, command)
            bits = piece["tuple_id_bits"]
            yield at_most(f"{name}, bits of a tuple id", bits, "bits a row", _BITS, command)
        else:
            yield unbarred(f"{name}, copying by a plain load", round(copy / plain, 2), "times", command)
        yield unbarred(
            f"{name}, bytes by those of the table", round(piece["bytes"] / load["bytes"], 2), "", command
        )


def _one_group(queries: Piece, pieces: Mapping[str, Piece], command: str) -> Iterator[Figure]:
    """Queries of one group against those on a table of whole rows that has the same blocks."""
    same = set(pieces["reads-built-same"]["columns"])
    alone = [
        query["ways"]
        for query in queries.values()
        if query["ways"][ALWAYS]["groups_read"] == 1 and set(query["ways"][ALWAYS]["columns"]) <= same
    ]
    if alone:
        spent = {way: sum(ways[way]["cpu"] for ways in alone) for way in (ALWAYS, SAME_BLOCKS)}
        label = f"{len(alone)} queries of one group, processor time by whole rows in the same blocks"
        yield at_most(label, spent[ALWAYS] / spent[SAME_BLOCKS], "times", _NOISE, command)


def _memory(pieces: Mapping[str, Piece], command: str) -> Iterator[Figure]:
    """The most memory that a task takes which puts tuples together."""
    ways = [query["ways"][ALWAYS] for query in pieces.get("reads-timed", {}).values()]
    if joined := [way["task_bytes"] for way in ways if way["groups_read"] > 1]:
        label = "memory of a task that puts tuples together, at most"
        yield unbarred(label, round(max(joined) / 1e6, 1), "MB", command)
    if memory := pieces.get("reads-memory"):
        for way in ("hash", "sort-merge"):
            label = f"memory of a task that puts all rows of a partition together, {way}"
            yield unbarred(label, round(memory[way]["bytes"] / 1e6, 1), "MB", command)


def _chosen_way(pieces: Mapping[str, Piece]) -> str | None:
    """The contestant that is what ``auto`` chooses."""
    choice = pieces.get("reads-choice", {}).get("layout")
    return next((name for name, (layout, _) in LAYOUTS.items() if layout == choice), None)


def _columns(pieces: Mapping[str, Piece], command: str) -> Iterator[Figure]:
    """A table of 450 columns."""
    found = pieces.get("columns-planned")
    if found is None:
        return
    planning = found["planning_milliseconds"]
    more = planning["groups"] - planning["base"]
    yield unbarred("450 columns, planning without groups", round(planning["base"], 1), "ms", command)
    yield at_most("450 columns, planning with groups", more, "ms more", _PLANNING, command)
    yield at_most("450 columns, queries with different answers", found["different"], "", 0, command)

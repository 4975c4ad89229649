"""From measured pieces to figures, each with the bar that it should reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.figures import Figure, at_least, at_most, unbarred
from benchmarks.pieces import Piece
from benchmarks.tpch.tables import DELTA, LAYOUTS

__all__ = ["best_layout", "figures", "total_seconds"]

_SCANNED_BARS = {"sop": 8.5, "qdtree": 5.0}
_BEST_SCANNED = 4.0
_SIMULATED = 10_000
_SIMULATED_BARS = {"sop": 6.0}
_BEST_SIMULATED = 2.5
_FASTER_THAN_UNOPTIMISED = 3.0
_FASTER_THAN_DELTA = 1.5
_CLUSTERING_BARS = {"3000 x 40": 3.0, "8192 x 40": 30.0}
_QDTREE_FIT_SECONDS = 30.0
_ANALYSIS_PERCENT = 4.0
_REWRITE_RATIO = 1.5
_MEMORY_RATIO = 1.5

Pieces = Mapping[str, Piece]


def figures(pieces: Pieces, command: str, memory: Mapping[str, float] | None = None) -> list[Figure]:
    """Every figure whose pieces are there; ``memory`` is the driver's peak in MB by scale factor."""
    return [
        *_scanned(pieces, command),
        *_same_results(pieces, command),
        *_simulated(pieces, command),
        *_seconds(pieces, command),
        *_costs(pieces, command),
        *_memory(memory or {}, command),
    ]


def best_layout(pieces: Pieces) -> str | None:
    """Skipstone's layout that scans the least of the real files."""
    measured = {
        name: pieces[f"scan-{name}"]["percent_scanned"] for name in LAYOUTS if f"scan-{name}" in pieces
    }
    return min(measured, key=lambda name: measured[name]) if measured else None


def _scanned(pieces: Pieces, command: str) -> Iterator[Figure]:
    for key, piece in pieces.items():
        kind, _, name = key.partition("-")
        if kind != "scan":
            continue
        title = f"rows scanned, {name}, {piece['files']:,} files"
        if name in _SCANNED_BARS:
            yield at_most(title, piece["percent_scanned"], "%", _SCANNED_BARS[name], command)
        else:
            yield unbarred(title, round(piece["percent_scanned"], 3), "%", command)
        if name in (*DELTA, "as_lies"):
            alone = round(piece["percent_scanned_delta_alone"], 3)
            yield unbarred(f"{title}, Delta's own skipping alone", alone, "%", command)
    if (best := best_layout(pieces)) is not None:
        piece = pieces[f"scan-{best}"]
        yield at_most(
            f"rows scanned, best layout ({best})", piece["percent_scanned"], "%", _BEST_SCANNED, command
        )
        yield unbarred("rows needed", round(piece["percent_needed"], 3), "%", command)


def _same_results(pieces: Pieces, command: str) -> Iterator[Figure]:
    scans = {key: piece for key, piece in pieces.items() if key.startswith("scan-")}
    if scans:
        wrong = sum(
            query["same_result"] is not True for piece in scans.values() for query in piece["queries"]
        ) + sum(len(piece["broken_statements"]) for piece in scans.values())
        yield at_most(
            f"results that differ from a full scan, {len(scans)} tables", wrong, "queries", 0, command
        )
    if "seconds" in pieces:
        different = len(pieces["seconds"]["different_results"])
        yield at_most("results that differ between tables", different, "queries", 0, command)


def _simulated(pieces: Pieces, command: str) -> Iterator[Figure]:
    for workload in ("", "-skewed"):
        found = {
            **{
                key: piece
                for part in ("sop", "others")
                for key, piece in pieces.get(f"simulate-{part}{workload}", {}).items()
            },
            **pieces.get(f"simulate-ranges{workload}", {}),
        }
        usable = {key: piece for key, piece in found.items() if "percent_scanned" in piece}
        label = ", skewed workload" if workload else ""
        for key, piece in usable.items():
            layout, _, blocks = key.partition(" ")
            title = f"simulated rows scanned, {layout}, {piece['blocks']:,} blocks{label}"
            bar = _SIMULATED_BARS.get(layout) if blocks == str(_SIMULATED) and not workload else None
            if bar is not None:
                yield at_most(title, piece["percent_scanned"], "%", bar, command)
            else:
                yield unbarred(title, round(piece["percent_scanned"], 3), "%", command)
        finest = {key: p["percent_scanned"] for key, p in usable.items() if key.endswith(f" {_SIMULATED}")}
        if finest and not workload:
            best = min(finest, key=lambda key: finest[key])
            title = f"simulated rows scanned, best at about 10,000 blocks ({best.split()[0]})"
            yield at_most(title, finest[best], "%", _BEST_SIMULATED, command)


def total_seconds(pieces: Pieces) -> dict[str, float]:
    """The seconds of all test queries by contender."""
    return {name: sum(spent) for name, spent in pieces.get("seconds", {}).get("seconds", {}).items()}


def _seconds(pieces: Pieces, command: str) -> Iterator[Figure]:
    total = total_seconds(pieces)
    for name, spent in total.items():
        yield unbarred(f"seconds of all test queries, {name}", round(spent, 2), "s", command)
    ours = {name: spent for name, spent in total.items() if name in LAYOUTS}
    if not ours:
        return
    best = min(ours, key=lambda name: ours[name])
    plain = total.get("as_lies, Delta alone")
    if plain is not None:
        title = f"faster than the unoptimised table ({best})"
        yield at_least(title, plain / ours[best], "times", _FASTER_THAN_UNOPTIMISED, command)
    delta = [total[f"{name}, Delta alone"] for name in DELTA if f"{name}, Delta alone" in total]
    if delta:
        title = f"faster than the better of Delta's own layouts ({best})"
        yield at_least(title, min(delta) / ours[best], "times", _FASTER_THAN_DELTA, command)


def _costs(pieces: Pieces, command: str) -> Iterator[Figure]:
    for name, spent in pieces.get("clustering", {}).items():
        yield at_most(f"clustering, {name} vectors x features", spent, "s", _CLUSTERING_BARS[name], command)
    fitted = pieces.get("simulate-others", {}).get("qdtree 1000", {})
    if "fit_seconds" in fitted:
        yield at_most(
            "fitting the qd-tree on 600,000 rows", fitted["fit_seconds"], "s", _QDTREE_FIT_SECONDS, command
        )
    sop, delta = pieces.get("table-sop"), pieces.get("table-delta_zorder")
    if sop and delta:
        ratio = sop["optimize_seconds"] / delta["rewrite_seconds"]
        yield at_most(
            "SOP rewrite against Delta's OPTIMIZE ZORDER BY", ratio, "times", _REWRITE_RATIO, command
        )
    auto = pieces.get("auto", {})
    if auto.get("acted"):
        title = f"analysis and estimation, of the rewrite that they led to ({auto['layout']})"
        yield at_most(title, 100.0 * auto["analysis_share"], "%", _ANALYSIS_PERCENT, command)


def _memory(memory: Mapping[str, float], command: str) -> Iterator[Figure]:
    for scale, peak in memory.items():
        yield unbarred(f"peak memory of the driver's Python, SF {scale}", round(peak), "MB", command)
    if len(memory) > 1:
        ratio = max(memory.values()) / min(memory.values())
        yield at_most(
            "growth of the driver's memory over scale factors", ratio, "times", _MEMORY_RATIO, command
        )

"""What the replay measured: totals per contestant, figures, and plots as the thesis draws them.

The plots are those of Self-organising layouts for Delta (thesis), figures 6.1 and 6.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from skipstone.bench.figures import Figure, at_least, at_most, axes, save_plot
from skipstone.bench.replay_contest import Automatic, Contestant
from skipstone.bench.replay_measure import Measured, Tally

__all__ = ["draw", "figures", "totals"]

_COLOURS = ("#999999", "#33658a", "#86bbd8", "#2a9d8f")
_PANELS = (
    ("scan_seconds", "scans, s", 1.0),
    ("column_bytes", "columns read, GB", 1e-9),
    ("insert_seconds", "inserts and\noptimising, s", 1.0),
    ("total_seconds", "total, s", 1.0),
)
_NUMBERS = (
    "data",
    "layout",
    "bytes",
    "rows",
    "queries",
    "drift",
    "analysis_seconds",
    "rewrite_seconds",
    "rewrite_seconds_estimated",
    "write_seconds",
    "index_seconds",
    "seconds_saved",
    "percent_scanned",
    "costs",
)


def totals(contestants: Sequence[Contestant], tally: Tally) -> dict[str, dict[str, Any]]:
    """Per contestant: seconds and bytes of all scans, seconds of inserts, and the sum."""
    return {contestant.name: _total(contestant, tally) for contestant in contestants}


def _total(contestant: Contestant, tally: Tally) -> dict[str, Any]:
    scans = tally.scans[contestant.name]
    scan_seconds = sum(scan.seconds for scan in scans)
    insert_seconds = contestant.write_seconds + contestant.optimise_seconds
    table_bytes, table_files = contestant.size()
    found: dict[str, Any] = {
        "scan_seconds": scan_seconds,
        "files_read": sum(scan.files for scan in scans),
        "file_bytes": sum(scan.file_bytes for scan in scans),
        "column_bytes": sum(scan.column_bytes for scan in scans),
        "write_seconds": contestant.write_seconds,
        "optimise_seconds": contestant.optimise_seconds,
        "insert_seconds": insert_seconds,
        "total_seconds": scan_seconds + insert_seconds,
        "optimised_after_batches": contestant.optimised_after,
        "table_bytes": table_bytes,
        "table_files": table_files,
        "by_template": _by_template(scans, tally.templates),
    }
    if isinstance(contestant, Automatic):
        found["insert_seconds_by_part"] = contestant.seconds()
        found["analysis_of_rewrites"] = contestant.analysis_of_rewrites()
        found["decisions"] = [
            {
                "acted": decision.acted,
                "code": decision.code,
                "sentence": decision.sentence,
                **{name: decision.numbers[name] for name in _NUMBERS if name in decision.numbers},
            }
            for decision in contestant.decisions()
        ]
    return found


def _by_template(scans: Sequence[Measured], templates: Sequence[str]) -> dict[str, dict[str, float]]:
    found = {}
    for template in sorted({*templates}):
        mine = [scan for scan, name in zip(scans, templates, strict=True) if name == template]
        found[template] = {
            "scans": len(mine),
            "mean_seconds": round(mean(scan.seconds for scan in mine), 4),
            "mean_file_bytes": round(mean(scan.file_bytes for scan in mine)),
            "mean_column_bytes": round(mean(scan.column_bytes for scan in mine)),
        }
    return found


def figures(
    found: dict[str, dict[str, Any]], tally: Tally, command: str, barred: bool = True
) -> list[Figure]:
    """The ratios that are asked for; without bars for a run that is too small to tell."""
    none, zorder, liquid, auto = (
        found[name] for name in ("no optimisation", "one Z-order", "liquid clustering", "automatic")
    )
    parts = auto["insert_seconds_by_part"]
    share = 100.0 * auto["analysis_of_rewrites"] / parts["rewriting"] if parts["rewriting"] else 0.0

    def times(name: str, other: dict[str, Any], what: str, bar: float) -> Figure:
        return at_least(name, other[what] / max(auto[what], 1e-9), "times", bar, command)

    judged = [
        times("total time, no optimisation / automatic", none, "total_seconds", 3.0),
        times("total time, one Z-order / automatic", zorder, "total_seconds", 1.5),
        times("volume read, no optimisation / automatic", none, "column_bytes", 3.0),
        at_most("scans with different results", float(len(tally.different)), "", 0.0, command),
    ]
    told = [
        ("total time, liquid clustering / automatic", liquid, "total_seconds"),
        ("scan time, no optimisation / automatic", none, "scan_seconds"),
        ("scan time, one Z-order / automatic", zorder, "scan_seconds"),
        ("bytes of files, no optimisation / automatic", none, "file_bytes"),
    ]
    more = [times(name, other, what, 0.0) for name, other, what in told]
    free = more if barred else [*judged[:3], *more]
    free.append(Figure("analysis and estimation, of the rewrites", share, "%", None, None, command))
    without = [Figure(each.name, each.value, each.unit, None, None, each.command) for each in free]
    return [*judged, *without] if barred else [judged[3], *without]


def draw(found: dict[str, dict[str, Any]], name: str, directory: Path) -> None:
    """Draw both plots."""
    canvas, _ = axes(9.6, 3.4)
    canvas.clear()
    for (key, label, unit), plot in zip(_PANELS, canvas.subplots(1, len(_PANELS)), strict=True):
        values = [unit * total[key] for total in found.values()]
        plot.bar(range(len(values)), values, color=_COLOURS[: len(values)])
        for place, value in enumerate(values):
            plot.text(place, value, f"{value:,.3g}", ha="center", va="bottom", fontsize=7)
        plot.set_xticks(range(len(values)), list(found), fontsize=7, rotation=40, ha="right")
        plot.set_title(label, fontsize=9)
        plot.tick_params(axis="y", labelsize=7)
        plot.spines[["top", "right"]].set_visible(False)
    save_plot(canvas, f"{name}-6.1-contestants", directory)
    parts = found["automatic"]["insert_seconds_by_part"]
    whole = max(sum(parts.values()), 1e-9)
    canvas, plot = axes(height=2.5)
    plot.barh(range(len(parts)), [100 * value / whole for value in parts.values()], color=_COLOURS[3])
    for place, value in enumerate(parts.values()):
        plot.text(
            100 * value / whole,
            place,
            f" {100 * value / whole:.1f} %, {value:,.1f} s",
            va="center",
            fontsize=8,
        )
    plot.set_yticks(range(len(parts)), list(parts), fontsize=8)
    plot.set_xlim(0, 115)
    plot.set_xlabel("% of the time of automatic inserts", fontsize=8)
    plot.invert_yaxis()
    save_plot(canvas, f"{name}-6.2-inserts", directory)

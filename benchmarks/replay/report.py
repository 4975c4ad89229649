"""What the replay measured: totals per contestant, figures, and plots as the thesis draws them.

The plots are those of Self-organising layouts for Delta (thesis), figures 6.1 and 6.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.figures import Figure, at_least, at_most, unbarred
from benchmarks.plots import axes, new_canvas, save_plot
from benchmarks.replay.contestants import Automatic, Contestant
from benchmarks.replay.measure import Measured, Tally

__all__ = ["draw", "figures", "totals"]

_COLOURS = {
    "no optimisation": "#999999",
    "one Z-order": "#33658a",
    "liquid clustering": "#86bbd8",
    "automatic": "#2a9d8f",
}
_WHOLE = 100
"""From here on numbers are written without a fraction."""
_PANELS = (
    ("scan_seconds", "scans, s", 1.0),
    ("column_bytes", "columns read, GB", 1e-9),
    ("insert_seconds", "inserts and\noptimising, s", 1.0),
    ("total_seconds", "total, s", 1.0),
)
_RATIOS = (
    ("total time", "no optimisation", "total_seconds", 3.0),
    ("total time", "one Z-order", "total_seconds", 1.5),
    ("volume read", "no optimisation", "column_bytes", 3.0),
    ("total time", "liquid clustering", "total_seconds", None),
    ("scan time", "no optimisation", "scan_seconds", None),
    ("scan time", "one Z-order", "scan_seconds", None),
    ("bytes of files", "no optimisation", "file_bytes", None),
)
"""What is compared, with whom, and by which factor automatic must be better."""
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
    auto = found["automatic"]
    parts = auto["insert_seconds_by_part"]
    share = 100.0 * auto["analysis_of_rewrites"] / parts["rewriting"] if parts["rewriting"] else 0.0

    ratios = []
    for title, name, what, bar in _RATIOS:
        if name in found:
            ratio = found[name][what] / max(auto[what], 1e-9)
            label = f"{title}, {name} / automatic"
            if barred and bar is not None:
                ratios.append(at_least(label, ratio, "times", bar, command))
            else:
                ratios.append(unbarred(label, round(ratio, 3), "times", command))
    return [
        at_most("scans with different results", float(len(tally.different)), "", 0.0, command),
        *ratios,
        unbarred("analysis and estimation, of the rewrites", share, "%", command),
    ]


def draw(found: dict[str, dict[str, Any]], name: str, directory: Path) -> None:
    """Draw both plots."""
    _draw_contestants(found, f"{name}-6.1-contestants", directory)
    _draw_inserts(found["automatic"]["insert_seconds_by_part"], f"{name}-6.2-inserts", directory)


def _draw_contestants(found: dict[str, dict[str, Any]], name: str, directory: Path) -> None:
    canvas = new_canvas(9.6, 3.4)
    for (key, label, unit), plot in zip(_PANELS, canvas.subplots(1, len(_PANELS)), strict=True):
        values = [unit * total[key] for total in found.values()]
        plot.bar(range(len(values)), values, color=[_COLOURS[each] for each in found])
        for index, value in enumerate(values):
            text = f"{value:,.0f}" if value >= _WHOLE else f"{value:.3g}"
            plot.text(index, value, text, ha="center", va="bottom", fontsize=7)
        plot.set_xticks(range(len(values)), list(found), fontsize=7, rotation=40, ha="right")
        plot.set_title(label, fontsize=9)
        plot.tick_params(axis="y", labelsize=7)
        plot.spines[["top", "right"]].set_visible(False)
    save_plot(canvas, name, directory)


def _draw_inserts(parts: dict[str, float], name: str, directory: Path) -> None:
    whole = max(sum(parts.values()), 1e-9)
    percents = [100 * value / whole for value in parts.values()]
    canvas, plot = axes(height=2.5)
    plot.barh(range(len(parts)), percents, color=_COLOURS["automatic"])
    for index, (percent, value) in enumerate(zip(percents, parts.values(), strict=True)):
        plot.text(percent, index, f" {percent:.1f} %, {value:,.1f} s", va="center", fontsize=8)
    plot.set_yticks(range(len(parts)), list(parts), fontsize=8)
    plot.set_xlim(0, 115)
    plot.set_xlabel("% of the time of automatic inserts", fontsize=8)
    plot.invert_yaxis()
    save_plot(canvas, name, directory)

"""The curves of a log as a picture, in the manner of 002 figure 3."""

from __future__ import annotations

from pathlib import Path

from skipstone.errors import SkipstoneError
from skipstone.workload.curves import Curves

__all__ = ["draw"]


def draw(curves: Curves, path: str | Path, title: str = "") -> Path:
    """Write the picture; the ending of ``path`` (.png, .svg, .pdf) decides the format."""
    try:
        # Only drawing needs it. The plain figure class starts no window system.
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SkipstoneError(
            "Drawing needs matplotlib, which is not installed: pip install 'skipstone[plots]'."
        ) from error
    target = Path(path)
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(curves.commonality.x, curves.commonality.y)
    left.set(title="Commonality", xlabel="most frequent filters (%)", ylabel="queries that use them (%)")
    right.plot(curves.stability.x, curves.stability.y, label="this log")
    right.plot([0, 100], [0, 100], linestyle=":", color="grey", label="only new filters")
    right.set(title="Stability", xlabel="queries seen so far (%)", ylabel="queries using their filters (%)")
    right.legend(loc="lower right")
    for axes in (left, right):
        axes.set(xlim=(0, 100), ylim=(0, 102))
        axes.grid(alpha=0.3)
    if title:
        figure.suptitle(title)
    try:
        figure.savefig(target, dpi=120)
    except (OSError, ValueError) as error:
        raise SkipstoneError(f"The picture {target} cannot be written: {error}.") from error
    return target

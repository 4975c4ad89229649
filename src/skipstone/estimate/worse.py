"""Whether a layout that somebody asked for would be worse than what the table has now.

Both figures come from the simulation on a sample, so a small difference says nothing: a layout counts as
worse if it scans more by a twentieth of what is scanned now, and by a twentieth of a percentage point.

>>> is_worse(5.9, 58.1), is_worse(5.9, 6.1), is_worse(58.1, 5.9)
(True, False, False)
"""

from __future__ import annotations

__all__ = ["is_worse", "refusal"]

_TOLERANCE = 0.05


def is_worse(percent_before: float | None, percent_after: float | None) -> bool:
    """Whether queries would scan clearly more than they do now; what is not known is not worse."""
    if percent_before is None or percent_after is None:
        return False
    return percent_after - percent_before > _TOLERANCE * max(1.0, percent_before)


def refusal(layout: str, percent_before: float | None, percent_after: float | None) -> str | None:
    """Why a layout is not applied unless it is forced; None if nothing speaks against it."""
    if not is_worse(percent_before, percent_after):
        return None
    return (
        f"by the layout {layout} the log's queries would scan about {percent_after:.2f} % of the rows "
        f"instead of {percent_before:.2f} % now"
    )

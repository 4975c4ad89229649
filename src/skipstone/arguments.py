"""The numbers that users may give, with their ranges: one place for Python and for the command line.

A number that is out of range, or no number at all, is refused in one sentence before anything is read or
written. The upper ends are far beyond any use; up to them no computation overflows.

>>> checked(block_rows=600, num_features=None)
{'block_rows': 600, 'num_features': None}
>>> checked(margin=-5)
Traceback (most recent call last):
    ...
skipstone.errors.SkipstoneError: margin must be a number from 0 to 1,000,000,000,000, and it is -5.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from numbers import Real
from typing import Any, SupportsIndex

from skipstone.errors import SkipstoneError

__all__ = ["NUMBERS", "Range", "bounds_of", "checked"]


@dataclass(frozen=True, slots=True)
class Range:
    """From ``least`` to ``most``, both allowed; ``optional`` numbers may be None."""

    least: float
    most: float
    whole: bool = False
    optional: bool = False

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} from {self.least:,} to {self.most:,}" + (", or None" if self.optional else "")


_MANY = 10**12
_LONGEST_SHOWN = 60
_DAYS = 100_000
NUMBERS = {
    # analyze, advise and optimize
    "block_rows": Range(1, _MANY, whole=True, optional=True),
    "num_features": Range(1, 1_000_000, whole=True, optional=True),
    "threshold": Range(1, _MANY, optional=True),
    "sample_rows": Range(1, _MANY, whole=True, optional=True),
    # Less than two blocks cannot be rearranged.
    "blocks_worth": Range(2, _MANY),
    # optimize and replicate
    "replicas": Range(1, 16, whole=True),
    "partition_rows": Range(1, _MANY, whole=True, optional=True),
    # auto, append and watch; the window must not begin before the first year of the calendar
    "new_blocks": Range(0, _MANY),
    "window_days": Range(0, _DAYS),
    "horizon_days": Range(0, _DAYS, optional=True),
    "margin": Range(0, _MANY),
    "drift": Range(0, 1),
    "drift_queries": Range(0, _MANY),
    "step_bytes": Range(1, 10**18, whole=True),
    "step_mb": Range(1, _MANY),
    "seconds": Range(0.01, 86_400 * 365),
    "idle_checks": Range(1, _MANY, whole=True),
    # adapt
    "most_given_up": Range(0, 1),
    "most_rewritten": Range(0, 1),
    # generate
    "queries": Range(1, 1_000_000, whole=True),
    "seed": Range(0, 2**63 - 1, whole=True),
    "zipf": Range(0, 10, optional=True),
    # calibrate
    "rows": Range(10_000, _MANY, whole=True),
}


def checked(**given: object) -> dict[str, Any]:
    """The given numbers by their names; the first one that is not allowed is an error that says so."""
    return {name: _checked(name, value, NUMBERS[name]) for name, value in given.items()}


def bounds_of(name: str) -> dict[str, object]:
    """``min`` and ``max`` for an option of the command line."""
    allowed = NUMBERS[name]
    kind = int if allowed.whole else float
    return {"min": kind(allowed.least), "max": kind(allowed.most)}


def _checked(name: str, value: object, allowed: Range) -> float | None:
    if value is None and allowed.optional:
        return None
    number = _number(value, allowed.whole)
    # NaN is in no range.
    if number is None or not allowed.least <= number <= allowed.most:
        raise SkipstoneError(f"{name} must be {allowed}, and it is {_shown(value)}.")
    return number


def _number(value: object, whole: bool) -> float | None:
    """The value as Python's own number; None for what is none, truth values and texts included."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return operator.index(value) if whole else value
    if not isinstance(value, Real):
        return None
    if not whole:
        return float(value)
    return operator.index(value) if isinstance(value, SupportsIndex) else None


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python shows no integer of thousands of digits
        return "far beyond that"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."

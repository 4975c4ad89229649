"""The one exception that users see: its message is a clear sentence that says what to do."""

from __future__ import annotations

__all__ = [
    "CancelledError",
    "DamagedFileError",
    "NotStartedError",
    "SkipstoneError",
    "TableChangedError",
    "UnknownOutcomeError",
]


class SkipstoneError(Exception):
    """Something the user can put right; the message is one sentence."""


class NotStartedError(SkipstoneError):
    """Spark ended while it started; why, it says only on standard error."""


class TableChangedError(SkipstoneError):
    """Somebody else changed the table meanwhile, so nothing was done; trying again may help."""


class DamagedFileError(SkipstoneError):
    """A file of skipstone's own does not hold what was written to it; the message names it."""


class CancelledError(SkipstoneError):
    """The user asked for an end before the work was done."""


class UnknownOutcomeError(SkipstoneError):
    """Something failed, and whether it took effect is unknown; the user must check."""

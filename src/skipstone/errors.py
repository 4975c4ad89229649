"""The one exception that users see: its message is a clear sentence that says what to do."""

from __future__ import annotations

__all__ = ["SkipstoneError"]


class SkipstoneError(Exception):
    """Something the user can put right; the message is one sentence."""

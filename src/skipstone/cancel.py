"""Cancelling: a token that one thread sets and the work of another looks at.

>>> cancel = Cancel()
>>> cancel.check()
>>> calls = []
>>> remove = cancel.when_requested(lambda: calls.append("stop"))
>>> cancel.request()
>>> calls, cancel.requested
(['stop'], True)
>>> cancel.check()
Traceback (most recent call last):
    ...
skipstone.errors.CancelledError: The work was cancelled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from skipstone.errors import CancelledError

__all__ = ["Cancel"]


class Cancel:
    """Whether work is to end. Any thread may ask for it, any number of times."""

    def __init__(self) -> None:
        """Nobody has asked yet."""
        self._requested = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: dict[int, Callable[[], None]] = {}

    @property
    def requested(self) -> bool:
        """Whether somebody has asked for an end."""
        return self._requested.is_set()

    def request(self) -> None:
        """Ask for an end: whoever works stops at the next step, and Spark's jobs are cancelled."""
        with self._lock:
            self._requested.set()
            callbacks = list(self._callbacks.values())
        for callback in callbacks:
            callback()

    def check(self) -> None:
        """Raise if somebody has asked for an end."""
        if self.requested:
            raise CancelledError("The work was cancelled.")

    def when_requested(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back when an end is asked for, at once if it has been; what is returned takes that back."""
        key = id(callback)
        with self._lock:
            self._callbacks[key] = callback
            requested = self.requested
        if requested:
            callback()

        def remove() -> None:
            with self._lock:
                self._callbacks.pop(key, None)

        return remove

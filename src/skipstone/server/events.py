"""What happens, told to every client that listens: server-sent events.

Jobs run in threads and clients are served by one event loop. A client that does not read loses the oldest
events rather than filling the memory; it can always ask for the state itself.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from skipstone.server.problems import TooManyError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Event", "Events", "event_text"]

_MOST_WAITING = 1_000
_SECONDS_BETWEEN_SIGNS = 15.0


def event_text(number: int, kind: str, value: Mapping[str, object]) -> str:
    r"""An event as it is sent; JSON has no line breaks.

    >>> event_text(7, "log", {"job": 1})
    'id: 7\nevent: log\ndata: {"job": 1}\n\n'
    """
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(value)}\n\n"


class Event(NamedTuple):
    """Something that happened; its text is made once for all who listen."""

    kind: str
    value: Mapping[str, object]
    text: str


class Events:
    """Hands events from the threads of jobs to the clients that listen."""

    def __init__(self, most_listeners: int) -> None:
        """Nobody listens yet."""
        self._most = most_listeners
        self._numbers = count(1)
        self._changes = count(1)
        self._lock = threading.Lock()
        self.revision = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queues: set[asyncio.Queue[Event | None]] = set()

    def begin(self) -> None:
        """Called by the event loop that serves the clients."""
        self._loop = asyncio.get_running_loop()

    def changed(self) -> None:
        """Count a change of anything that lists tell of."""
        with self._lock:
            self.revision = next(self._changes)

    def publish(self, kind: str, value: Mapping[str, object]) -> None:
        """Tell all who listen; from any thread."""
        self.changed()
        loop = self._loop
        if loop is None or not self._queues:
            return
        event = Event(kind, value, event_text(next(self._numbers), kind, value))
        try:
            loop.call_soon_threadsafe(self._hand_out, event)
        except RuntimeError:  # the loop has just been closed
            return

    def end(self) -> None:
        """Let all connections come to their end; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._hand_out, None)

    def _hand_out(self, event: Event | None) -> None:
        for queue in self._queues:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(event)

    @contextmanager
    def _listening(self) -> Iterator[asyncio.Queue[Event | None]]:
        if len(self._queues) >= self._most:
            raise TooManyError(f"{self._most} clients listen already; close one of them.")
        queue: asyncio.Queue[Event | None] = asyncio.Queue(_MOST_WAITING)
        self._queues.add(queue)
        try:
            yield queue
        finally:
            self._queues.discard(queue)

    async def stream(
        self, wanted: Callable[[Event], bool], first: Callable[[], Event], last: Callable[[Event], bool]
    ) -> AsyncIterator[str]:
        """The events that are wanted, after what ``first`` tells, until one is the last."""
        with self._listening() as queue:
            begun = first()
            yield begun.text
            if last(begun):
                return
            while True:
                try:
                    event = await asyncio.wait_for(queue.get(), _SECONDS_BETWEEN_SIGNS)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if event is None:
                    return
                if wanted(event):
                    yield event.text
                    if last(event):
                        return

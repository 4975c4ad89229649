"""Ending a command when its user says so, without breaking off what the JVM is being asked.

Python handles a signal in the main thread, wherever that is. While it waits for the JVM, an exception would
leave half an answer in the connection, and PySpark's own handler asks the JVM something in the middle of
another question: that fails with pages of traces, and jobs run on. So here a thread of its own cancels the
jobs of Spark, by which the JVM answers soon, and ``KeyboardInterrupt`` is raised instead of that answer,
before a cancelled job is taken for an ordinary failure. Inside of Python's own work it is raised at once.
What is cleaned up on the way finds a connection that works. Whoever signals a second time does not want to
wait: then it is raised wherever the thread is.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

__all__ = ["Stop", "cancel_by", "stoppable"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_BRIDGE = ("py4j", "pyspark")
_TICK_SECONDS = 0.05
_TICKS_BETWEEN_CANCELLING = 10
_PATIENCE_SECONDS = 15.0
"""How long the JVM may take for an answer that no cancelled job is behind, such as a listing of files."""
_current: list[Stop] = []


class Stop:
    """Whether the user has asked for an end, and by which signal."""

    def __init__(self) -> None:
        self._signal: int | None = None
        self._since = 0.0
        self._ticking = False
        self._ended = threading.Event()
        self.cancel: Callable[[], None] | None = None
        """Cancels the jobs of Spark, once it runs."""

    @property
    def requested(self) -> bool:
        """Whether a signal has come."""
        return self._signal is not None

    @property
    def code(self) -> int:
        """The exit code that says so: 130 for SIGINT, 143 for SIGTERM."""
        return 128 + (self._signal or signal.SIGINT)

    def end(self) -> None:
        """Cancel no more jobs."""
        self._ended.set()

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Python calls this in the main thread, by a signal of the user's or by one of our own ticks."""
        ticked, self._ticking = self._ticking, False
        if self._signal is None:
            self._signal, self._since = number, time.monotonic()
            # What fails from now on fails because of the signal.
            logging.getLogger("skipstone").disabled = True
            threading.Thread(target=self._cancel, name="skipstone-stopping", daemon=True).start()
        elif not ticked:
            self._since = -_PATIENCE_SECONDS
        if self._ended.is_set():
            return
        asker = _asker(frame)
        if asker is None or time.monotonic() - self._since >= _PATIENCE_SECONDS:
            self.end()
            raise KeyboardInterrupt
        # Whatever happens next in the frame that asks: the answer is there, or a failure.
        asker.f_trace_opcodes = True
        asker.f_trace = self._back
        sys.settrace(lambda *_: None)

    def _back(self, frame: FrameType, _event: str, _argument: object) -> NoReturn:
        """Python calls this when the question to the JVM has ended."""
        sys.settrace(None)
        frame.f_trace = None
        self.end()
        raise KeyboardInterrupt

    def _cancel(self) -> None:
        """Cancel jobs, also those that are begun meanwhile, and let the main thread look again and again."""
        main, number, ticks = threading.main_thread(), self._signal, 0
        while not self._ended.is_set() and number is not None and main.ident is not None:
            if ticks % _TICKS_BETWEEN_CANCELLING == 0 and self.cancel is not None:
                with suppress(Exception):  # Spark may have heard the signal too, and ended
                    self.cancel()
            if not self._ended.wait(_TICK_SECONDS):
                self._ticking = True
                signal.pthread_kill(main.ident, number)
            ticks += 1


def _asker(frame: FrameType | None) -> FrameType | None:
    """The frame from which the main thread asks the JVM; None if it does not.

    The thread may also be answering a question of the JVM's, in the middle of its own.
    """
    asker = None
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in _BRIDGE:
            asker = frame.f_back
        frame = frame.f_back
    return asker


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Let SIGINT and SIGTERM end what runs inside by ``KeyboardInterrupt``."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop.handle) for number in _SIGNALS}
    _current.append(stop)
    try:
        yield stop
    finally:
        stop.end()
        _current.remove(stop)
        for number, handler in before.items():
            # Once the end is near, nobody needs to hear of it again.
            signal.signal(number, signal.SIG_IGN if stop.requested else handler)


def cancel_by(cancel: Callable[[], None]) -> None:
    """Let a signal that comes from now on cancel jobs in this way."""
    for stop in _current:
        stop.cancel = cancel

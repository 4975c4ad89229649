"""What a command shows while it works, on standard error: a bar on a terminal, now and then a line elsewhere.

It is there from the start, before Spark is, because importing PySpark and starting Java take long.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import typer

from skipstone.progress import Progress

__all__ = ["announced", "progress"]

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_OF_SILENCE = 0.5
_STARTING = "Starting"
_WORKING = "Working"


class _Display(Progress, Protocol):
    """Shows progress, and work of which nobody knows how long it takes."""

    def begin(self, what: str) -> None:
        """Say what begins now."""

    def rest(self) -> None:
        """The step that was announced is done; the next one announces itself, or is too short to show."""

    def close(self) -> None:
        """Show nothing from now on."""


_shown: list[_Display] = []


@contextmanager
def progress() -> Iterator[Progress]:
    """Show how far long work is; results are printed after it."""
    display: _Display = _Bar() if sys.stderr.isatty() else _Lines()
    _shown.append(display)
    try:
        yield display
    finally:
        _shown.remove(display)
        display.close()


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Say what takes long now, in the display that is open or in one of its own."""
    if _shown:
        _shown[-1].begin(what)
        yield
        _shown[-1].rest()
        return
    with progress():
        _shown[-1].begin(what)
        yield


class _Bar:
    """One bar, which pulses while nobody knows how long it will take."""

    def __init__(self) -> None:
        # Imported late: what needs no display should not wait for it.
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            SpinnerColumn,
            Task,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.progress import Progress as Bars
        from rich.text import Text

        class Count(MofNCompleteColumn):
            """Nothing while there is nothing to count."""

            def render(self, task: Task) -> Text:
                return super().render(task) if task.total is not None else Text()

        # While Java starts, standard error is a pipe (see banner.py); the terminal is shown all of it.
        self._terminal = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8")
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            Count(),
            TimeElapsedColumn(),
        )
        console = Console(file=self._terminal, force_terminal=True)
        self._bars = Bars(*columns, console=console, transient=True, redirect_stdout=False)
        self._task = self._bars.add_task(_STARTING, total=None)
        self._bars.start()

    def begin(self, what: str) -> None:
        self._bars.update(self._task, description=what, total=None)

    def rest(self) -> None:
        self.begin(_WORKING)

    def __call__(self, what: str, done: int, total: int) -> None:
        self._bars.update(self._task, description=what, completed=done, total=total)

    def close(self) -> None:
        self._bars.stop()
        self._terminal.close()


class _Lines:
    """A line at once, when other work begins and every few seconds."""

    def __init__(self) -> None:
        self._what = ""
        self._last = 0.0
        self._timer = threading.Timer(_SECONDS_OF_SILENCE, self.begin, (_STARTING,))
        self._timer.daemon = True
        self._timer.start()

    def begin(self, what: str) -> None:
        self._timer.cancel()
        if what != self._what:
            self._what, self._last = what, time.monotonic()
            typer.echo(f"{what} ...", err=True)

    def rest(self) -> None:
        """No line: what is short needs none."""

    def __call__(self, what: str, done: int, total: int) -> None:
        self._timer.cancel()
        now = time.monotonic()
        if what == self._what and now - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._what, self._last = what, now
        typer.echo(f"{what}: {done:,} of {total:,}", err=True)

    def close(self) -> None:
        self._timer.cancel()

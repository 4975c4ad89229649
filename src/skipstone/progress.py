"""How far an action is: one count that only grows, whatever the action does inside.

An action knows its steps before it begins and about what share of the work each is. It announces them, and
what a step reports is mapped to the action as a whole. So whoever shows it needs one bar, whose unit
is that of the action: the blocks of the table, or the queries of a replay. Steps may have steps of their own.

>>> steps = Steps(lambda what, done, total: print(what, done, total), 8, {"read": 1, "write": 3})
>>> with steps:
...     read = steps.step("read")
...     read("reading", 1, 2)
...     steps.step("write")("writing", 1, 3)
reading 1 8
writing 4 8
writing 8 8
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Protocol, Self

from skipstone.cancel import Cancel

__all__ = ["Progress", "Steps"]


class Progress(Protocol):
    """A function that is called now and then with how far some work is: ``progress(what, done, total)``."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """``done`` of ``total`` are finished; ``what`` says what is being done now."""


class Steps:
    """The steps of one action, each with its share of the work; ``total`` is in the unit of the action."""

    def __init__(
        self,
        progress: Progress | None,
        total: int,
        shares: Mapping[str, float],
        cancel: Cancel | None = None,
    ) -> None:
        """Announce the steps in their order; any of them may be left out later."""
        self._cancel = cancel
        self._progress = progress
        self._total = max(total, 1)
        whole = sum(shares.values())
        self._spans: dict[str, tuple[float, float]] = {}
        start = 0.0
        for name, share in shares.items():
            self._spans[name] = (start, start + share / whole)
            start += share / whole
        self._done = -1
        self._what = ""
        self._lock = threading.Lock()

    def step(self, name: str) -> Progress | None:
        """Begin a step and return what receives its progress, that of the step alone; None if nobody asked.

        Raises if somebody has asked for an end.
        """
        if self._cancel is not None:
            self._cancel.check()
        start, end = self._spans[name]

        def report(what: str, done: int, total: int) -> None:
            share = min(max(done / total, 0.0), 1.0) if total else 1.0
            self._report(what, start + (end - start) * share)

        return None if self._progress is None else report

    def begin(self, name: str, what: str) -> None:
        """Begin a step that reports nothing but ``what`` it is.

        Raises if somebody has asked for an end.
        """
        if (report := self.step(name)) is not None:
            report(what, 0, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if failure is None and self._done >= 0:
            self._report(self._what, 1.0)

    def _report(self, what: str, share: float) -> None:
        # Called by the action itself and by the thread that watches its Spark jobs.
        with self._lock:
            done = max(self._done, min(int(share * self._total + 1e-9), self._total), 0)
            if (what, done) != (self._what, self._done) and self._progress is not None:
                self._what, self._done = what, done
                self._progress(what, done, self._total)

"""Spark as the server has it: started in the background, or given; every job gets a session of its own.

A session of its own has its own settings and views, so that a replay that switches skipping off, or a table
that is bound anew, touches no other job. What is known of catalogs is shared by all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Literal

from skipstone.server.problems import UnavailableError, sentence
from skipstone.spark import SparkSession
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.session_copy import copied_session
from skipstone.spark.running import runs

__all__ = ["SparkHolder"]

_OWN = {
    # Else ${env:NAME} in a text of a client's would be the value of the server's own variable, or setting.
    "spark.sql.variable.substitute": "false",
}
"""Settings of the sessions of jobs."""

State = Literal["starting", "ready", "stopped"]


class SparkHolder:
    """The session that jobs copy."""

    def __init__(self, start: Callable[[], SparkSession]) -> None:
        """``start`` makes the session, in a thread of its own."""
        self._start = start
        self._spark: SparkSession | None = None
        self._parser: SparkSession | None = None
        self._problem: str | None = None
        self._begun = threading.Event()

    def begin(self, ready: Callable[[], None]) -> None:
        """Start Spark in the background and call back once it is there."""

        def run() -> None:
            try:
                self._spark = self._start()
            # Whatever it is, clients are told.
            except BaseException as problem:  # noqa: BLE001
                self._problem = sentence(problem)
            self._begun.set()
            if self._spark is not None:
                ready()

        threading.Thread(target=run, name="skipstone-start", daemon=True).start()

    def state(self) -> tuple[State, str | None]:
        """Whether Spark is there, and if not, why."""
        if not self._begun.is_set():
            return "starting", None
        if self._spark is None:
            return "stopped", self._problem
        return ("ready", None) if runs(self._spark) else ("stopped", "Spark has stopped.")

    def wait(self, seconds: float) -> bool:
        """Wait until Spark has started or failed to."""
        return self._begun.wait(seconds)

    def parser(self) -> SparkSession | None:
        """A session to parse text with, made once; None before Spark is there."""
        if self._parser is None and self.state()[0] == "ready" and self._spark is not None:
            self._parser = copied_session(self._spark, _OWN)
        return self._parser

    def engine(self) -> Engine:
        """An engine with a session of its own."""
        state, problem = self.state()
        if state == "starting":
            raise UnavailableError("Spark is starting; try again in a moment.")
        if state == "stopped" or self._spark is None:
            raise UnavailableError(f"Spark is not there: {problem or 'it has stopped.'}")
        return Engine.of(copied_session(self._spark, _OWN))

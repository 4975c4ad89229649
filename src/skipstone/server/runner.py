"""Runs jobs: each in a thread of its own, those on one table one after the other.

The store has what is to survive; here is what lives. A job hears of an end by its cancel token, as at the
command line. What a job logs as a warning while it runs becomes a line of its log.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from skipstone.cancel import Cancel
from skipstone.errors import CancelledError, SkipstoneError
from skipstone.server.events import Events
from skipstone.server.job import ENDED, Job, JobRequest, State, moment
from skipstone.server.problems import ConflictError, MissingError, TooManyError, sentence
from skipstone.server.settings import Limits
from skipstone.server.store import Store
from skipstone.server.waiting import Claim, Holder, why_waiting
from skipstone.view import one_line

__all__ = ["Outcome", "Runner", "Running", "Work"]

_SECONDS_BETWEEN_EVENTS = 0.25
_JOBS_BETWEEN_CLEANINGS = 1_000
STOPPED = "The server was stopped before the job was done."


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a job made: its result as JSON, and the first line that people see of it."""

    result: str | None = None
    headline: str = ""


class Running(Protocol):
    """What a job works with."""

    cancel: Cancel

    def progress(self, what: str, done: int, total: int) -> None:
        """Say how far it is."""

    def log(self, text: str) -> None:
        """Add a line to the job's log."""


class Work(Protocol):
    """What a job does, in a thread of its own."""

    def __call__(self, running: Running, /) -> Outcome:
        """Do it."""


@dataclass(slots=True, eq=False)
class _Live:
    """A job that has not ended."""

    job: Job
    claim: Claim
    work: Work
    cancel: Cancel = field(default_factory=Cancel)
    thread: threading.Thread | None = None
    told: float = 0.0


class _Lines(logging.Handler):
    """Warnings of the library that a job's own thread logs, as lines of its log."""

    def __init__(self, log: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._log = log
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        # The history's own warning, that it cannot be written, is no line to write to it.
        if record.thread == self._thread and record.module != "store":
            self._log(f"Warning: {record.getMessage()}")


class Runner:
    """The jobs of a server."""

    def __init__(self, store: Store, events: Events, limits: Limits) -> None:
        """Mark what an earlier server left unfinished."""
        self._store = store
        self._events = events
        self._limits = limits
        self._lock = threading.RLock()
        self._live: dict[int, _Live] = {}
        self._stopping = False
        store.interrupt(STOPPED)
        store.forget_old_jobs(limits.history)
        self._next = store.next_id()

    def submit(self, request: JobRequest, claim: Claim, work: Work) -> Job:
        """Queue a job; it begins as soon as it may."""
        with self._lock:
            if self._stopping:
                raise ConflictError("The server is stopping.")
            queued = sum(live.job.state is State.QUEUED for live in self._live.values())
            if queued >= self._limits.queued_jobs:
                raise TooManyError(
                    f"{queued} jobs are queued already; wait for some of them, or cancel some."
                )
            live = _Live(Job(self._next, request, moment()), claim, work)
            self._next += 1
            self._live[live.job.id] = live
            self._change(live)
            self._begin_some()
            return live.job

    def live(self) -> list[Job]:
        """The jobs that have not ended, oldest first."""
        with self._lock:
            return [live.job for live in self._live.values()]

    def get(self, number: int) -> Job:
        """A job, whether it lives or not."""
        with self._lock:
            found = self._live.get(number)
        job = self._store.job(number) if found is None else found.job
        if job is None:
            raise MissingError(f"There is no job {number}.")
        return job

    def on_table(self, table: str) -> int | None:
        """The job that writes to a table, or one that reads it."""
        with self._lock:
            found = [live for live in self._live.values() if live.claim.table == table]
        running = [live for live in found if live.job.state is State.RUNNING]
        running.sort(key=lambda live: not live.claim.writes)
        return running[0].job.id if running else None

    def cancel(self, number: int) -> Job:
        """Ask for the end of a job; one that waits ends at once."""
        with self._lock:
            live = self._live.get(number)
            if live is None:
                job = self.get(number)
                raise ConflictError(f"Job {number} has ended already ({job.state}).")
            live.cancel.request()
            if live.job.state is State.QUEUED:
                self._end(live, State.CANCELLED, error="The work was cancelled before it began.")
            else:
                self._change(live, cancelling=True)
            return live.job

    def wait(self, number: int, seconds: float) -> Job:
        """The job once it has ended, or as it is after that time."""
        with self._lock:
            live = self._live.get(number)
            thread = None if live is None else live.thread
        if thread is not None:
            thread.join(seconds)
        return self.get(number)

    def stop(self, seconds: float = 10.0) -> None:
        """Cancel all jobs and wait for their threads; what is not done then stays interrupted."""
        with self._lock:
            self._stopping = True
            lives = list(self._live.values())
        for live in lives:
            live.cancel.request()
        last = time.monotonic() + seconds
        for live in lives:
            if live.thread is not None:
                live.thread.join(max(0.0, last - time.monotonic()))
        with self._lock:
            for live in list(self._live.values()):
                self._end(live, State.INTERRUPTED, error=STOPPED)

    def _begin_some(self) -> None:
        """Start all jobs that may run now; say what the others wait for."""
        running = [_holder(live) for live in self._live.values() if live.job.state is State.RUNNING]
        earlier: list[Holder] = []
        for live in [each for each in self._live.values() if each.job.state is State.QUEUED]:
            most = self._limits.queries_at_once if live.claim.query else self._limits.jobs_at_once
            waits_for = why_waiting(live.claim, running, earlier, most)
            if waits_for is None and not self._stopping:
                self._begin(live)
                running.append(_holder(live))
                continue
            earlier.append(_holder(live))
            if waits_for != live.job.waits_for:
                self._change(live, waits_for=waits_for)

    def _begin(self, live: _Live) -> None:
        name = f"skipstone-job-{live.job.id}"
        live.thread = threading.Thread(target=self._run, args=(live,), name=name, daemon=True)
        self._change(live, state=State.RUNNING, waits_for=None, started_at=moment())
        live.thread.start()

    def _run(self, live: _Live) -> None:
        running = _RunningJob(self, live)
        handler = _Lines(running.log)
        library = logging.getLogger("skipstone")
        library.addHandler(handler)
        state, error, outcome = State.DONE, None, Outcome()
        try:
            live.cancel.check()
            outcome = live.work(running)
        except CancelledError as problem:
            state, error = State.CANCELLED, sentence(problem)
        # Whatever fails: the job has failed, and the server goes on.
        except BaseException as problem:  # noqa: BLE001
            state, error = State.FAILED, sentence(problem)
        finally:
            library.removeHandler(handler)
        with self._lock:
            if self._stopping and state is State.CANCELLED:
                state, error = State.INTERRUPTED, STOPPED
            self._end(live, state, error, outcome)
            self._begin_some()

    def _end(self, live: _Live, state: State, error: str | None, outcome: Outcome | None = None) -> None:
        if live.job.state in ENDED:
            return
        made = outcome or Outcome()
        live.job = live.job.changed(
            state=state,
            waits_for=None,
            ended_at=moment(),
            error=error,
            headline=made.headline or None,
            has_result=made.result is not None,
        )
        self._store.save(live.job, made.result)
        self._live.pop(live.job.id, None)
        if error is not None:
            self.log(live.job.id, error)
        self._events.publish("job", live.job.to_dict())
        if live.job.id % _JOBS_BETWEEN_CLEANINGS == 0:
            with suppress(SkipstoneError):  # a full disk: the next time will do
                self._store.forget_old_jobs(self._limits.history)

    def _change(self, live: _Live, **fields: object) -> None:
        live.job = live.job.changed(**fields)
        self._store.save(live.job)
        self._events.publish("job", live.job.to_dict())

    def moved(self, live: _Live, progress: tuple[str, int, int]) -> None:
        """Remember how far a job is; clients hear of it now and then, the store at its end."""
        with self._lock:
            if live.job.state is not State.RUNNING:
                return
            begins = progress[0] != live.job.progress[0]
            live.job = live.job.changed(progress=progress)
            now = time.monotonic()
            if not begins and now - live.told < _SECONDS_BETWEEN_EVENTS:
                return
            live.told = now
            shown = live.job
        if begins:
            self.log(shown.id, progress[0])
        self._events.publish("job", shown.to_dict())

    def log(self, number: int, text: str) -> None:
        """Add a line to the log of a job."""
        time_, line = moment(), one_line(text)
        self._store.add_line(number, time_, line)
        self._events.publish("log", {"job": number, "time": time_, "text": line})


class _RunningJob:
    """What a job sees of the runner."""

    def __init__(self, runner: Runner, live: _Live) -> None:
        self._runner = runner
        self._live = live
        self.cancel = live.cancel

    def progress(self, what: str, done: int, total: int) -> None:
        self._runner.moved(self._live, (what, done, total))

    def log(self, text: str) -> None:
        self._runner.log(self._live.job.id, text)


def _holder(live: _Live) -> Holder:
    return Holder(live.job.id, live.job.request.action, live.claim)

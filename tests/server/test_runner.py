"""Jobs without Spark: the queue of a table, cancelling, what survives a restart, and a full disk."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skipstone.errors import SkipstoneError
from skipstone.server.events import Events
from skipstone.server.job import Job, JobRequest, State
from skipstone.server.problems import ConflictError, MissingError, TooManyError
from skipstone.server.runner import STOPPED, Outcome, Runner, Running, Work
from skipstone.server.settings import Limits
from skipstone.server.store import Store
from skipstone.server.waiting import Claim

WRITES, READS = Claim("t", writes=True), Claim("t")


class Gate:
    """Work that goes on until it is let go, or cancelled."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.begun = threading.Event()

    def __call__(self, running: Running) -> Outcome:
        self.begun.set()
        while not self.open.wait(0.01):
            running.cancel.check()
        return Outcome('{"ok": true}', "It is done.")


def runner_in(path: Path, **limits: int) -> Runner:
    return Runner(Store(path / "s.sqlite"), Events(9), Limits(**limits))


def submit(runner: Runner, work: Work, claim: Claim = WRITES, action: str = "optimize") -> Job:
    return runner.submit(JobRequest(action, claim.table), claim, work)


def until(holds: Callable[[], bool]) -> None:
    last = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < last
        time.sleep(0.005)


def test_jobs_on_one_table_run_one_after_the_other_and_say_what_they_wait_for(tmp_path: Path) -> None:
    runner = runner_in(tmp_path)
    gates = [Gate(), Gate(), Gate()]
    first, second, other = (
        submit(runner, gates[0]),
        submit(runner, gates[1], READS, "analyze"),
        submit(runner, gates[2], Claim("u", writes=True)),
    )
    assert gates[0].begun.wait(5)
    assert gates[2].begun.wait(5)
    assert runner.get(second.id).waits_for == f"job {first.id} (optimize), which writes to t"
    assert runner.get(other.id).state is State.RUNNING
    gates[0].open.set()
    assert gates[1].begun.wait(5)
    assert runner.get(second.id).waits_for is None
    for gate in gates:
        gate.open.set()
    until(lambda: not runner.live())
    assert runner.get(first.id).headline == "It is done."


def test_readers_run_together_and_a_writer_is_not_overtaken(tmp_path: Path) -> None:
    runner = runner_in(tmp_path)
    gates = [Gate() for _ in range(4)]
    claims = (READS, READS, WRITES, READS)
    jobs = [submit(runner, gate, claim) for gate, claim in zip(gates, claims, strict=True)]
    assert gates[0].begun.wait(5)
    assert gates[1].begun.wait(5)
    assert runner.get(jobs[2].id).waits_for == f"job {jobs[0].id} (optimize), which reads t"
    assert runner.get(jobs[3].id).waits_for == f"job {jobs[2].id} (optimize), which is to write to t first"
    for gate in gates:
        gate.open.set()
    until(lambda: not runner.live())


def test_queries_have_a_limit_of_their_own(tmp_path: Path) -> None:
    runner = runner_in(tmp_path, queries_at_once=1, jobs_at_once=1)
    gates = [Gate(), Gate(), Gate()]
    submit(runner, gates[0], Claim(query=True), "query")
    waiting = submit(runner, gates[1], Claim(query=True), "query")
    submit(runner, gates[2])
    assert gates[2].begun.wait(5)
    assert runner.get(waiting.id).waits_for == "one of the 1 queries that run"
    runner.stop()


def test_a_queued_job_is_cancelled_at_once_and_a_running_one_by_its_token(tmp_path: Path) -> None:
    runner = runner_in(tmp_path)
    running, queued = Gate(), Gate()
    first, second = submit(runner, running), submit(runner, queued)
    assert running.begun.wait(5)
    assert runner.cancel(second.id).state is State.CANCELLED
    assert runner.cancel(first.id).cancelling
    until(lambda: not runner.live())
    assert runner.get(first.id).state is State.CANCELLED
    assert not queued.begun.is_set()
    with pytest.raises(ConflictError, match=r"Job 1 has ended already \(cancelled\)"):
        runner.cancel(first.id)
    with pytest.raises(MissingError, match="no job 99"):
        runner.cancel(99)


def test_a_failure_is_one_sentence_and_the_next_job_runs(tmp_path: Path) -> None:
    runner = runner_in(tmp_path)

    def fails(_: Running) -> Outcome:
        raise SkipstoneError("The disk is\nfull.")

    def breaks(_: Running) -> Outcome:
        raise ValueError("seven")

    first, second = submit(runner, fails), submit(runner, breaks)
    until(lambda: not runner.live())
    assert runner.get(first.id).error == "The disk is full."
    assert runner.get(second.id).error == "Unexpected ValueError: seven."
    assert [runner.get(job.id).state for job in (first, second)] == [State.FAILED] * 2


def test_progress_and_warnings_become_lines_of_the_log(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    runner = Runner(store, Events(9), Limits())

    def works(running: Running) -> Outcome:
        running.progress("reading", 1, 4)
        running.progress("reading", 2, 4)
        logging.getLogger("skipstone").warning("a file is %s", "odd")
        running.progress("writing", 3, 4)
        return Outcome()

    job = submit(runner, works)
    until(lambda: not runner.live())
    assert [line["text"] for line in store.lines(job.id)] == ["reading", "Warning: a file is odd", "writing"]
    assert runner.get(job.id).progress == ("writing", 3, 4)


def test_the_history_survives_and_what_ran_was_interrupted(tmp_path: Path) -> None:
    runner = runner_in(tmp_path)
    done = submit(runner, lambda _: Outcome('{"a": 1}', "Fine."))
    until(lambda: not runner.live())
    gate = Gate()
    running, queued = submit(runner, gate), submit(runner, gate)
    assert gate.begun.wait(5)
    # The process is killed here: nothing is told to the first runner.
    again = runner_in(tmp_path)
    assert again.get(done.id).state is State.DONE
    assert again.get(done.id).headline == "Fine."
    for job in (running, queued):
        assert again.get(job.id).state is State.INTERRUPTED
        assert again.get(job.id).error == STOPPED
    gate.open.set()
    until(lambda: not runner.live())


def test_a_stopped_server_interrupts_its_jobs(tmp_path: Path) -> None:
    runner = runner_in(tmp_path)
    gate = Gate()
    jobs = [submit(runner, gate), submit(runner, gate)]
    assert gate.begun.wait(5)
    runner.stop()
    assert [runner.get(job.id).state for job in jobs] == [State.INTERRUPTED] * 2
    with pytest.raises(ConflictError, match="stopping"):
        submit(runner, gate)


def test_no_more_jobs_are_queued_than_may_be(tmp_path: Path) -> None:
    runner = runner_in(tmp_path, queued_jobs=1)
    gate = Gate()
    submit(runner, gate)
    submit(runner, gate)
    with pytest.raises(TooManyError, match="1 jobs are queued already"):
        submit(runner, gate)
    runner.stop()


def test_a_full_disk_loses_no_state_of_a_job(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(tmp_path / "s.sqlite")
    runner = Runner(store, Events(9), Limits())
    gate = Gate()
    job = submit(runner, gate)
    assert gate.begun.wait(5)
    pages = store._base.execute("PRAGMA page_count").fetchone()[0]
    store._base.execute(f"PRAGMA max_page_count = {pages}")
    filler = [submit(runner, lambda _: Outcome("x" * 100_000), Claim("u")) for _ in range(3)]
    until(lambda: len(runner.live()) == 1)
    assert "cannot be written now: database or disk is full" in caplog.text
    # What is not on disk is told all the same.
    assert [runner.get(each.id).state for each in filler] == [State.DONE] * 3
    assert [each.id for each in store.jobs({"state": "done"}, None, 2)] == [filler[2].id, filler[1].id]
    assert [each.id for each in store.jobs({"tbl": "t"}, None, 9)] == [job.id]
    assert len(store.result(filler[2].id) or "") == 100_000
    store._base.execute("PRAGMA max_page_count = 100000")
    gate.open.set()
    until(lambda: not runner.live())
    found = Store(tmp_path / "s.sqlite")
    assert [found.job(each.id) and found.job(each.id).state for each in (job, *filler)] == [State.DONE] * 4  # type: ignore[union-attr]


def test_a_job_whose_log_cannot_be_written_goes_on(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    runner = Runner(store, Events(9), Limits())

    def works(running: Running) -> Outcome:
        pages = store._base.execute("PRAGMA page_count").fetchone()[0]
        store._base.execute(f"PRAGMA max_page_count = {pages}")
        for step in range(50):
            running.progress("x" * 1_000 + str(step), step, 50)
        return Outcome()

    job = submit(runner, works)
    until(lambda: not runner.live())
    assert runner.get(job.id).state is State.DONE


def test_old_jobs_are_forgotten(tmp_path: Path) -> None:
    runner = runner_in(tmp_path)
    for _ in range(6):
        submit(runner, lambda _: Outcome("{}"), Claim())
        until(lambda: not runner.live())
    again = runner_in(tmp_path, history=2)
    assert again.get(6).state is State.DONE
    with pytest.raises(MissingError):
        again.get(4)
    assert submit(again, lambda _: Outcome(), Claim()).id == 7


def test_a_server_that_runs_for_months_forgets_old_jobs_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skipstone.server.runner._JOBS_BETWEEN_CLEANINGS", 3)
    runner = runner_in(tmp_path, history=2)
    for _ in range(4):
        submit(runner, lambda _: Outcome("{}"), Claim())
        until(lambda: not runner.live())
    assert [runner.get(number).id for number in (2, 3, 4)] == [2, 3, 4]
    with pytest.raises(MissingError):
        runner.get(1)


def test_a_file_that_is_no_history_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "s.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(SkipstoneError, match=r"s\.sqlite cannot be used for the server's history"):
        Store(tmp_path / "s.sqlite")


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "s.sqlite") as base:
        base.execute("PRAGMA user_version = 99")
    with pytest.raises(SkipstoneError, match="newer skipstone"):
        Store(tmp_path / "s.sqlite")

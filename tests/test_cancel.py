"""A token that any thread may set, any number of times, and that work looks at between its steps."""

from __future__ import annotations

import threading

import pytest

from skipstone import Cancel, CancelledError, SkipstoneError
from skipstone.progress import Steps


def test_nobody_is_cancelled_before_somebody_asks() -> None:
    cancel = Cancel()
    cancel.check()
    before = cancel.requested
    cancel.request()
    assert (before, cancel.requested) == (False, True)
    with pytest.raises(CancelledError, match="The work was cancelled"):
        cancel.check()


def test_whoever_expects_our_errors_expects_this_one_too() -> None:
    assert issubclass(CancelledError, SkipstoneError)


def test_a_callback_is_called_once_per_request_and_at_once_if_it_comes_late() -> None:
    cancel, called = Cancel(), []
    cancel.when_requested(lambda: called.append("early"))
    cancel.request()
    cancel.when_requested(lambda: called.append("late"))
    assert called == ["early", "late"]


def test_a_callback_that_was_taken_back_is_not_called() -> None:
    cancel, called = Cancel(), []
    remove = cancel.when_requested(lambda: called.append("gone"))
    remove()
    remove()
    cancel.request()
    assert called == []


def _called_of_eight() -> list[int]:
    """Which of eight threads are called back if they register while another one asks for an end."""
    cancel, start = Cancel(), threading.Barrier(9)
    called: list[int] = []

    def register(number: int) -> None:
        start.wait()
        cancel.when_requested(lambda: called.append(number))

    threads = [threading.Thread(target=register, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    start.wait()
    cancel.request()
    for thread in threads:
        thread.join()
    return sorted(called)


def test_whichever_comes_first_the_request_or_the_registration_nobody_misses_it() -> None:
    for _ in range(50):
        assert _called_of_eight() == list(range(8))


def test_a_thread_that_waits_for_its_next_step_hears_of_it() -> None:
    cancel, begun, ended = Cancel(), threading.Event(), threading.Event()

    def work() -> None:
        steps = Steps(None, 10, {"first": 1, "second": 1}, cancel)
        steps.step("first")
        begun.set()
        while not cancel.requested:
            pass
        with pytest.raises(CancelledError):
            steps.step("second")
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(10)
    cancel.request()
    thread.join(10)
    assert ended.is_set()


def test_a_cancelled_step_is_neither_begun_nor_reported() -> None:
    events: list[tuple[str, int, int]] = []
    cancel = Cancel()
    steps = Steps(lambda *event: events.append(event), 4, {"read": 1, "write": 1}, cancel)
    steps.begin("read", "reading")
    cancel.request()
    with pytest.raises(CancelledError), steps:
        steps.begin("write", "writing")
    assert events == [("reading", 0, 4)]

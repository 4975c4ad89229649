"""A signal ends Python's work at once, and a question to the JVM as soon as its answer is there."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from skipstone.cli.stopping import Stop, cancel_by, stoppable
from skipstone.spark.bridge.runtime import _Function


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    logging.getLogger("skipstone").disabled = False
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _interrupted(work: Callable[[], object], number: int = signal.SIGINT) -> tuple[Stop, float]:
    """Do some work, send a signal a moment later, and tell how long after that the work ended."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), number)

    timer = threading.Timer(0.5, send)
    with stoppable() as stop:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            _until_interrupted(work)
    timer.join()
    assert stop.requested
    return stop, time.monotonic() - sent[0]


def _until_interrupted(work: Callable[[], object]) -> None:
    # A cancelled job may arrive as its own failure first; the command line tells both alike.
    with suppress(Exception):
        work()
    time.sleep(60)


def _busy() -> None:
    while True:
        sum(range(1_000))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_work_of_python_ends_at_once_and_the_exit_code_tells_the_signal(number: int, code: int) -> None:
    stop, seconds = _interrupted(_busy, number)
    assert stop.code == code
    assert seconds < 5


def test_without_a_signal_the_handlers_are_as_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with stoppable() as stop:
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
    assert not stop.requested


def test_jobs_of_spark_are_cancelled_and_the_session_can_still_be_asked(spark: SparkSession) -> None:
    sleep = "java_method('java.lang.Thread', 'sleep', id * 0 + 90000)"

    def run() -> None:
        cancel_by(spark.sparkContext.cancelAllJobs)
        # The sleep itself is broken off too, or its tasks would keep both cores from the tests that follow.
        spark.sparkContext.setInterruptOnCancel(True)
        spark.range(0, 2, 1, 2).selectExpr(sleep).collect()

    _, seconds = _interrupted(run)
    spark.sparkContext.setInterruptOnCancel(False)
    assert seconds < 30, "the job would have slept for longer"
    assert spark.range(7).count() == 7
    deadline = time.monotonic() + 20
    while spark.sparkContext.statusTracker().getActiveJobsIds():
        assert time.monotonic() < deadline, "the job still runs"
        time.sleep(0.1)


def test_an_answer_of_the_jvm_is_awaited(spark: SparkSession) -> None:
    jvm = spark._jvm
    assert jvm is not None
    answered: list[object] = []

    def wait() -> None:
        jvm.java.lang.Thread.sleep(2_500)
        answered.append(1)

    _, seconds = _interrupted(wait)
    assert seconds >= 1.5
    assert jvm.java.lang.Math.abs(-3) == 3


def test_an_answer_to_the_jvm_is_given_first(spark: SparkSession) -> None:
    jvm = spark._jvm
    assert jvm is not None
    given: list[str] = []

    def answer(question: str) -> str:
        time.sleep(1.5)
        given.append(question)
        return question

    asked = jvm.java.util.Optional.of("still there?")
    _interrupted(lambda: asked.map(_Function(answer)))
    assert given == ["still there?"]
    assert jvm.java.lang.Math.abs(-3) == 3


def test_a_second_signal_does_not_wait_for_the_jvm(spark: SparkSession) -> None:
    jvm = spark._jvm
    assert jvm is not None
    again = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    again.start()
    _, seconds = _interrupted(lambda: jvm.java.lang.Thread.sleep(8_000))
    assert seconds < 5
    # The connection that was given up is closed while the JVM still writes to it, so the next may fail once.
    with suppress(Py4JNetworkError):
        jvm.java.lang.Math.abs(-3)
    assert jvm.java.lang.Math.abs(-3) == 3

"""Actions are cancelled from another thread: real Spark jobs end, and the table stays as it was."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.opened import opened

import skipstone
from skipstone import Cancel, CancelledError
from skipstone.actions.action import Action
from skipstone.actions.advise import Advise
from skipstone.actions.index import Index
from skipstone.actions.replay import Replay
from skipstone.catalog import stamp
from skipstone.layout.options import LayoutOptions
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Query, Workload

# A fifth of a millisecond for each row, so minutes for the table; a task looks for its end after each batch.
SLOW = "length(sha2(repeat(CAST(k AS STRING), 20000), 512))"
ROWS = 1_000_000
SLEEP = "java_method('java.lang.Thread', 'sleep', k * 0 + 300000)"
LONG: dict[str, Action[object]] = {
    "index": Index(expressions=(SLOW,)),
    "advise": Advise(
        Workload((Query(f"SELECT k FROM slow WHERE {SLOW} = 128 AND k < 5"),)),
        LayoutOptions(block_rows=1_000),
    ),
    "replay": Replay(Workload((Query(f"SELECT {SLEEP} FROM slow WHERE k < 5"),))),
}


@pytest.fixture(scope="module")
def slow(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """A table of which an expression takes minutes to compute."""
    path = tmp_path_factory.mktemp("slow") / "slow"
    spark.range(0, ROWS, 1, 4).selectExpr("id % 10 AS k").write.format("delta").save(str(path))
    table = skipstone.table(spark, f"slow={path}")
    table.index()
    return table


def _running(spark: SparkSession) -> list[int]:
    return list(spark.sparkContext.statusTracker().getActiveJobsIds())


@pytest.fixture
def when_a_job_runs(spark: SparkSession) -> Iterator[Callable[[Callable[[], None]], None]]:
    """Calls something a moment after a Spark job has begun, in a thread of its own."""
    threads: list[threading.Thread] = []
    given_up = threading.Event()

    def call(work: Callable[[], None], moment: float = 1.0) -> None:
        def wait() -> None:
            while not given_up.wait(0.05):
                if jobs := _running(spark):
                    time.sleep(moment)
                    if set(jobs) & set(_running(spark)):  # a long one, not the small print of a job
                        work()
                        return

        threads.append(threading.Thread(target=wait))
        threads[-1].start()

    yield call
    given_up.set()
    for thread in threads:
        thread.join()


def _assert_no_job_runs(spark: SparkSession) -> None:
    deadline = time.monotonic() + 20
    while jobs := _running(spark):
        assert time.monotonic() < deadline, f"jobs still run: {jobs}"
        time.sleep(0.1)


def _all_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", LONG)
def test_a_long_job_ends_soon_after_the_request_and_nothing_is_published(
    spark: SparkSession, slow: skipstone.Table, when_a_job_runs: Callable[..., None], name: str
) -> None:
    action = LONG[name]
    before, catalog = _all_files(Path(slow.source)), stamp(opened(slow).store)
    cancel, requested_at = Cancel(), []

    def request() -> None:
        requested_at.append(time.monotonic())
        cancel.request()

    when_a_job_runs(request)
    with pytest.raises(CancelledError, match="The work was cancelled"):
        slow.perform(action, cancel=cancel)
    assert time.monotonic() - requested_at[0] < 30, "the job would have run for minutes"
    _assert_no_job_runs(spark)
    assert _all_files(Path(slow.source)) == before
    assert stamp(opened(slow).store) == catalog
    assert slow.status().expressions == ()
    assert spark.conf.get("spark.skipstone.enabled", None) is None


def test_a_token_that_was_used_ends_an_action_before_it_begins(
    spark: SparkSession, slow: skipstone.Table
) -> None:
    cancel = Cancel()
    cancel.request()
    events: list[str] = []
    for action in LONG.values():
        with pytest.raises(CancelledError):
            slow.perform(action, lambda what, done, total: events.append(what), cancel)
    assert events == []
    assert slow.perform(Index(), cancel=Cancel()).files_indexed == 0, "another token is another matter"


def test_only_the_jobs_of_the_action_are_cancelled(
    spark: SparkSession, slow: skipstone.Table, when_a_job_runs: Callable[..., None]
) -> None:
    counted: list[int] = []
    begun = threading.Event()
    sleep = "java_method('java.lang.Thread', 'sleep', id * 0 + 6000)"

    def count() -> None:
        begun.set()
        counted.append(len(spark.range(0, 1, 1, 1).selectExpr(sleep).collect()))

    other = threading.Thread(target=count)
    other.start()
    assert begun.wait(10)
    cancel = Cancel()
    when_a_job_runs(cancel.request, moment=3.0)
    with pytest.raises(CancelledError):
        slow.perform(LONG["index"], cancel=cancel)
    other.join()
    assert counted == [1]


def _cancelled_at(table: skipstone.Table, log: Workload, step: str) -> None:
    cancel, seen = Cancel(), []

    def request(what: str, done: int, total: int) -> None:
        if what == step:
            seen.append(what)
            cancel.request()

    with pytest.raises(CancelledError):
        table.optimize(log, "sop", block_rows=250, progress=request, cancel=cancel)
    assert seen, f"the step {step} was never begun"
    _assert_no_job_runs(table.spark)


def test_a_cancelled_rewrite_leaves_the_table_untouched_and_no_files_that_count(
    shipments: Callable[..., skipstone.Table], log: Workload
) -> None:
    table = shipments(rows=2_000)
    table.index()
    rows, version = hash_of(table.frame()), opened(table).snapshot.version
    before, catalog = _all_files(Path(table.source)), stamp(opened(table).store)
    for step in ("simulating sop", "writing blocks", "measuring blocks"):
        _cancelled_at(table, log, step)
        assert opened(table).snapshot.version == version, step
        assert hash_of(table.frame()) == rows, step
        left = set(_all_files(Path(table.source)))
        assert left >= set(before), step
        # Delta does not tell which files a task that is killed has begun; VACUUM removes them.
        for name in left - set(before):
            assert (step, Path(name).parent) == ("writing blocks", Path()), name
            (Path(table.source) / name).unlink()
        assert stamp(opened(table).store) == catalog, step
    done = table.optimize(log, "sop", block_rows=250, cancel=Cancel())
    assert (done.version, hash_of(table.frame())) == (version + 1, rows)

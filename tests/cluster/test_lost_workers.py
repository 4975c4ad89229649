"""Workers that die: a rewrite ends well or not at all, and nothing waits for ever."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cluster.standalone import Cluster
from tests.opened import opened
from tests.parcels import new_table, tasks_done

import skipstone
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Workload

# Far more than the eight seconds that actions wait here, for a machine that is busy with other things.
MOST_SECONDS = 480.0


class KillDuringWrite:
    """A listener to progress that acts once, while the tasks that write blocks run."""

    def __init__(self, path: Path, act: object) -> None:
        self._path = path
        self._act = act
        self._before = self._files()
        self.seen: tuple[int, int] | None = None

    def _files(self) -> int:
        return len(list(self._path.glob("part-*.parquet")))

    def __call__(self, what: str, done: int, total: int) -> None:
        if self.seen is None and what == "writing blocks" and self._files() > self._before + 1:
            self.seen = (done, total)
            self._act()  # type: ignore[operator]


@pytest.fixture
def fresh(spark: SparkSession, tmp_path: Path) -> skipstone.Table:
    table = new_table(spark, tmp_path / "parcels")
    table.index()
    return table


def live_paths(table: skipstone.Table) -> set[str]:
    return set(opened(table).files.paths)


def test_a_rewrite_outlives_a_worker_that_is_killed_while_it_writes(
    spark: SparkSession, cluster: Cluster, fresh: skipstone.Table, log: Workload
) -> None:
    before = hash_of(fresh.frame())
    kill = KillDuringWrite(Path(fresh.source), cluster.kill_worker)
    report = fresh.optimize(log, "qdtree", block_rows=400, progress=kill)
    assert kill.seen is not None, "the worker was killed"
    assert kill.seen[0] < kill.seen[1], "while tasks were left to do"
    assert report.rows == before.rows
    assert hash_of(fresh.frame()) == before
    known = set(opened(fresh).catalog.files.paths)
    assert live_paths(fresh) <= known, "every new block has its statistics"
    replayed = fresh.replay(Workload(log.queries[:2]))
    assert all(query.same_result and 0 < query.files_read < query.files_total for query in replayed.queries)


def test_without_any_worker_actions_end_with_one_sentence_and_go_on_once_there_is_one(
    spark: SparkSession, cluster: Cluster, fresh: skipstone.Table, log: Workload
) -> None:
    before, paths = hash_of(fresh.frame()), live_paths(fresh)
    kill = KillDuringWrite(Path(fresh.source), cluster.kill_workers)
    # Whatever waits for ever after all is ended, and then fails with another sentence.
    patience = threading.Timer(MOST_SECONDS, spark.sparkContext.cancelAllJobs)
    patience.daemon = True
    patience.start()
    with pytest.raises(
        skipstone.SkipstoneError, match=r"^Spark has had no executor for 8 seconds .* try again\.$"
    ):
        fresh.optimize(log, "qdtree", block_rows=400, progress=kill)
    assert kill.seen is not None, "the workers were killed while it wrote"
    with pytest.raises(skipstone.SkipstoneError, match="no executor"):
        fresh.index(rebuild=True)
    patience.cancel()
    cluster.add_workers(1)
    assert live_paths(fresh) == paths
    assert hash_of(fresh.frame()) == before
    assert opened(fresh).snapshot.version == 0
    assert fresh.index(rebuild=True).rows_indexed == before.rows
    assert tasks_done(spark)["driver"] == (0, 0)

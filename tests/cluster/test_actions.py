"""Every action on executors that are processes of their own and have no class of skipstone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.light_plans import GENERATED, settings_of
from tests.opened import opened
from tests.parcels import EAGER, ROWS, new_table, rows_of, tasks_done

import skipstone
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Query, Workload

BLOCK_ROWS = 2_500
PRICES = (100, 400, 900, 1_600, 2_500)


@pytest.fixture(scope="module")
def parcels(spark: SparkSession, shared_tables: Path) -> skipstone.Table:
    """One table that the tests of this module work on in their order."""
    return new_table(spark, shared_tables / "parcels")


@contextmanager
def on_executors(spark: SparkSession) -> Iterator[None]:
    """What is done meanwhile must run tasks, all of them on executors, and none of these may fail."""
    before = tasks_done(spark)
    yield
    after = tasks_done(spark)
    assert after["driver"] == (0, 0)
    assert sum(done for done, _ in after.values()) > sum(done for done, _ in before.values())
    assert not any(failed > before.get(name, (0, 0))[1] for name, (_, failed) in after.items())


def test_the_session_has_two_executors_of_its_own_and_sends_them_deltas_jars(spark: SparkSession) -> None:
    assert spark.range(0, 100, 1, 8).count() == 100
    assert {"driver", "0", "1"} <= tasks_done(spark).keys()
    jars = spark.sparkContext._jsc.sc().listJars()
    sent = [jars.apply(index) for index in range(jars.size())]
    assert any("delta-spark" in jar and jar.startswith("spark://") for jar in sent)


@pytest.mark.parametrize("generated", ["true", "false"])
def test_index_and_queries_run_there_and_skip(
    spark: SparkSession, parcels: skipstone.Table, generated: str
) -> None:
    query = "SELECT count(*), max(price) FROM parcels WHERE id < 3000"
    with settings_of(spark, GENERATED[generated]), on_executors(spark):
        report = parcels.index(expressions=["month(d)"], features=["mode = 'AIR'"], rebuild=True)
        assert report.files_indexed == report.files == len(opened(parcels).files)
        found = spark.sql(query).collect()
    (scan,) = parcels.explain(query).scans
    assert 0 < scan.files_read < scan.files_total
    spark.conf.set("spark.skipstone.enabled", "false")
    assert spark.sql(query).collect() == found


def test_auto_lays_the_table_out_and_rows_are_appended_by_the_layout(
    spark: SparkSession, parcels: skipstone.Table, log: Workload
) -> None:
    before = hash_of(parcels.frame())
    policy = skipstone.Policy(block_rows=BLOCK_ROWS, layouts=("qdtree",), new_blocks=2.0)
    with on_executors(spark):
        assert parcels.import_log(log) == (len(log.queries), ())
        decided = parcels.auto(policy=policy, model=EAGER)
    assert decided.acted, decided.sentence
    assert hash_of(parcels.frame()) == before
    with on_executors(spark):
        appended = parcels.append(rows_of(spark, ROWS, 6_000), policy=policy, model=EAGER)
    assert (appended.acted, appended.code) == (True, "LAID_OUT"), appended.sentence
    assert parcels.frame().count() == ROWS + 6_000


def test_optimize_keeps_every_row(spark: SparkSession, parcels: skipstone.Table, log: Workload) -> None:
    before = hash_of(parcels.frame())
    with on_executors(spark):
        report = parcels.optimize(log, "sop", block_rows=BLOCK_ROWS)
    assert report.layout == "sop"
    assert report.rows == before.rows
    assert hash_of(parcels.frame()) == before


def test_replay_gives_the_same_results_from_fewer_files(
    spark: SparkSession, parcels: skipstone.Table, log: Workload
) -> None:
    with on_executors(spark):
        report = parcels.replay(Workload(log.queries[:6:2]))
    assert all(query.same_result for query in report.queries)
    assert all(query.files_read > 0 for query in report.queries)
    assert sum(q.files_read for q in report.queries) < sum(q.files_total for q in report.queries)


@pytest.mark.parametrize("generated", ["true", "false"])
def test_replicas_are_made_and_read_there(
    spark: SparkSession, parcels: skipstone.Table, generated: str
) -> None:
    for name, value in GENERATED[generated].items():
        spark.conf.set(name, value)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    if not parcels.replicas().replicas:
        by_price = Workload(tuple(Query(f"SELECT id FROM parcels WHERE price < {most}") for most in PRICES))
        with on_executors(spark):
            made = parcels.replicate(by_price, "qdtree", block_rows=BLOCK_ROWS)
        assert made.rows == parcels.frame().count()
    queries = (
        "SELECT count(*), sum(id), max(mode) FROM parcels WHERE price < 200",
        "SELECT a.id, b.k FROM parcels a JOIN parcels b ON a.id = b.id + 1 WHERE a.price < 9 AND b.price < 9",
        "SELECT id FROM parcels WHERE price < 99 AND k IN (SELECT k FROM parcels WHERE price > 3700)",
    )
    for query in queries:
        with on_executors(spark):
            found = sorted(map(repr, spark.sql(query).collect()))
        assert any("_skipstone" in path for path in spark.sql(query).inputFiles()), query
        spark.conf.set("spark.skipstone.enabled", "false")
        assert sorted(map(repr, spark.sql(query).collect())) == found
        assert len(found) > 0
        spark.conf.set("spark.skipstone.enabled", "true")

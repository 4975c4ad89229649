"""Every action on a table in a bucket, where a rename is a copy and a file is there when it is closed."""

from __future__ import annotations

import threading
import urllib.request
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession
from tests.catalog.segments import segment
from tests.parcels import EAGER, ROWS, new_table, rows_of
from tests.s3.conftest import Server

import skipstone
from skipstone.catalog import load, publish, stamp
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Workload

BLOCK_ROWS = 2_500


@pytest.fixture(scope="module")
def parcels(spark: SparkSession) -> skipstone.Table:
    """One table that the tests of this module work on in their order."""
    return new_table(spark, "s3a://lake/parcels")


def objects(server: Server) -> list[str]:
    """The keys of all objects in the bucket, as the server lists them."""
    found: list[str] = []
    after = ""
    while True:
        with urllib.request.urlopen(f"{server.url}/lake?list-type=2&start-after={after}") as answer:
            tree = ET.parse(answer)
        keys = [key.text or "" for key in tree.iter() if key.tag.endswith("}Key")]
        if not keys:
            return found
        found += keys
        after = keys[-1]


def test_index_and_queries_skip(spark: SparkSession, parcels: skipstone.Table, server: Server) -> None:
    query = "SELECT count(*), max(price) FROM parcels WHERE id < 3000"
    report = parcels.index(expressions=["month(d)"], features=["mode = 'AIR'"])
    assert report.files_indexed == report.files == 4
    found = spark.sql(query).collect()
    (scan,) = parcels.explain(query).scans
    assert 0 < scan.files_read < scan.files_total
    spark.conf.set("spark.skipstone.enabled", "false")
    assert spark.sql(query).collect() == found
    assert [key for key in objects(server) if "/_skipstone/blocks/" in key]


def test_auto_lays_the_table_out_and_rows_are_appended_by_the_layout(
    spark: SparkSession, parcels: skipstone.Table, log: Workload
) -> None:
    before = hash_of(parcels.frame())
    policy = skipstone.Policy(block_rows=BLOCK_ROWS, layouts=("qdtree",), new_blocks=2.0)
    parcels.import_log(log)
    decided = parcels.auto(policy=policy, model=EAGER)
    assert decided.acted, decided.sentence
    assert hash_of(parcels.frame()) == before
    appended = parcels.append(rows_of(spark, ROWS, 6_000), policy=policy, model=EAGER)
    assert (appended.acted, appended.code) == (True, "LAID_OUT"), appended.sentence
    assert parcels.frame().count() == ROWS + 6_000


def test_optimize_keeps_every_row_and_replay_gives_the_same_results_from_fewer_files(
    parcels: skipstone.Table, log: Workload
) -> None:
    before = hash_of(parcels.frame())
    assert parcels.optimize(log, "selforg", block_rows=BLOCK_ROWS).rows == before.rows
    assert hash_of(parcels.frame()) == before
    report = parcels.replay(Workload(log.queries[:6:2]))
    assert all(query.same_result and query.files_read > 0 for query in report.queries)
    assert sum(q.files_read for q in report.queries) < sum(q.files_total for q in report.queries)


def test_the_catalog_is_published_without_a_draft_or_a_rename(
    parcels: skipstone.Table, server: Server
) -> None:
    ours = [key for key in objects(server) if "/_skipstone/" in key]
    assert {key.split("/")[2] for key in ours} >= {"blocks", "layouts", "decisions", "query_log"}
    requests = server.requests.read_text(errors="replace")
    (first, *_) = stamp(runtime_of(parcels.spark).store("s3a://lake/parcels"))
    assert f"PUT /lake/parcels/_skipstone/blocks/{first}" in requests
    assert "draft" not in requests


def test_publishers_at_the_same_moment_lose_nothing_and_readers_never_see_half(spark: SparkSession) -> None:
    root = "s3a://lake/publishers"
    runtime = runtime_of(spark)
    stop = threading.Event()
    seen: list[int] = []

    def look() -> None:
        while not stop.is_set():
            seen.append(len(load(runtime.store(root), root)))

    def work(publisher: int) -> None:
        for turn in range(5):
            publish(runtime.store(root), replace(segment([f"{publisher}-{turn}"]), created=f"{publisher}"))

    with ThreadPoolExecutor(5) as pool:
        reader = pool.submit(look)
        for done in [pool.submit(work, publisher) for publisher in range(4)]:
            done.result()
        stop.set()
        reader.result()
    assert len(load(runtime.store(root), root)) == 20
    assert seen == sorted(seen), "nothing that was once there was missed"


def test_of_two_writers_in_one_driver_no_commit_is_lost(spark: SparkSession) -> None:
    path = "s3a://lake/writers"
    spark.range(10).write.format("delta").save(path)

    def append(writer: int) -> None:
        spark.range(writer * 100, writer * 100 + 10).write.format("delta").mode("append").save(path)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(append, range(1, 4)))
    assert spark.read.format("delta").load(path).count() == 40

"""A disk on which nothing more can be written: one sentence, nothing half done, nothing left behind.

tests/full_disk.py says how it is done.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.full_disk import MOST_BYTES, full_disk
from tests.opened import opened

import skipstone
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.workload.queries import Query, Workload

TEXT = random.Random(0).randbytes(200_000).hex()


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> skipstone.Table:
    rows = spark.range(0, 100, 1, 1).selectExpr("id AS k", "CAST(id AS STRING) AS text")
    rows.write.format("delta").save(str(tmp_path / "t"))
    return skipstone.table(spark, f"t={tmp_path / 't'}")


def drafts(path: Path) -> list[str]:
    return [each.name for each in path.rglob("*") if ".draft" in each.name]


def test_rows_that_do_not_fit_on_the_disk_are_not_appended_and_one_sentence_says_so(
    spark: SparkSession, table: skipstone.Table
) -> None:
    rows = spark.range(0, 100, 1, 1).selectExpr("id AS k", f"concat(id, '{TEXT}') AS text")
    with full_disk(spark), pytest.raises(skipstone.SkipstoneError) as caught:
        table.append(rows)
    sentence = str(caught.value)
    assert sentence.startswith(f"The rows cannot be appended to file:{table.source} (File too large); ")
    assert "\n" not in sentence
    assert table.frame().count() == 100
    assert opened(table).snapshot.version == 0
    table.append(rows.limit(1))
    assert table.frame().count() == 101


def test_a_log_that_does_not_fit_on_the_disk_is_one_sentence(
    spark: SparkSession, table: skipstone.Table
) -> None:
    queries = Workload((Query(f"SELECT count(*) FROM t WHERE text = '{TEXT}'"),))
    with full_disk(spark), pytest.raises(skipstone.SkipstoneError) as caught:
        table.import_log(queries)
    assert str(caught.value) == (
        f"The query log file:{table.source}/_skipstone/query_log cannot be written (File too large)."
    )
    assert table.log() == ()
    assert table.import_log(queries) == (1, ())
    assert len(table.log()) == 1


def test_a_file_of_the_catalog_that_does_not_fit_on_the_disk_leaves_no_draft(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = runtime_of(spark).store(f"file:{tmp_path}")
    for _ in range(2):
        with full_disk(spark), pytest.raises(skipstone.SkipstoneError) as caught:
            store.write("_skipstone/blocks/00000001-aaaaaaaaaaaa.parquet", bytes(2 * MOST_BYTES))
        assert str(caught.value) == (
            f"cannot write file:{tmp_path}/_skipstone/blocks/00000001-aaaaaaaaaaaa.parquet (File too large)."
        )
    assert drafts(tmp_path) == []
    assert store.names("_skipstone/blocks") == []


def test_drafts_of_dead_writers_are_deleted_and_those_of_live_ones_stay(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = runtime_of(spark).store(f"file:{tmp_path}")
    folder = tmp_path / "_skipstone" / "blocks"
    folder.mkdir(parents=True)
    hours = {"dead": 25, "live": 23, "new": 0}
    for name, age in hours.items():
        path = folder / f".{name}.parquet.draft"
        path.write_bytes(b"begun")
        os.utime(path, (time.time() - 3_600 * age,) * 2)
    for name in (".dead.parquet.crc", "dead.draft", "dead.parquet"):
        (folder / name).write_bytes(b"no draft")
        os.utime(folder / name, (0, 0))
    store.write("_skipstone/blocks/fresh.parquet", b"whole")
    assert sorted(drafts(tmp_path)) == [".live.parquet.draft", ".new.parquet.draft", "dead.draft"]
    assert (folder / "dead.parquet").exists()
    assert store.read("_skipstone/blocks/fresh.parquet") == b"whole"


def test_a_path_where_nothing_can_be_written_is_named(spark: SparkSession, table: skipstone.Table) -> None:
    # Root may write anywhere, but nobody can make a folder where a file is.
    (Path(table.source) / "_skipstone").write_text("in the way")
    with pytest.raises(
        skipstone.SkipstoneError, match=f"{table.source}/_skipstone/query_log cannot be written"
    ):
        table.import_log(Workload((Query("SELECT * FROM t WHERE k < 5"),)))

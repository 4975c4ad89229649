"""UPDATE, DELETE, MERGE, conflicts, streams and concurrent writers on a table that skips."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType
from tests.e2e.checks import assert_same, assert_skips
from tests.e2e.conftest import write_orders
from tests.first_row import first_row
from tests.templates import Templates

import skipstone


@pytest.fixture
def written(spark: SparkSession, templates: Templates, tmp_path: Path) -> tuple[skipstone.Table, str]:
    """Four indexed files of 100 rows; the second is its name in SQL."""

    def make(path: Path) -> None:
        write_orders(spark, path, "delta", rows=400)
        skipstone.table(spark, str(path)).index()

    path = templates.copy("written", make, tmp_path / "t")
    return skipstone.table(spark, str(path)), f"delta.`{path}`"


def _counts(spark: SparkSession, name: str) -> tuple[int, int, int]:
    found = first_row(spark.sql(f"SELECT count(*), count_if(k = 77), count_if(id >= 1000) FROM {name}"))
    return found[0], found[1], found[2]


def test_update_delete_and_merge_change_exactly_their_rows(
    spark: SparkSession, written: tuple[skipstone.Table, str]
) -> None:
    table, name = written
    spark.sql(f"UPDATE {name} SET k = 77 WHERE id BETWEEN 95 AND 104")
    assert _counts(spark, name) == (400, 10, 0)
    spark.sql(f"DELETE FROM {name} WHERE id >= 390 OR name = 'none'")
    assert _counts(spark, name) == (390, 10, 0)
    spark.sql(
        f"""MERGE INTO {name} AS t
        USING (SELECT * FROM {name} WHERE id BETWEEN 200 AND 204) AS s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET k = 77 WHEN NOT MATCHED BY SOURCE AND t.id < 10 THEN DELETE"""
    )
    assert _counts(spark, name) == (380, 15, 0)
    spark.sql(
        f"""MERGE INTO {name} AS t
        USING (SELECT id + 1000 AS id FROM {name} WHERE id = 300) AS s ON t.id = s.id
        WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"""
    )
    assert _counts(spark, name) == (381, 15, 1)
    spark.sql(f"INSERT INTO {name} SELECT * FROM {name} WHERE id = 150")
    assert _counts(spark, name) == (382, 15, 1)
    table.index()
    assert_skips(table, f"SELECT id FROM {name} WHERE id = 1300", rows=1, read=1)
    assert_same(spark, f"SELECT id FROM {name} WHERE k = 77", rows=15)


def test_a_conflict_with_a_concurrent_change_is_still_detected(
    spark: SparkSession, written: tuple[skipstone.Table, str]
) -> None:
    """An UPDATE reads file 1 and waits; meanwhile those rows are deleted; the UPDATE must not win."""
    _, name = written
    folder = Path(name[7:-1]).parent
    reading, go = folder / "reading", folder / "go"

    def slow(value: int) -> int:
        reading.touch()
        for _ in range(1200):
            if go.exists():
                break
            time.sleep(0.1)
        return value

    spark.udf.register("slow", slow, LongType())
    with ThreadPoolExecutor(1) as pool:
        update = pool.submit(spark.sql, f"UPDATE {name} SET k = slow(id) WHERE id = 150")
        try:
            while not (reading.exists() or update.done()):
                time.sleep(0.1)
            spark.sql(f"DELETE FROM {name} WHERE id BETWEEN 140 AND 160")
        finally:
            go.touch()
        with pytest.raises(Exception, match="DELTA_CONCURRENT"):
            update.result(300)
    assert_same(spark, f"SELECT id FROM {name} WHERE id = 150", rows=0)


def test_a_stream_reads_everything(
    spark: SparkSession, written: tuple[skipstone.Table, str], tmp_path: Path
) -> None:
    _, name = written
    stream = spark.readStream.format("delta").load(name[7:-1]).where("id >= 350 OR k = 3")
    target = tmp_path / "out"
    writing = stream.select("id").writeStream.format("parquet").trigger(availableNow=True)
    query = writing.option("checkpointLocation", str(tmp_path / "checkpoint")).start(str(target))
    assert query.awaitTermination(120)
    expected = first_row(spark.sql(f"SELECT count(*) FROM {name} WHERE id >= 350 OR k = 3"))[0]
    assert spark.read.parquet(str(target)).count() == expected > 50


def test_appends_of_another_writer_while_queries_run(
    spark: SparkSession, written: tuple[skipstone.Table, str]
) -> None:
    table, name = written
    other = spark.newSession()
    problems: list[str] = []

    def append() -> None:
        for start in (1000, 1100, 1200):
            write_orders(other, Path(table.source), "delta", start=start, rows=100)

    writer = threading.Thread(target=append)
    writer.start()
    seen = [0]
    while writer.is_alive():
        seen.append(first_row(spark.sql(f"SELECT count(*) FROM {name} WHERE id >= 1000"))[0])
        if first_row(spark.sql(f"SELECT count(*) FROM {name} WHERE id < 10"))[0] != 10:
            problems.append("rows lost")
    writer.join()
    assert not problems
    assert seen == sorted(seen)
    assert_skips(table, f"SELECT id FROM {name} WHERE id >= 1000", rows=300, read=3)

"""Files that are missing or damaged: another copy answers, or the query fails as without skipstone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.e2e.checks import answer, assert_same, frame_of, scan_of, settings, write_files
from tests.e2e.replicated import (
    assert_base,
    assert_copied,
    replica_files,
    replicate,
    verdicts,
    write_rows,
)

import skipstone
from skipstone.actions.replicate import Replicate
from skipstone.catalog.store import digest_of
from skipstone.layout.options import LayoutOptions
from skipstone.workload.queries import Query, Workload


def name_of(table: skipstone.Table) -> str:
    return f"delta.`{table.source}`"


def low(table: skipstone.Table) -> str:
    return f"SELECT * FROM {name_of(table)} WHERE k < 60"


def folder(table: skipstone.Table) -> Path:
    return Path(table.source) / "_skipstone" / "replicas"


def parquet_of(table: skipstone.Table) -> list[Path]:
    """The data files of the replica."""
    return sorted(path for path in folder(table).rglob("part-*.parquet"))


def base_of(table: skipstone.Table) -> list[Path]:
    return sorted(Path(table.source).glob("part-*.parquet"))


def test_a_replica_that_lacks_a_file_is_not_read_until_it_is_back(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    assert_copied(replicated, low(replicated))
    lost = parquet_of(replicated)[0]
    data = lost.read_bytes()
    lost.unlink()
    assert_same(spark, low(replicated))
    assert verdicts(scan_of(replicated, low(replicated))) == {"FILES_MISSING": 1, "CHEAPER": 1}
    lost.write_bytes(data)
    assert_copied(replicated, low(replicated))
    for path in parquet_of(replicated):
        path.unlink()
    assert_base(replicated, low(replicated), "FILES_MISSING")


def overwrite(path: Path, data: bytes) -> None:
    """In place: the folder does not tell."""
    before = path.parent.stat().st_mtime_ns
    path.write_bytes(data)
    assert path.parent.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    "change", [lambda data: data[: len(data) // 2], lambda data: data + b"more", lambda _: b""]
)
def test_a_file_of_a_replica_that_has_another_size_is_not_read_and_the_base_answers(
    spark: SparkSession, replicated: skipstone.Table, change: Callable[[bytes], bytes]
) -> None:
    assert_copied(replicated, low(replicated))
    read = [url for url in frame_of(spark, low(replicated)).inputFiles() if "_skipstone" in url]
    damaged = Path(unquote(urlparse(read[0]).path))
    data = damaged.read_bytes()
    overwrite(damaged, change(data))
    assert_same(spark, low(replicated))
    assert verdicts(scan_of(replicated, low(replicated))) == {"FILES_MISSING": 1, "CHEAPER": 1}
    assert str(damaged) not in str(frame_of(spark, low(replicated)).inputFiles())
    assert "another size" in str(replicated.explain(frame_of(spark, low(replicated))))
    high = f"SELECT * FROM {name_of(replicated)} WHERE k >= 900"
    assert_copied(replicated, high)
    overwrite(damaged, data)
    assert_copied(replicated, low(replicated))


def test_where_all_copies_have_files_of_another_size_the_base_answers(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    replicate(replicated, by="id")
    for path in parquet_of(replicated):
        overwrite(path, path.read_bytes()[:-9])
    for query in (low(replicated), f"SELECT * FROM {name_of(replicated)} WHERE k < 60 AND id < 200"):
        assert_same(spark, query)
        assert "FILES_MISSING" in verdicts(scan_of(replicated, query))
        assert replica_files(spark, query) == 0
    report = replicated.repair()
    assert report.whole
    assert len(report.damages) == 4
    assert verdicts(scan_of(replicated, low(replicated)))["CHEAPER"] == 2


def test_a_missing_base_file_is_answered_by_the_replica(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    queries = [
        low(replicated),
        f"SELECT * FROM {name_of(replicated)} WHERE id < 150",
        f"SELECT * FROM {name_of(replicated)}",
        f"SELECT p, count(name), sum(st.a) FROM {name_of(replicated)} GROUP BY p",
        f"SELECT count(*) FROM {name_of(replicated)}",
        f"SELECT a.id FROM {name_of(replicated)} a JOIN {name_of(replicated)} b ON a.id = b.id + 1",
        f"SELECT max(id) FROM {name_of(replicated)} WHERE id > (SELECT avg(k) FROM {name_of(replicated)})",
    ]
    truths = [answer(spark, query) for query in queries]
    base_of(replicated)[0].unlink()
    for query, truth in zip(queries, truths, strict=True):
        assert answer(spark, query) == truth, query
    assert verdicts(scan_of(replicated, low(replicated))) == {"BASE_MISSING": 1, "CHEAPER": 1}
    assert verdicts(scan_of(replicated, queries[2])) == {"BASE_MISSING": 1, "BASE_CHEAPER": 1}
    assert len(answer(spark, f"SELECT * FROM {name_of(replicated)} LIMIT 300")) == 300
    with settings(spark, spark__skipstone__enabled="false"), pytest.raises((PySparkException, Py4JError)):
        answer(spark, queries[2])


def test_rows_that_no_copy_has_any_more_fail_the_query(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    spark.sql(f"DELETE FROM {name_of(replicated)} WHERE id % 100 = 5")
    for path in base_of(replicated):
        path.unlink()
    with pytest.raises((PySparkException, Py4JError)):
        answer(spark, low(replicated))


def test_vacuum_leaves_the_replica_alone_and_earlier_versions_are_answered_by_it(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    truth = answer(spark, low(replicated))
    kept = sorted(folder(replicated).rglob("*"))
    spark.sql(f"OPTIMIZE {name_of(replicated)}")
    with settings(spark, spark__databricks__delta__retentionDurationCheck__enabled="false"):
        spark.sql(f"VACUUM {name_of(replicated)} RETAIN 0 HOURS")
    assert sorted(folder(replicated).rglob("*")) == kept
    assert len(base_of(replicated)) == 1
    assert assert_base(replicated, low(replicated), "STALE") == truth
    assert answer(spark, f"SELECT * FROM {name_of(replicated)} VERSION AS OF 0 WHERE k < 60") == truth


@pytest.mark.parametrize("which", ["*.json", "*/*/blocks-*.parquet"])
def test_a_damaged_record_leaves_its_partition_out(
    spark: SparkSession, replicated: skipstone.Table, which: str
) -> None:
    path = next(folder(replicated).glob(which))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(bytes(data))
    for crc in path.parent.glob(f".{path.name}.crc"):
        crc.unlink()
    table = skipstone.table(spark, replicated.source)
    write_rows(spark, Path(table.source), start=1000, rows=100)  # so that all is read anew
    report = table.refresh()
    assert report.rows == 300, "what the damaged one covered, and what is new"
    assert len(table.replicas().problems) == 1
    assert_copied(table, low(table))


def test_a_copy_by_a_newer_version_is_left_alone_and_what_it_held_is_copied_again(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    record = next(folder(replicated).glob("*.json"))
    data = json.dumps(json.loads(record.read_bytes()) | {"format": 99, "new": "unknown"}).encode()
    newer = record.with_name(f"{record.name.partition('-')[0]}-{digest_of(data)}.json")
    files = set(folder(replicated).rglob("part-*.parquet"))
    record.unlink()
    newer.write_bytes(data)
    table = skipstone.table(spark, replicated.source)
    assert table.refresh().rows == 200, "what it covers"
    (problem,) = table.replicas().problems
    assert "it was written by a newer skipstone, in format 99" in problem
    assert_copied(table, low(table))
    assert newer.exists()
    assert files < set(folder(table).rglob("part-*.parquet")), "its files stay"


def test_a_frame_that_was_planned_before_a_refresh_still_answers(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    frame = spark.sql(low(replicated))
    truth = sorted(map(repr, frame.collect()))
    assert replica_files(spark, low(replicated)) > 0
    spark.sql(f"UPDATE {name_of(replicated)} SET name = 'new'")
    assert replicated.refresh().partitions_retired == 2
    assert sorted(map(repr, frame.collect())) == truth
    assert_same(spark, low(replicated))


def test_a_frame_that_was_planned_before_a_drop_still_answers(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    frame = spark.sql(low(replicated))
    assert any("_skipstone" in path for path in frame.inputFiles())
    dropped = replicated.drop(replicated.replicas().replicas[0].id)
    assert "to be deleted in a day" in str(dropped)
    assert sorted(map(repr, frame.collect())) == assert_same(spark, low(replicated))
    assert replica_files(spark, low(replicated)) == 0


def add_file(path: Path, name: str, rows: pa.Table) -> None:
    """Add a file as other writers do: Delta's own writes none without rows."""
    pq.write_table(rows, path / name)
    add = {"path": name, "partitionValues": {}, "size": (path / name).stat().st_size, "dataChange": True}
    commit = json.dumps({"add": {**add, "modificationTime": 1_900_000_000_000}})
    (path / "_delta_log" / f"{1:020d}.json").write_text(commit)


def test_base_files_without_rows_are_no_partition_of_a_replica(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"id": range(100), "k": [id_ * 37 % 1000 for id_ in range(100)]})
    write_files(tmp_path / "t", [rows[:50], rows[50:]])
    spark.sql(f"CONVERT TO DELTA parquet.`{tmp_path / 't'}`")
    add_file(tmp_path / "t", "empty.parquet", rows[:0])
    table = skipstone.table(spark, str(tmp_path / "t"))
    assert table.replicas().files == 3
    log = Workload(tuple(Query(f"SELECT 1 FROM {name_of(table)} WHERE k < {most}") for most in (200, 500)))
    report = table.perform(Replicate(log, "qdtree", LayoutOptions(block_rows=10), partition_rows=25))
    assert (report.rows, report.partitions) == (100, 2)
    assert table.replicas().problems == ()
    assert_same(spark, low(table))
    assert table.refresh().partitions_made == 0
    spark.sql(f"DELETE FROM {name_of(table)}")
    assert_same(spark, low(table), rows=0)
    table.refresh()
    assert table.replicas().problems == ()
    assert_same(spark, low(table), rows=0)

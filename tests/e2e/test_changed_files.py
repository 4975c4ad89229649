"""Files that came, went or changed after indexing: what has no entry for exactly its bytes is read."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same, assert_skips, indexed, scan_of, write_files
from tests.e2e.conftest import write_orders

import skipstone


@pytest.mark.parametrize("format_", ["parquet", "delta"])
def test_an_appended_file_is_read_until_it_is_indexed(
    spark: SparkSession, tmp_path: Path, format_: str
) -> None:
    path, name = tmp_path / "t", f"appended_{format_}"
    write_orders(spark, path, format_, rows=300)
    indexed(spark, name, path)
    write_orders(spark, path, format_, start=1000, rows=200)
    table = skipstone.table(spark, f"{name}={path}")
    scan = assert_skips(table, f"SELECT id FROM {name} WHERE id = 1150", rows=1, read=2)
    assert scan.files_unindexed == 2
    assert "NOT_INDEXED" in str(table.explain(f"SELECT id FROM {name} WHERE id = 1150"))
    report = table.index()
    assert (report.files, report.files_indexed, report.rows_indexed) == (5, 2, 200)
    assert_skips(table, f"SELECT id FROM {name} WHERE id = 1150", rows=1, read=1)
    assert table.index().files_indexed == 0


def test_a_file_overwritten_under_the_same_name_is_read(spark: SparkSession, tmp_path: Path) -> None:
    """Also when the new one has the same size."""
    path = tmp_path / "t"
    write_files(path, [pa.table({"x": [n, n]}) for n in (1, 2, 3)], compression="none")
    indexed(spark, "overwritten", path)
    target = path / "part-001.parquet"
    size, moment = target.stat().st_size, target.stat().st_mtime_ns
    pq.write_table(pa.table({"x": [7, 7]}), target, compression="none")
    assert target.stat().st_size == size
    os.utime(target, ns=(moment, moment + 1_000_000))
    table = skipstone.table(spark, f"overwritten={path}")
    scan = assert_skips(table, "SELECT x FROM overwritten WHERE x = 7", rows=2, read=1)
    assert scan.files_unindexed == 1
    assert table.index().files_indexed == 1
    assert_skips(table, "SELECT x FROM overwritten WHERE x = 7", rows=2, read=1)
    pq.write_table(pa.table({"x": [9] * 1000}), path / "part-000.parquet")
    table = skipstone.table(spark, f"overwritten={path}")
    assert_skips(table, "SELECT x FROM overwritten WHERE x = 9", rows=1000, read=1)


def test_a_table_replaced_by_other_files_is_read(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    write_orders(spark, path, "parquet", rows=300)
    indexed(spark, "replaced", path)
    spark.range(5000, 5200, 1, 2).write.mode("overwrite").parquet(str(path))
    table = skipstone.table(spark, f"replaced={path}")
    assert_same(spark, "SELECT id FROM replaced WHERE id = 5001", rows=1)
    table.index()
    assert_skips(table, "SELECT id FROM replaced WHERE id = 5001", rows=1, read=1)


def test_files_without_rows_and_tables_without_files(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    write_files(path, [pa.table({"x": pa.array([], pa.int64())}), pa.table({"x": [5]}), pa.table({"x": [7]})])
    table = indexed(spark, "rowless", path)
    assert_skips(table, "SELECT x FROM rowless WHERE x > 6", rows=1, read=1)
    assert_skips(table, "SELECT x FROM rowless WHERE x IS NULL", rows=0, read=0)
    empty = tmp_path / "empty"
    spark.createDataFrame([], "x INT").write.format("delta").save(str(empty))
    table = skipstone.table(spark, f"fileless={empty}")
    assert table.index().files_indexed == 0
    assert_same(spark, "SELECT x FROM fileless WHERE x > 6", rows=0)


def test_a_catalog_that_is_deleted_or_made_by_another_process_is_noticed(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skipstone.spark.bridge.runtime._LOOK_AGAIN_SECONDS", 0.0)
    path = tmp_path / "t"
    write_orders(spark, path, "parquet", rows=300)
    table = indexed(spark, "noticed", path)
    for file in (path / "_skipstone" / "blocks").iterdir():
        file.unlink()
    assert_same(spark, "SELECT id FROM noticed WHERE id = 5", rows=1)
    assert scan_of(table, "SELECT id FROM noticed WHERE id = 5").files_read == 3

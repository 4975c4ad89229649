from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from skipstone.spark.bridge.janino import new_instance


def opened(spark: SparkSession, path: Path, format_: str) -> Any:
    frame = spark.read.format(format_).load(str(path))
    return new_instance(spark, "SkipstoneDeltaOpener").open(frame._jdf)


def texts(data: bytes) -> list[str]:
    return bytes(data).decode().split("\0")


def vectors(files: Any) -> dict[str, str]:
    return dict(zip(texts(files.paths()), texts(files.vectors()), strict=True))


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    """40 rows in four files, k in order."""
    writer = spark.range(0, 40, 1, 4).withColumnRenamed("id", "k").write.format("delta")
    writer.option("delta.enableDeletionVectors", "true").save(str(tmp_path / "t"))
    return tmp_path / "t"


def test_each_deletion_vector_of_a_file_has_a_text_of_its_own(spark: SparkSession, table: Path) -> None:
    seen = [opened(spark, table, "delta")]
    for condition in ("k = 3", "k = 4", "k = 25"):
        spark.sql(f"DELETE FROM delta.`{table}` WHERE {condition}")
        seen.append(opened(spark, table, "delta"))
    first, second, third, last = map(vectors, seen)
    assert set(first) == set(last), "no file was rewritten"
    assert set(first.values()) == {""}
    assert [sum(map(bool, found.values())) for found in (first, second, third, last)] == [0, 1, 1, 2]
    (file,) = (path for path, text in second.items() if text)
    assert second[file] != third[file], "one more row is deleted"
    assert third[file] == last[file], "another file has changed"
    assert [files.version() for files in seen] == [0, 1, 2, 3]


def test_a_restored_table_has_the_vectors_of_its_old_version(spark: SparkSession, table: Path) -> None:
    spark.sql(f"DELETE FROM delta.`{table}` WHERE k = 3")
    before = vectors(opened(spark, table, "delta"))
    spark.sql(f"DELETE FROM delta.`{table}` WHERE k IN (4, 14)")
    spark.sql(f"RESTORE TABLE delta.`{table}` TO VERSION AS OF 1")
    restored = opened(spark, table, "delta")
    assert vectors(restored) == before
    assert restored.version() == 3


def test_plain_files_have_no_vectors_and_no_version(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(0, 40, 1, 4).write.parquet(str(tmp_path / "p"))
    files = opened(spark, tmp_path / "p", "parquet")
    assert texts(files.vectors()) == [""] * 4
    assert files.version() == -1

"""Ways of reading that tell files or changes apart: they read the base, and answer as without a replica."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from delta.tables import DeltaTable, IdentityGenerator
from pyspark.sql import DataFrame, SparkSession
from tests.e2e.checks import answer, assert_same
from tests.e2e.replicated import assert_copied, replica_files, replicate

import skipstone


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """400 rows with an identity column, row tracking and a change feed, and a replica in the order of k."""
    path = tmp_path_factory.mktemp("reads") / "t"
    builder = DeltaTable.create(spark).location(str(path))
    builder = builder.addColumn("number", "BIGINT", generatedAlwaysAs=IdentityGenerator())
    builder = builder.addColumn("k", "INT").addColumn("name", "STRING")
    for feature in ("enableChangeDataFeed", "enableRowTracking"):
        builder = builder.property(f"delta.{feature}", "true")
    builder.execute()
    append(spark, path, 0, 400, 8)
    table = skipstone.table(spark, str(path))
    assert replicate(table).partitions == 2
    return table


def append(spark: SparkSession, path: Path | str, start: int, rows: int, files: int = 1) -> None:
    columns = ("CAST(pmod(xxhash64(id), 1000) AS INT) AS k", "concat('n', id) AS name")
    frame = spark.range(start, start + rows, 1, files).selectExpr(*columns)
    frame.write.format("delta").mode("append").save(str(path))


@pytest.mark.parametrize(
    "columns",
    [
        "_metadata.file_path",
        "_metadata.row_index",
        "_metadata.row_id, _metadata.row_commit_version",
        "_metadata.file_size, _metadata.file_modification_time",
    ],
)
def test_columns_of_metadata_are_those_of_the_base(table: skipstone.Table, columns: str) -> None:
    query = f"SELECT number, k, {columns} FROM delta.`{table.source}` WHERE k < 60"
    found = assert_same(table.spark, query)
    assert len(found) == len(set(found)) > 0
    assert "_skipstone" not in str(found)
    assert replica_files(table.spark, query) == 0


def test_a_filter_on_metadata_reads_the_base(table: skipstone.Table) -> None:
    name = f"delta.`{table.source}`"
    query = f"SELECT * FROM {name} WHERE k < 60 AND _metadata.row_id < 200"
    assert assert_same(table.spark, query)
    assert replica_files(table.spark, query) == 0


def test_identity_columns_are_copied_and_go_on(table: skipstone.Table) -> None:
    spark, name = table.spark, f"delta.`{table.source}`"
    assert_copied(table, f"SELECT number, name FROM {name} WHERE k < 60")
    numbers = f"SELECT count(*) = count(DISTINCT number) FROM {name}"
    append(spark, table.source, 1000, 50)
    assert answer(spark, numbers) == ["Row((count(1) = count(DISTINCT number))=True)"]
    assert_copied(table, f"SELECT number, name FROM {name} WHERE k < 60", partitions=2)
    assert table.refresh().rows == 50
    # To read one file of the base costs no more than one of the replica.
    assert_copied(table, f"SELECT number, name FROM {name} WHERE k < 60", partitions=2)


def streamed(spark: SparkSession, read: Callable[[], DataFrame], home: Path) -> list[str]:
    """All rows of a stream until now."""
    writer = read().writeStream.format("delta").option("checkpointLocation", str(home / "checkpoint"))
    writer.trigger(availableNow=True).start(str(home / "out")).awaitTermination()
    return answer(spark, f"SELECT * FROM delta.`{home / 'out'}`")


def test_streams_and_change_feeds_read_what_was_written(table: skipstone.Table, tmp_path: Path) -> None:
    spark, path = table.spark, table.source
    rows = f"SELECT * FROM delta.`{path}` WHERE k < 60"
    found = streamed(spark, lambda: spark.readStream.format("delta").load(path).where("k < 60"), tmp_path)
    assert found == assert_same(spark, rows)
    spark.sql(f"UPDATE delta.`{path}` SET name = 'new' WHERE k < 30")

    def feed() -> DataFrame:
        reader = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 1)
        return reader.load(path).where("k < 60").drop("_commit_timestamp")

    changed = assert_same(spark, feed)
    kinds = {kind for kind in ("insert", "update_preimage", "update_postimage") if kind in str(changed)}
    assert kinds == {"insert", "update_preimage", "update_postimage"}
    assert replica_files(spark, feed) == 0

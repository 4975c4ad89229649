"""Partitioned tables: by path or by name, values with odd characters, partitions read on their own."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.e2e.checks import assert_same, assert_skips, indexed, write_files

import skipstone

ODD = ("a b", "50%", "x=y", "é/ß", "%20", "q?#&")


@pytest.fixture(scope="module", params=["parquet", "delta"])
def odd(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> skipstone.Table:
    """Six partitions of ten rows and a path with a space and a percent sign."""
    path = tmp_path_factory.mktemp("odd") / f"my table 100%20 {request.param}"
    values = ", ".join(f"'{value}'" for value in ODD)
    spark.range(0, 60, 1, 1).selectExpr(
        "id", f"array({values})[id DIV 10] AS p", "id % 10 AS x"
    ).write.format(request.param).partitionBy("p").save(str(path))
    return indexed(spark, f"odd_{request.param}", path)


def test_partition_values_with_odd_characters(odd: skipstone.Table) -> None:
    for index, value in enumerate(ODD):
        query = f"SELECT id FROM {odd.name} WHERE (p = '{value}' AND x = 3) OR id = {10 * index + 4}"
        assert_skips(odd, query, rows=2, read=1)
        assert_same(odd.spark, f"SELECT id FROM {odd.name} WHERE p = '{value}'", rows=10)
    assert odd.status().files_indexed == 6


def test_spark_prunes_partitions_and_skipstone_prunes_within(odd: skipstone.Table) -> None:
    query = f"SELECT id FROM {odd.name} WHERE p IN ('50%', 'x=y') AND id > 25"
    scan = assert_skips(odd, query, rows=4, read=1)
    assert odd.spark.sql(query).inputFiles().__len__() == 1
    # Delta's own statistics leave out one more; in a Parquet directory only partitions are Spark's.
    assert (scan.files_pruned, scan.files_skipped) in ((4, 1), (5, 0)), (
        "partitions are pruned by Spark, not by us"
    )
    assert [reason.predicate for reason in scan.read] == ["id > 25L"]
    assert scan.filter_text == "p IN ('50%', 'x=y') AND id > 25"


def test_a_partitioned_table_of_the_catalog_skips(spark: SparkSession) -> None:
    spark.range(0, 60, 1, 2).selectExpr("id", "id % 3 AS p").write.partitionBy("p").saveAsTable(
        "by_name", format="parquet"
    )
    try:
        table = skipstone.table(spark, "by_name")
        table.index()
        assert_skips(table, "SELECT id FROM by_name WHERE id < 10", rows=10, read=3)
        assert_skips(table, "SELECT id FROM by_name WHERE id < 10 AND p IN (0, 1)", rows=7, read=2)
        assert_skips(table, "SELECT id FROM by_name WHERE id < 10 AND p = 1", rows=3, read=1)
        assert_same(spark, "SELECT id FROM by_name WHERE p = 2 OR id = 0", rows=21)
    finally:
        spark.sql("DROP TABLE by_name")


def test_a_metastore_that_says_another_value_than_the_path_is_believed(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "moved"
    spark.range(0, 20, 1, 1).selectExpr("id", "id DIV 10 AS p").write.partitionBy("p").parquet(str(path))
    indexed(spark, "moved_by_path", path)
    spark.sql(f"CREATE TABLE moved (id BIGINT, p BIGINT) USING parquet PARTITIONED BY (p) LOCATION '{path}'")
    try:
        spark.sql(f"ALTER TABLE moved ADD PARTITION (p = 7) LOCATION '{path}/p=0'")
        spark.sql(f"ALTER TABLE moved ADD PARTITION (p = 8) LOCATION '{path}/p=1'")
        assert_same(spark, "SELECT id FROM moved WHERE p = 7", rows=10)
        assert_same(spark, "SELECT id FROM moved WHERE p = 7 AND id = 3 OR p = 8 AND id = 13", rows=2)
        skipstone.table(spark, "moved").index(rebuild=True)
        assert_same(spark, "SELECT id FROM moved_by_path WHERE p = 0 AND id = 3 OR id = 13", rows=2)
        assert_same(spark, "SELECT id FROM moved WHERE p = 7 AND id = 3 OR p = 8 AND id = 13", rows=2)
    finally:
        spark.sql("DROP TABLE moved")


def test_a_partition_read_on_its_own_has_the_stored_column(spark: SparkSession, tmp_path: Path) -> None:
    """Read from the root, the path's value hides the column of the same name that is in the file."""
    path = tmp_path / "hidden"
    for part in (0, 1):
        write_files(path / f"p={part}", [pa.table({"p": [7 + n, 8 + n], "x": [n, n]}) for n in (0, 10)])
    table = indexed(spark, "hidden", path)
    assert_same(spark, "SELECT x FROM hidden WHERE p = 1", rows=4)
    assert_same(spark, "SELECT x FROM hidden WHERE p = 1 AND x = 10 OR x = 99", rows=2)
    alone = f"parquet.`{path}/p=1`"
    assert_same(spark, f"SELECT x FROM {alone} WHERE p = 18", rows=1)
    assert_same(spark, f"SELECT x FROM {alone} WHERE p = 1", rows=0)
    assert_skips(table, f"SELECT x FROM {alone} WHERE x = 10", rows=2, read=1)

    def flat() -> DataFrame:
        return spark.read.option("recursiveFileLookup", "true").parquet(str(path))

    assert_same(spark, lambda: flat().where("p = 18"), rows=2)
    assert_skips(table, lambda: flat().where("p > 0 AND x = 10"), rows=4, read=2)


def test_a_given_base_path_or_several_paths(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "based"
    spark.range(0, 40, 1, 2).selectExpr("id", "id % 2 AS p").write.partitionBy("p").parquet(str(path))
    table = indexed(spark, "based", path)

    def one() -> DataFrame:
        return spark.read.option("basePath", str(path)).parquet(f"{path}/p=1").where("id < 4 AND p = 1")

    def both() -> DataFrame:
        return spark.read.option("basePath", str(path)).parquet(f"{path}/p=1", f"{path}/p=0").where("id < 4")

    assert_skips(table, one, rows=2, read=1)
    assert_skips(table, both, rows=4, read=2)

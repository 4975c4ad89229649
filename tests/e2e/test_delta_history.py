"""What Delta does after indexing: deletion vectors, RESTORE, VACUUM, time travel, OPTIMIZE, CLONE."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same, assert_skips, scan_of, settings
from tests.e2e.conftest import write_orders
from tests.first_row import first_row
from tests.templates import Templates

import skipstone


@pytest.fixture
def history(spark: SparkSession, templates: Templates, tmp_path: Path) -> tuple[skipstone.Table, str]:
    """Four indexed files of 100 rows, with deletion vectors allowed; the second is its name in SQL."""

    def make(path: Path) -> None:
        with settings(spark, spark__databricks__delta__properties__defaults__enableDeletionVectors="true"):
            write_orders(spark, path, "delta", rows=400)
        skipstone.table(spark, str(path)).index(features=["mode = 'AIR' AND id < 250"])

    path = templates.copy("history", make, tmp_path / "t")
    return skipstone.table(spark, str(path)), f"delta.`{path}`"


def test_deletion_vectors_added_and_restored_after_indexing(
    spark: SparkSession, history: tuple[skipstone.Table, str]
) -> None:
    table, name = history
    spark.sql(f"DELETE FROM {name} WHERE id BETWEEN 150 AND 160")
    commit = first_row(spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1"))
    assert commit["operationMetrics"]["numDeletionVectorsAdded"] == "1"
    assert_skips(table, f"SELECT id FROM {name} WHERE id BETWEEN 145 AND 165", rows=10, read=1)
    assert_skips(table, f"SELECT id FROM {name} WHERE id = 155", rows=0)
    table.index(rebuild=True)  # with the rows deleted
    assert_skips(table, f"SELECT id FROM {name} WHERE id >= 390", rows=10, read=1)
    spark.sql(f"DELETE FROM {name} WHERE id >= 390")
    table.index(rebuild=True)
    spark.sql(f"RESTORE TABLE {name} TO VERSION AS OF 0")
    assert_skips(table, f"SELECT id FROM {name} WHERE id = 155", rows=1, read=1)
    assert_skips(table, f"SELECT id FROM {name} WHERE id >= 390", rows=10, read=1)
    assert_same(spark, f"SELECT count(*) FROM {name}")


def test_time_travel_and_restore_and_vacuum(
    spark: SparkSession, history: tuple[skipstone.Table, str]
) -> None:
    table, name = history
    write_orders(spark, Path(table.source), "delta", start=1000, rows=100)
    spark.sql(f"UPDATE {name} SET k = 99 WHERE id = 5")
    table.index()
    old = f"SELECT id, k FROM {name} VERSION AS OF 0 WHERE id = 5"
    assert "k=99" not in assert_same(spark, old, rows=1)[0]
    assert scan_of(table, old).files_read == 1
    assert_skips(table, f"SELECT id FROM {name} VERSION AS OF 0 WHERE id >= 1000", rows=0)
    assert_skips(table, f"SELECT id FROM {name} VERSION AS OF 1 WHERE id >= 1000", rows=100, read=1)
    spark.sql(f"RESTORE TABLE {name} TO VERSION AS OF 1")
    assert_skips(table, f"SELECT id FROM {name} WHERE id = 5 AND k = 5", rows=1, read=1)
    with settings(spark, spark__databricks__delta__retentionDurationCheck__enabled="false"):
        spark.sql(f"VACUUM {name} RETAIN 0 HOURS")
    assert (Path(table.source) / "_skipstone").is_dir()
    assert_skips(table, f"SELECT id FROM {name} WHERE id = 5", rows=1, read=1)
    assert_same(spark, f"SELECT sum(id) FROM {name} WHERE id > 50")


@pytest.mark.parametrize("how", ["", "ZORDER BY (k)"])
def test_files_that_optimize_wrote_are_read_then_indexed(
    spark: SparkSession, history: tuple[skipstone.Table, str], how: str
) -> None:
    table, name = history
    write_orders(spark, Path(table.source), "delta", start=1000, rows=100)
    spark.conf.set("spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled", "false")
    spark.sql(f"OPTIMIZE {name} {how}")
    query = f"SELECT id FROM {name} WHERE id = 1050"
    scan = table.explain(query).scans[0]
    assert (scan.files_total, scan.files_unindexed, scan.files_read) == (1, 1, 1)
    assert_same(spark, query, rows=1)
    write_orders(spark, Path(table.source), "delta", start=2000, rows=100)
    assert table.index().files_indexed == 2
    assert_skips(table, query, rows=1, read=1)
    assert_skips(table, f"SELECT id FROM {name} WHERE id >= 2000", rows=100, read=1)


def test_a_shallow_clone_has_a_catalog_of_its_own(
    spark: SparkSession, history: tuple[skipstone.Table, str], tmp_path: Path
) -> None:
    _, name = history
    clone = f"delta.`{tmp_path / 'clone'}`"
    spark.sql(f"CREATE TABLE {clone} SHALLOW CLONE {name}")
    table = skipstone.table(spark, str(tmp_path / "clone"))
    assert_same(spark, f"SELECT id FROM {clone} WHERE id = 5", rows=1)
    assert table.index().files_indexed == 4
    assert_skips(table, f"SELECT id FROM {clone} WHERE id = 5", rows=1, read=1)
    spark.sql(f"DELETE FROM {clone} WHERE id < 250")
    assert_same(spark, f"SELECT id FROM {clone} WHERE id BETWEEN 240 AND 260", rows=11)
    assert_same(spark, f"SELECT id FROM {name} WHERE id BETWEEN 240 AND 260", rows=21)


def test_counting_from_metadata_alone_still_works(
    spark: SparkSession, history: tuple[skipstone.Table, str]
) -> None:
    _, name = history
    assert first_row(spark.sql(f"SELECT count(*) FROM {name}"))[0] == 400
    assert spark.read.format("delta").load(name[7:-1]).count() == 400

"""Delta tables with features of their own keep them, or are refused before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.two_blocks import rewrite

import skipstone
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Query, Workload

ROWS = 1_000
LOG = Workload(tuple(Query(f"SELECT count(*) FROM t WHERE k < {most}") for most in (50, 100, 150)))

Make = Callable[[str, str], skipstone.Table]


@pytest.fixture
def made(spark: SparkSession, tmp_path: Path) -> Make:
    """Makes a Delta table of columns and properties in SQL, with shuffled values in ``id`` and ``k``."""

    def make(columns: str, properties: str) -> skipstone.Table:
        path = tmp_path / "t"
        spark.sql(f"CREATE TABLE delta.`{path}` ({columns}) USING DELTA TBLPROPERTIES ({properties})")
        rows = spark.range(0, ROWS, 1, 2).selectExpr("id", "pmod(xxhash64(id), 1000) AS k")
        rows.write.format("delta").mode("append").save(str(path))
        return skipstone.table(spark, f"t={path}")

    return make


def test_a_generated_column_is_kept_and_still_generated(spark: SparkSession, made: Make) -> None:
    table = made("id BIGINT, k BIGINT, tens BIGINT GENERATED ALWAYS AS (k DIV 10)", "'a' = 'b'")
    before = hash_of(table.frame())
    rewrite(table)
    assert hash_of(table.frame()) == before
    spark.range(1).selectExpr("id", "id + 77 AS k").write.format("delta").mode("append").save(table.source)
    assert table.frame().where("tens = 7 AND k = 77 AND id = 0").count() == 1


def test_an_identity_column_keeps_its_numbers_and_goes_on(spark: SparkSession, made: Make) -> None:
    table = made("id BIGINT, k BIGINT, n BIGINT GENERATED ALWAYS AS IDENTITY", "'a' = 'b'")
    before = hash_of(table.frame())
    highest = table.frame().selectExpr("max(n)").collect()[0][0]
    rewrite(table)
    assert hash_of(table.frame()) == before
    spark.range(1).selectExpr("id", "id AS k").write.format("delta").mode("append").save(table.source)
    found = table.frame().selectExpr("max(n) AS most", "count(DISTINCT n) AS numbers").collect()[0]
    assert found["most"] > highest
    assert found["numbers"] == ROWS + 1


def test_constraints_still_hold_afterwards(spark: SparkSession, made: Make) -> None:
    table = made("id BIGINT NOT NULL, k BIGINT", "'a' = 'b'")
    spark.sql(f"ALTER TABLE delta.`{table.source}` ADD CONSTRAINT small CHECK (k < 1000)")
    before = hash_of(table.frame())
    rewrite(table)
    assert hash_of(table.frame()) == before
    with pytest.raises(Exception, match="CHECK constraint"):
        spark.sql(f"INSERT INTO delta.`{table.source}` VALUES (1, 1000)")


def test_a_rewrite_is_no_change_in_the_change_data_feed(spark: SparkSession, made: Make) -> None:
    table = made("id BIGINT, k BIGINT", "'delta.enableChangeDataFeed' = 'true'")
    version = rewrite(table).version
    changes = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", version)
    assert changes.load(table.source).count() == 0


def test_columns_that_were_renamed_and_dropped(spark: SparkSession, made: Make) -> None:
    table = made("id BIGINT, k BIGINT, gone BIGINT", "'delta.columnMapping.mode' = 'name'")
    table.index(features=["k < 50", "gone > 7"])
    spark.sql(f"ALTER TABLE delta.`{table.source}` DROP COLUMN gone")
    spark.sql(f"ALTER TABLE delta.`{table.source}` RENAME COLUMN k TO `k``k`")
    again = skipstone.table(spark, f"t={table.source}")
    before = hash_of(again.frame())
    renamed = tuple(Query(query.sql.replace("k <", "`k``k` <")) for query in LOG.queries)
    gone = Query("SELECT count(*) FROM t WHERE gone > 7", position=4)
    report = again.optimize(Workload((*renamed, gone)), "qdtree", block_rows=100)
    (unusable,) = report.unusable
    assert "gone" in str(unusable), "the statement is named"
    assert hash_of(again.frame()) == before
    (scan,) = again.explain("SELECT * FROM t WHERE `k``k` < 50").scans
    assert 0 < scan.files_read < scan.files_total


def test_dml_after_a_rewrite_changes_exactly_its_rows(spark: SparkSession, made: Make) -> None:
    table = made("id BIGINT, k BIGINT", "'delta.enableDeletionVectors' = 'true'")
    rewrite(table, cuts=(50, 100, 150))
    kept = table.frame().where("k >= 100").count()
    spark.sql(f"DELETE FROM delta.`{table.source}` WHERE k < 50")
    spark.sql(f"UPDATE delta.`{table.source}` SET k = k + 2000 WHERE k < 100")
    spark.sql(
        f"MERGE INTO delta.`{table.source}` t USING (SELECT 7L AS id) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET k = 5000 WHEN NOT MATCHED THEN INSERT (id, k) VALUES (s.id, 5000)"
    )
    assert spark.sql("SELECT count(*) FROM t WHERE k < 100").collect()[0][0] == 0
    assert spark.sql("SELECT count(*) FROM t WHERE k = 5000").collect()[0][0] == 1
    assert spark.sql("SELECT count(*) FROM t WHERE k BETWEEN 100 AND 999").collect()[0][0] >= kept - 1
    rows = hash_of(table.frame())
    rewrite(table, "again")
    assert hash_of(table.frame()) == rows


def test_another_workload_gets_another_layout(made: Make) -> None:
    table = made("id BIGINT, k BIGINT", "'a' = 'b'")
    rewrite(table)
    other = Workload(tuple(Query(f"SELECT sum(k) FROM t WHERE id < {most}") for most in (25, 50, 100)))
    before = hash_of(table.frame())
    table.optimize(other, "qdtree", block_rows=75)
    assert hash_of(table.frame()) == before
    (scan,) = table.explain("SELECT * FROM t WHERE id < 25").scans
    assert 0 < scan.files_read < scan.files_total / 3

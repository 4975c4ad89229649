"""Tables of which the catalog knows every file are planned without a job of Delta's, and answer the same."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same, assert_skips, indexed, scan_of, settings
from tests.templates import Templates

import skipstone


@pytest.fixture
def table(spark: SparkSession, templates: Templates, tmp_path: Path) -> skipstone.Table:
    """80 rows in eight files, k from 0 to 79 in order; Delta has no statistics of them."""
    path = templates.copy("early", lambda path: make(spark, path, 0), tmp_path / "t")
    return skipstone.table(spark, f"early={path}")


@pytest.fixture(scope="module")
def unchanged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, for tests that only read it."""
    path = tmp_path_factory.mktemp("early") / "t"
    make(spark, path, 0)
    return path


def make(spark: SparkSession, path: Path, statistics: int) -> skipstone.Table:
    rows = spark.range(0, 80, 1, 8).selectExpr("id AS k", "id % 7 AS g", "concat('x', id) AS s")
    rows.write.format("delta").option("delta.dataSkippingNumIndexedCols", statistics).save(str(path))
    return indexed(spark, "early", path)


def jobs_of_planning(spark: SparkSession, query: str, run: bool = False) -> int:
    """How many jobs run before the query itself does; with ``run``, its own too."""
    group = uuid.uuid4().hex
    context = spark.sparkContext
    context.setJobGroup(group, "planning")
    try:
        frame = spark.sql(query)
        frame._jdf.queryExecution().executedPlan()
        if run:
            frame.collect()
        return len(context.statusTracker().getJobIdsForGroup(group))
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]


def test_planning_runs_no_job_once_the_files_are_known(spark: SparkSession, table: skipstone.Table) -> None:
    assert_skips(table, "SELECT * FROM early WHERE k < 5", rows=5, read=1)
    assert jobs_of_planning(spark, "SELECT * FROM early WHERE k = 77") == 0
    assert jobs_of_planning(spark, "SELECT g, count(*) FROM early WHERE k > 30 GROUP BY g") == 0
    with settings(spark, spark__skipstone__enabled="false"):
        assert jobs_of_planning(spark, "SELECT * FROM early WHERE k = 76") > 0, "so jobs are seen"


def test_delta_is_not_asked_for_files_without_any_key(spark: SparkSession, unchanged: Path) -> None:
    skipstone.table(spark, f"early={unchanged}")
    query = "SELECT k FROM early WHERE k IS NOT NULL"
    assert_same(spark, query, rows=80)
    assert jobs_of_planning(spark, query, run=True) == 1
    assert jobs_of_planning(spark, f"{query} AND g IS NOT NULL", run=True) == 1
    with settings(spark, spark__skipstone__enabled="false"):
        assert jobs_of_planning(spark, query, run=True) == 2


def test_what_is_written_is_seen_by_the_next_query(spark: SparkSession, table: skipstone.Table) -> None:
    low = "SELECT * FROM early WHERE k < 5"
    assert_skips(table, low, rows=5, read=1)
    table.frame().where("k = 3").write.format("delta").mode("append").save(table.source)
    assert_same(spark, low, rows=6)
    assert scan_of(table, low).files_read == 2
    assert_same(spark, "SELECT * FROM early WHERE k > 70", rows=9)
    table.index()
    assert_skips(table, low, rows=6, read=2)
    assert jobs_of_planning(spark, "SELECT * FROM early WHERE k < 4") == 0
    spark.sql(f"DELETE FROM delta.`{table.source}` WHERE k = 3")
    assert_same(spark, low, rows=4)
    spark.sql(f"UPDATE delta.`{table.source}` SET k = 1000 WHERE k = 4")
    assert_same(spark, low, rows=3)
    assert_same(spark, "SELECT * FROM early WHERE k = 1000", rows=1)
    spark.sql(f"RESTORE TABLE delta.`{table.source}` TO VERSION AS OF 0")
    assert_same(spark, low, rows=5)


def test_rows_behind_deletion_vectors_stay_deleted(spark: SparkSession, table: skipstone.Table) -> None:
    property_ = "'delta.enableDeletionVectors' = 'true'"
    spark.sql(f"ALTER TABLE delta.`{table.source}` SET TBLPROPERTIES ({property_})")
    spark.sql(f"DELETE FROM delta.`{table.source}` WHERE k IN (3, 4, 42)")
    # A view that is older than the first deletion vector cannot be read, without us either.
    table = skipstone.table(spark, f"early={table.source}")
    table.index()
    assert_skips(table, "SELECT * FROM early WHERE k < 10", rows=8, read=1)
    assert_skips(table, "SELECT * FROM early WHERE k BETWEEN 40 AND 49", rows=9, read=1)
    assert jobs_of_planning(spark, "SELECT * FROM early WHERE k < 9") == 0


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT a.k FROM early a JOIN early b ON a.k = b.k WHERE a.k < 5 AND b.k > 2", 2),
        ("SELECT k FROM early WHERE k < 5 UNION ALL SELECT k FROM early WHERE k > 77", 7),
        ("SELECT k FROM early WHERE k = (SELECT max(k) FROM early WHERE k < 33)", 1),
        ("SELECT k FROM early WHERE k < 20 AND g IN (SELECT g FROM early WHERE k = 3)", 3),
        ("WITH c AS (SELECT * FROM early WHERE k < 9) SELECT * FROM c x, c y WHERE x.k = y.k", 9),
        ("SELECT k FROM early WHERE k < 25 LIMIT 3", 3),
        ("SELECT count(*) FROM early", 1),
        ("SELECT max(k) FROM early WHERE k < 9 HAVING max(k) > 5", 1),
        ("SELECT k FROM early WHERE k < 9 AND rand(1) < 2", 9),
        ("SELECT k FROM early WHERE k < 0", 0),
        ("SELECT k FROM early VERSION AS OF 0 WHERE k < 9", 9),
    ],
)
def test_every_kind_of_query_answers_the_same(
    spark: SparkSession, unchanged: Path, query: str, rows: int
) -> None:
    skipstone.table(spark, f"early={unchanged}")
    # Temporary views have no versions.
    asked = query.replace("FROM early VERSION", f"FROM delta.`{unchanged}` VERSION")
    for _ in range(2):
        assert len(spark.sql(asked).collect()) == rows
    with settings(spark, spark__skipstone__enabled="false"):
        assert len(spark.sql(asked).collect()) == rows


def test_a_table_that_is_written_from_itself(spark: SparkSession, table: skipstone.Table) -> None:
    assert_skips(table, "SELECT * FROM early WHERE k < 5", rows=5, read=1)
    path = f"delta.`{table.source}`"
    spark.sql(f"INSERT INTO {path} SELECT k + 100, g, s FROM {path} WHERE k < 5")
    assert_same(spark, "SELECT * FROM early WHERE k < 5 OR k >= 100", rows=10)
    table.index()
    spark.sql(
        f"MERGE INTO {path} t USING (SELECT k + 100 AS k FROM {path} WHERE k < 3) s ON t.k = s.k "
        "WHEN MATCHED THEN DELETE"
    )
    assert_same(spark, "SELECT * FROM early WHERE k < 5 OR k >= 100", rows=7)
    spark.sql(f"INSERT OVERWRITE {path} SELECT * FROM {path} WHERE k >= 100")
    assert_same(spark, "SELECT * FROM early WHERE k >= 0", rows=2)


def test_what_the_catalog_cannot_judge_is_left_to_delta(spark: SparkSession, tmp_path: Path) -> None:
    make(spark, tmp_path / "t", 32)
    with settings(spark, spark__sql__caseSensitive="true"):
        assert_same(spark, "SELECT * FROM early WHERE k < 5", rows=5)
        plan = spark.sql("SELECT * FROM early WHERE k < 6")._jdf.queryExecution().optimizedPlan()
        assert len(plan.collectLeaves().head().relation().location().inputFiles()) == 1


def test_a_frame_that_was_made_before_others_wrote_reads_the_newest_version(
    spark: SparkSession, table: skipstone.Table
) -> None:
    frame = spark.read.format("delta").load(table.source).where("k < 5")
    spark.sql(f"DELETE FROM delta.`{table.source}` WHERE k = 3")
    assert frame.count() == 4
    table.index()
    again = spark.read.format("delta").load(table.source).where("k < 5")
    spark.sql(f"ALTER TABLE delta.`{table.source}` ADD COLUMN more INT")
    assert sorted(row.k for row in again.collect()) == [0, 1, 2, 4]


@pytest.mark.parametrize(("statistics", "pruned"), [(0, 0), (32, 7)])
def test_it_is_told_what_delta_would_leave_out_by_itself(
    spark: SparkSession, tmp_path: Path, statistics: int, pruned: int
) -> None:
    table = make(spark, tmp_path / "t", statistics)
    scan = scan_of(table, "SELECT * FROM early WHERE k < 5")
    assert (scan.files_read, scan.files_pruned, scan.files_skipped) == (1, pruned, 7 - pruned)

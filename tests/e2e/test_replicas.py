"""Replicas: queries of all kinds read the copy that costs less, with the same results."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.e2e.checks import answer, assert_same, scan_of, settings
from tests.e2e.replicated import (
    assert_base,
    assert_copied,
    make_replicated,
    replica_files,
    replicate,
    verdicts,
    write_rows,
)
from tests.first_row import first_row
from tests.templates import Templates

import skipstone
from skipstone.actions.replicate import Replicate
from skipstone.layout.layouts import LAYOUTS, REPLICA_LAYOUTS
from skipstone.layout.options import LayoutOptions
from skipstone.workload.queries import Query, Workload


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """For tests that do not change it: no catalog, one replica, known to SQL as ``r``."""
    path = tmp_path_factory.mktemp("replicas") / "t"
    make_replicated(spark, path)
    return skipstone.table(spark, f"r={path}")


def test_a_table_without_a_catalog_reads_its_replica(table: skipstone.Table) -> None:
    assert not (Path(table.source) / "_skipstone" / "blocks").exists()
    scan = assert_copied(table, "SELECT * FROM r WHERE k < 50")
    assert (scan.files_total, scan.files_unindexed) == (8, 0)
    assert_same(table.spark, "SELECT * FROM r WHERE k IS NULL OR name IS NULL AND k < 100")
    (replica,) = table.replicas().replicas
    assert (replica.partitions, replica.partitions_valid, replica.rows) == (2, 2, 400)
    assert (replica.files_covered, replica.layout) == (8, "qdtree")


SHAPES = [
    "SELECT * FROM r WHERE k BETWEEN 300 AND 320",
    "SELECT count(*), sum(id), max(name) FROM r WHERE k < 60",
    "SELECT p, count(*) FROM r WHERE k < 100 GROUP BY p HAVING count(*) > 1",
    "SELECT a.id, b.id FROM r a JOIN r b ON a.k = b.k WHERE a.k < 60 AND b.k < 60",
    "SELECT a.id, b.id FROM r a LEFT JOIN r b ON a.id = b.id + 1 AND b.k > 900 WHERE a.k < 60",
    "SELECT id FROM r WHERE k < 60 AND id IN (SELECT id + 1 FROM r WHERE k > 900)",
    "SELECT id FROM r a WHERE k < 60 AND EXISTS (SELECT 1 FROM r b WHERE b.k < 90 AND b.id = a.id + 1)",
    "SELECT id FROM r WHERE k < 60 AND id NOT IN (SELECT id FROM r WHERE k < 30)",
    "SELECT id, (SELECT max(id) FROM r WHERE k < 60) FROM r WHERE k < 30",
    "SELECT id FROM r WHERE k < 60 AND id > (SELECT avg(id) FROM r WHERE k < 60)",
    "WITH c AS (SELECT id, k FROM r WHERE k < 60) SELECT a.id FROM c a JOIN c b ON a.id = b.id WHERE b.k > 5",
    "SELECT id FROM r WHERE k < 30 UNION ALL SELECT id FROM r WHERE k > 970",
    "SELECT id FROM r WHERE k < 30 UNION ALL SELECT id FROM r WHERE id < 30",
    "SELECT id FROM r WHERE k < 60 INTERSECT SELECT id FROM r WHERE k < 30",
    "SELECT id, row_number() OVER (PARTITION BY p ORDER BY id) FROM r WHERE k < 60",
    "SELECT st.a, st.b FROM r WHERE k < 60 AND st.b IS NULL",
    "SELECT DISTINCT name FROM r WHERE k < 60 ORDER BY name NULLS FIRST LIMIT 5",
]


@pytest.mark.parametrize("query", SHAPES)
def test_queries_of_all_shapes_answer_the_same(table: skipstone.Table, query: str) -> None:
    assert_same(table.spark, query)
    scans = table.explain(query).scans
    assert not [scan.failure for scan in scans if scan.failure]
    assert any("CHEAPER" in verdicts(scan) for scan in scans)
    assert sum(scan.files_read for scan in scans) < sum(scan.files_total for scan in scans)
    assert replica_files(table.spark, query) > 0


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("codegen", ["true", "false"])
@pytest.mark.parametrize("vectorized", ["true", "false"])
def test_the_ways_of_evaluating_a_plan_make_no_difference(
    table: skipstone.Table, adaptive: str, codegen: str, vectorized: str
) -> None:
    with settings(
        table.spark,
        spark__sql__adaptive__enabled=adaptive,
        spark__sql__codegen__wholeStage=codegen,
        spark__sql__parquet__enableVectorizedReader=vectorized,
    ):
        assert_copied(table, "SELECT p, count(*), sum(st.a) FROM r WHERE k < 60 GROUP BY p")
        assert_same(table.spark, SHAPES[3])


FILE_NAMES = [
    "SELECT input_file_name() AS f FROM r WHERE k < 60",
    "SELECT _metadata.file_path AS f FROM r WHERE k < 60",
    "SELECT _metadata.file_name AS f, _metadata.file_size FROM r WHERE k < 60",
    "SELECT input_file_block_start() + input_file_block_length() AS f FROM r WHERE k < 60",
    "SELECT count(*) AS f FROM r WHERE k < 60 AND input_file_name() NOT LIKE '%skipstone%'",
    "SELECT upper(f) AS f FROM (SELECT concat('x', input_file_name()) AS f, k FROM r WHERE k < 60)",
    "SELECT id AS f FROM r WHERE k < 60 AND id IN (SELECT length(input_file_name()) FROM r WHERE k < 60)",
    "SELECT DISTINCT input_file_name() AS f FROM r WHERE k < 60",
]


@pytest.mark.parametrize("query", FILE_NAMES)
def test_a_query_that_can_tell_its_files_reads_the_base(table: skipstone.Table, query: str) -> None:
    # By its path, for views have no metadata columns.
    found = assert_base(table, query.replace(" FROM r", f" FROM delta.`{table.source}`"), "LEFT_ALONE")
    assert not [row for row in found if "_skipstone" in row.lower()]


def test_the_names_of_files_are_found_in_functions_of_the_frame_api(table: skipstone.Table) -> None:
    def asked() -> DataFrame:
        return table.frame().where("k < 60").select(F.input_file_name().alias("f")).distinct()

    assert_base(table, asked, "LEFT_ALONE")
    assert_copied(table, lambda: table.frame().where("k < 60").groupBy("p").agg(F.count("*")))


def test_a_cached_frame_is_filled_from_the_replica(table: skipstone.Table) -> None:
    frame = table.frame().where("k < 60").cache()
    try:
        first = sorted(map(repr, frame.collect()))
        assert first == answer(table.spark, "SELECT * FROM r WHERE k < 60")
        assert frame.where("id < 200").count() == len(
            assert_same(table.spark, "SELECT * FROM r WHERE k < 60 AND id < 200")
        )
    finally:
        frame.unpersist()


def test_views_and_other_sessions_read_the_replica(table: skipstone.Table) -> None:
    spark = table.spark
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW low AS SELECT id, k AS other FROM r WHERE k < 200")
    assert_copied(table, "SELECT * FROM low WHERE other < 60")
    path = table.source
    session = spark.newSession()
    frame = session.sql(f"SELECT * FROM delta.`{path}` WHERE k < 60")
    assert any("_skipstone" in file for file in frame.inputFiles())
    assert sorted(map(repr, frame.collect())) == assert_same(spark, "SELECT * FROM r WHERE k < 60")


def test_a_session_without_skipping_reads_the_base(table: skipstone.Table) -> None:
    with settings(table.spark, spark__skipstone__enabled="false"):
        assert replica_files(table.spark, "SELECT * FROM r WHERE k < 60") == 0


def test_an_unfiltered_query_reads_the_base(table: skipstone.Table) -> None:
    assert_same(table.spark, "SELECT * FROM r", rows=400)
    assert replica_files(table.spark, "SELECT * FROM r") == 0
    assert first_row(table.spark.sql("SELECT count(*) FROM r"))[0] == 400
    assert_same(table.spark, "SELECT count(*) FROM r WHERE k < 60")


@pytest.mark.parametrize("limit", [1, 5, 1000])
def test_a_limit_gives_rows_that_match(table: skipstone.Table, limit: int) -> None:
    matching = set(assert_same(table.spark, "SELECT * FROM r WHERE k < 60"))
    found = answer(table.spark, f"SELECT * FROM r WHERE k < 60 LIMIT {limit}")
    assert len(found) == len(set(found)) == min(limit, len(matching))
    assert set(found) <= matching
    assert len(answer(table.spark, f"SELECT * FROM r LIMIT {limit}")) == min(limit, 400)


@pytest.mark.parametrize(
    ("key", "value"),
    [("spark.sql.parquet.int96RebaseModeInRead", "LEGACY"), ("spark.sql.parquet.binaryAsString", "true")],
)
def test_other_settings_of_the_reader_read_the_base(table: skipstone.Table, key: str, value: str) -> None:
    query = "SELECT * FROM r WHERE k < 60"
    with settings(table.spark, **{key.replace(".", "__"): value}):
        assert_base(table, query, "OTHER_SETTINGS")
    assert_copied(table, query)


def test_a_filter_that_the_catalog_serves_better_reads_the_base(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    table = replicated
    table.index()
    name = f"delta.`{table.source}`"
    scan = scan_of(table, f"SELECT * FROM {name} WHERE id < 50")
    assert_base(table, f"SELECT * FROM {name} WHERE id < 50", "BASE_CHEAPER", rows=50)
    assert (scan.files_read, scan.files_skipped, scan.files_total) == (1, 7, 8)
    assert_copied(table, f"SELECT * FROM {name} WHERE k < 50")
    # One horizontal partition covers what the catalog does not skip, and the other what it does.
    mixed = f"SELECT * FROM {name} WHERE k < 50 AND id >= 200"
    assert_same(spark, mixed)
    assert verdicts(scan_of(table, mixed)) == {"CHEAPER": 1, "BASE_CHEAPER": 1}


@pytest.mark.parametrize("layout", sorted(LAYOUTS.keys() - {"qdtree", *REPLICA_LAYOUTS}))
def test_a_replica_by_any_layout_is_read_and_answers_the_same(
    spark: SparkSession, templates: Templates, tmp_path: Path, layout: str
) -> None:
    path = templates.copy("plain-400", lambda path: write_rows(spark, path), tmp_path / "t")
    table = skipstone.table(spark, str(path))
    queries = [f"SELECT * FROM delta.`{path}` WHERE k < {most} AND p = 1" for most in (50, 100, 300)]
    log = Workload(tuple(map(Query, queries)))
    report = table.perform(Replicate(log, layout, LayoutOptions(block_rows=40)))
    assert (report.layout, report.rows) == (layout, 400)
    for query in queries:
        assert_same(spark, query)
    assert_copied(table, queries[0])


def test_two_replicas_are_never_both_read_for_the_same_rows(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    table = replicated
    replicate(table, partition_rows=100)
    query = f"SELECT * FROM delta.`{table.source}` WHERE k < 50"
    assert_same(spark, query)
    found = verdicts(scan_of(table, query))
    assert sum(found.values()) == 6
    assert found["CHEAPER"] + found.get("COVERED", 0) + found.get("BASE_CHEAPER", 0) == 6
    assert len(table.replicas().replicas) == 2
    first, second = (replica.id for replica in table.replicas().replicas)
    table.drop(first, now=True)
    assert [replica.id for replica in table.replicas().replicas] == [second]
    assert not (Path(table.source) / "_skipstone" / "replicas" / first).exists()
    assert_same(spark, query)
    table.drop(second)
    assert_same(spark, query)
    assert replica_files(spark, query) == 0

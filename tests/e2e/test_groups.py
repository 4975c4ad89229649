"""Queries read column groups: the same rows, only the groups and blocks that they need, and no shuffle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import Query, answer, assert_same, assert_same_by, frame_of, settings
from tests.e2e.grouped import COLUMNS, CopyGroups, G, K, tree, write_grouped
from tests.light_plans import settings_of
from tests.spark.querylog.recording import logging
from tests.templates import Templates

import skipstone
from skipstone.layout.contract import ColumnGroup
from skipstone.predicate.render import to_sql

ALWAYS = {"spark.skipstone.groups": "always"}


@pytest.fixture(scope="module")
def table(
    spark: SparkSession, templates: Templates, tmp_path_factory: pytest.TempPathFactory
) -> skipstone.Table:
    """For tests that do not change it, known to SQL as ``t``."""
    home = tmp_path_factory.mktemp("groups")
    path = templates.copy("grouped", lambda path: write_grouped(spark, path), home / "t")
    return skipstone.table(spark, f"t={path}")


@pytest.fixture(autouse=True)
def _always(spark: SparkSession) -> Iterator[None]:
    """These tables are so small that their base costs less."""
    with settings_of(spark, ALWAYS):
        yield


def plan_of(spark: SparkSession, query: Query) -> str:
    """The plan that is run."""
    return str(frame_of(spark, query)._jdf.queryExecution().executedPlan().toString())


def assert_same_plan(spark: SparkSession, query: Query, rows: int | None = None) -> str:
    """The same rows; the plan by which they were found, as it was before it adapted."""
    _, execution = assert_same_by(spark, query, rows)
    return str(execution.executedPlan().toString()).rpartition("== Initial Plan ==")[-1]


def scans(plan: str) -> Mapping[str, int]:
    """How many scans a plan has of the base and of groups, and its joins by tuple ids."""
    lines = plan.splitlines()
    return {
        "base": sum("Location: Pr" in line for line in lines),
        "groups": sum("Location: GroupFiles" in line for line in lines),
        "joins": sum("Join(skew=true) [__skipstone_tuple" in line for line in lines),
    }


def assert_grouped(spark: SparkSession, query: Query, groups: int, rows: int | None = None) -> str:
    """The same rows, all of them from so many groups, which are put together without a shuffle."""
    plan = assert_same_plan(spark, query, rows)
    found = scans(plan)
    assert (found["base"], found["groups"], found["joins"]) == (0, groups, max(groups - 1, 0)), plan
    assert_no_exchange_below(plan)
    return plan


def assert_no_exchange_below(plan: str) -> None:
    """Nothing is shuffled below a join by tuple ids."""
    depth: int | None = None
    for line in plan.splitlines():
        here = len(line) - len(line.lstrip(" :+-"))
        if depth is not None and here <= depth:
            depth = None
        if depth is not None:
            assert "Exchange" not in line, plan
        elif "Join(skew=true) [__skipstone_tuple" in line:
            depth = here


@pytest.mark.parametrize(
    ("query", "groups"),
    [
        ("SELECT id, name FROM t WHERE k < 50", 1),
        ("SELECT id, g FROM t WHERE k < 50", 2),
        ("SELECT * EXCEPT (alone) FROM t WHERE k < 100", 3),
        ("SELECT id, weight FROM t WHERE k < 300 AND g < 250", 2),
        ("SELECT st.b.c, attrs['c'], many FROM t WHERE k < 60 OR g > 900", 3),
        ("SELECT count(*) FROM t WHERE k < 300 AND g < 250", 2),
        ("SELECT count(*), count(name), sum(weight) FROM t WHERE k IS NOT NULL AND name IS NULL", 2),
        ("SELECT even, raw, moment FROM t WHERE k + g < 100", 3),
        ("SELECT id, price FROM t WHERE k < 100 AND price + id > 20 AND weight IS NOT NULL", 2),
    ],
)
def test_only_the_groups_with_requested_columns_are_read(
    table: skipstone.Table, query: str, groups: int
) -> None:
    assert_grouped(table.spark, query, groups)


def test_where_every_partition_is_skipped_nothing_is_read(table: skipstone.Table) -> None:
    query = "SELECT id, weight FROM t WHERE k BETWEEN 5 AND 4"
    assert scans(assert_same_plan(table.spark, query, 0))["groups"] == 0
    (scan,) = table.explain(query).scans
    assert (scan.files_read, [copy.code for copy in scan.copies]) == (0, ["CHEAPER"])


def test_explain_tells_groups_blocks_and_how_tuples_are_put_together(table: skipstone.Table) -> None:
    (scan,) = table.explain("SELECT id, weight FROM t WHERE k < 50").scans
    (report,) = scan.groups
    assert (report.partitions, report.partitions_total) == (2, 2)
    assert (report.hash_joins, report.merge_joins) == (1, 0)
    assert [group.columns for group in report.groups] == [("id", "k"), ("weight",)]
    assert (report.groups[0].blocks, report.groups[0].blocks_total) == (2, 20)
    assert (scan.files_read, [copy.code for copy in scan.copies]) == (4, ["CHEAPER"])
    assert (scan.files_unindexed, scan.files_skipped) == (0, 0)
    text = "\n".join(scan.lines())
    assert "2 of 2 horizontal partitions read by columns: tuples put together by 1 hash join" in text
    with settings(table.spark, spark__skipstone__groups="never"):
        (scan,) = table.explain("SELECT id, weight FROM t WHERE k < 50").scans
        assert (scan.groups, [copy.code for copy in scan.copies]) == ((), ["TURNED_OFF"])
    with settings(table.spark, spark__skipstone__groups="auto"):
        (scan,) = table.explain("SELECT id, weight FROM t WHERE k < 50").scans
        assert [copy.code for copy in scan.copies] == ["BASE_CHEAPER"]
    (scan,) = table.explain("SELECT id, alone FROM t WHERE k < 50").scans
    assert [copy.code for copy in scan.copies] == ["OTHER_COLUMNS"]


def test_a_column_in_no_group_is_read_from_the_base(table: skipstone.Table) -> None:
    query = "SELECT id, alone FROM t WHERE k < 50"
    assert scans(assert_same_plan(table.spark, query, 44)) == {"base": 1, "groups": 0, "joins": 0}


SHAPES = [
    "SELECT a.id, b.weight FROM t a JOIN t b ON a.k = b.g WHERE a.k < 200 AND b.g < 200",
    "SELECT a.id, b.id FROM t a LEFT JOIN t b ON a.id = b.id + 1 AND b.g > 900 WHERE a.k < 60",
    "SELECT id FROM t WHERE k < 60 AND id IN (SELECT id + 1 FROM t WHERE g > 500)",
    "SELECT id, weight FROM t a WHERE k < 60 AND EXISTS (SELECT 1 FROM t b WHERE b.g < 90 AND b.id > a.id)",
    "SELECT id, (SELECT max(weight) FROM t WHERE k < 60) FROM t WHERE k < 30",
    "SELECT id, g FROM t WHERE k < 600 AND id > (SELECT avg(id) FROM t WHERE g < 60)",
    "WITH c AS (SELECT id, g FROM t WHERE k < 60) SELECT a.id, b.g FROM c a JOIN c b ON a.id = b.id",
    "WITH c AS (SELECT k, max(g) m FROM t WHERE k < 90 GROUP BY k) SELECT * FROM c a JOIN c b ON a.k = b.m",
    "SELECT id, g FROM t WHERE k < 30 UNION ALL SELECT id, g FROM t WHERE k > 970",
    "SELECT id, row_number() OVER (PARTITION BY even ORDER BY id) FROM t WHERE g < 60",
    "SELECT DISTINCT name, g FROM t WHERE k < 60 ORDER BY name NULLS FIRST, g LIMIT 5",
    "SELECT g % 5, count(*), sum(price) FROM t WHERE k < 500 GROUP BY g % 5 HAVING count(*) > 1",
    "SELECT /*+ REPARTITION(3) */ id, raw FROM t WHERE k < 100",
    "SELECT id, c FROM t LATERAL VIEW explode(many) AS c WHERE k < 40",
]


def test_queries_of_all_shapes_answer_the_same(table: skipstone.Table) -> None:
    for query in SHAPES:
        plan = assert_same_plan(table.spark, query)
        assert scans(plan)["groups"] > 0, plan
        assert_no_exchange_below(plan)


@pytest.mark.parametrize(
    ("adaptive", "codegen", "hash_bytes"),
    [("true", "true", "67108864"), ("true", "true", "0"), ("false", "true", "0"), ("true", "false", "0")],
)
def test_the_ways_of_evaluating_a_plan_make_no_difference(
    table: skipstone.Table, adaptive: str, codegen: str, hash_bytes: str
) -> None:
    wanted = {
        "spark.sql.adaptive.enabled": adaptive,
        "spark.sql.codegen.wholeStage": codegen,
        "spark.sql.codegen.factoryMode": "FALLBACK" if codegen == "true" else "NO_CODEGEN",
        "spark.sql.parquet.enableVectorizedReader": codegen,
        "spark.skipstone.groups.hashBytes": hash_bytes,
    }
    with settings_of(table.spark, wanted):
        plan = assert_grouped(table.spark, "SELECT * EXCEPT (alone) FROM t WHERE k < 100 AND g < 900", 3)
        assert ("SortMergeJoin" in plan) == (hash_bytes == "0")
        for query in (SHAPES[0], SHAPES[7]):
            assert_same(table.spark, query)


def test_a_cached_frame_is_filled_from_groups(table: skipstone.Table) -> None:
    frame = table.frame().where("k < 60").select("id", "g").cache()
    try:
        first = sorted(map(repr, frame.collect()))
        assert first == answer(table.spark, "SELECT id, g FROM t WHERE k < 60")
        with settings(table.spark, spark__skipstone__enabled="false"):
            assert frame.where("id < 200").count() == len(
                answer(table.spark, "SELECT id, g FROM t WHERE k < 60 AND id < 200")
            )
    finally:
        frame.unpersist()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT input_file_name(), id FROM t WHERE k < 60",
        "SELECT _metadata.file_name, id FROM {} WHERE k < 60",
        "SELECT id FROM {} VERSION AS OF 0 WHERE alone < 5",
        "SELECT count(*) FROM t",
        "SELECT id FROM t",
    ],
)
def test_what_is_unusual_reads_the_base(table: skipstone.Table, query: str) -> None:
    text = query.format(f"delta.`{table.source}`")
    assert scans(assert_same_plan(table.spark, text))["groups"] == 0


def test_rows_that_groups_do_not_hold_come_from_the_base(
    spark: SparkSession, copied: Callable[..., Path]
) -> None:
    path = copied("grouped", lambda path: write_grouped(spark, path))
    skipstone.table(spark, f"changed={path}")
    query = "SELECT id, name, g, moment FROM changed WHERE k < 300"
    assert_grouped(spark, query, 3)
    spark.range(800, 900, 1, 1).selectExpr(*COLUMNS).write.format("delta").mode("append").save(str(path))
    assert scans(assert_same_plan(spark, query)) == {"base": 1, "groups": 3, "joins": 2}
    joined = "SELECT a.id, b.g FROM changed a JOIN changed b ON a.id = b.id WHERE a.k < 300"
    assert_same(spark, joined)
    files = {found.name for found in path.glob("*.parquet")}
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id < 200")
    assert files == {found.name for found in path.glob("*.parquet")}, "one is removed, and no other written"
    assert scans(assert_same_plan(spark, query)) == {"base": 1, "groups": 3, "joins": 2}
    spark.sql(f"UPDATE delta.`{path}` SET g = 1 WHERE id = 700")
    assert scans(assert_same_plan(spark, query)) == {"base": 1, "groups": 0, "joins": 0}
    assert_same(spark, query.replace("changed", f"delta.`{path}` VERSION AS OF 0"))


def test_a_shortened_or_missing_group_file_is_noticed_and_the_base_answers(
    spark: SparkSession, copied: Callable[..., Path]
) -> None:
    path = copied("grouped", lambda path: write_grouped(spark, path))
    skipstone.table(spark, f"missing={path}")
    query = "SELECT id, g FROM missing WHERE k < 300"
    assert_grouped(spark, query, 2)
    files = sorted(path.glob("_skipstone/replicas/*/*/group-1-0.parquet"))
    data = files[0].read_bytes()
    files[0].write_bytes(data[:-1])
    assert_same(spark, query)
    assert scans(plan_of(spark, query)) == {"base": 1, "groups": 0, "joins": 0}, "its folder does not tell"
    files[0].unlink()
    assert scans(assert_same_plan(spark, query)) == {"base": 1, "groups": 2, "joins": 1}


def test_a_damaged_group_file_is_noticed_by_a_check_and_the_base_answers(
    spark: SparkSession, copied: Callable[..., Path]
) -> None:
    path = copied("grouped", lambda path: write_grouped(spark, path))
    table = skipstone.table(spark, f"damaged={path}")
    query = "SELECT id, g FROM damaged WHERE k < 300"
    broken = min(path.glob("_skipstone/replicas/*/*/group-1-0.parquet"))
    data = bytearray(broken.read_bytes())
    data[len(data) // 3] ^= 255
    broken.write_bytes(bytes(data))
    assert not table.repair(check=True).whole
    assert scans(assert_same_plan(spark, query)) == {"base": 1, "groups": 2, "joins": 1}


def test_the_query_log_has_a_scan_of_groups_once(table: skipstone.Table, tmp_path: Path) -> None:
    (replica,) = table.replicas().replicas
    with logging(table.spark, tmp_path / "spill"):
        table.spark.sql("SELECT id, weight FROM t WHERE k < 50").collect()
        (scan,) = table.log()
    assert (scan.replicas, sorted(scan.columns)) == ((replica.id,), ["id", "k", "weight"])
    assert "k < 50" in to_sql(scan.filter)
    assert (scan.files_read, scan.rows_needed) == (4, None)


def test_a_partitioned_wide_table_whose_columns_are_renamed(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "wide"
    wide = [f"id * {number} AS c{number}" for number in range(60)]
    frame = spark.range(0, 200, 1, 1).selectExpr("id % 2 AS p", *COLUMNS[1:2], COLUMNS[4], COLUMNS[5], *wide)
    frame = frame.selectExpr("*", *(f"concat('s', c{number}) AS s{number}" for number in range(60)))
    frame.write.format("delta").partitionBy("p").save(str(path))
    table = skipstone.table(spark, f"wide={path}")
    halves = (
        ColumnGroup(tree(K, 4), columns=("p", "k", "st", *(f"c{number}" for number in range(60)))),
        ColumnGroup(tree(G, 4), columns=("g", *(f"s{number}" for number in range(60)))),
    )
    assert len(table.perform(CopyGroups(halves, 1000))) == 1
    assert_grouped(spark, "SELECT * FROM wide WHERE k < 300 AND p = 1", 2)
    assert_grouped(spark, "SELECT c1, c59 FROM wide WHERE p = 0 AND k < 500", 1)
    name = f"delta.`{path}`"
    spark.sql(
        f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', "
        "'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')"
    )
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN k TO key")
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN st.b TO beta")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN k STRING")
    for refreshed in (False, True):
        assert_grouped(spark, f"SELECT key, st.beta.c, s7, p FROM {name} WHERE key < 300 AND g < 900", 2)
        query = f"SELECT key, k FROM {name} WHERE key < 300"
        assert scans(assert_same_plan(spark, query))["groups"] == 0
        if not refreshed:
            spark.sql(f"INSERT INTO {name} (p, key, g) VALUES (1, 5, 5)")
            assert table.refresh().partitions_made == 1

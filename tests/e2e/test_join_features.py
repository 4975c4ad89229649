"""Features about what joined tables hold for a row: the same rows as without, and fewer files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same, indexed, settings

import skipstone
from skipstone.pruning.report import ScanReport

FILES, ROWS = 8, 400
FEATURES = (
    *(f"EXISTS (SELECT 1 FROM orders WHERE o_id = l_order AND prio = 'p{n}')" for n in range(FILES)),
    "EXISTS (SELECT 1 FROM orders WHERE o_id = l_order AND o_day < 200)",
    "EXISTS (SELECT 1 FROM orders JOIN cust ON o_cust = c_id WHERE o_id = l_order AND seg = 'seg1')",
    "EXISTS (SELECT 1 FROM facts f WHERE f.l_id = skipstone_table.l_next AND f.qty < 10)",
    "EXISTS (SELECT 1 FROM orders WHERE o_id = l_order AND o_name = l_name AND prio = 'p5')",
)


@dataclass(frozen=True, slots=True)
class Star:
    """400 facts in 8 files. The orders of file n have the priority ``pn``, and their keys lie all over."""

    table: skipstone.Table
    folder: Path

    @property
    def spark(self) -> SparkSession:
        return self.table.spark

    def scans(self, query: str) -> list[ScanReport]:
        return [scan for scan in self.table.explain(query).scans if scan.root.endswith("/facts")]

    def reads(self, query: str, *files: int) -> None:
        """The same rows, from so many files in each scan of the facts."""
        assert_same(self.spark, query)
        found = self.scans(query)
        assert [scan.files_read for scan in found] == list(files), (query, found)
        assert not any(scan.failure for scan in found)

    def change(self, statement: str) -> None:
        self.spark.sql(statement)
        name(self.spark, self.folder)


def name(spark: SparkSession, folder: Path) -> None:
    for each in ("facts", "orders", "cust"):
        spark.read.format("delta").load(f"{folder}/{each}").createOrReplaceTempView(each)


def made(spark: SparkSession, folder: Path) -> None:
    def write(each: str, files: int, *columns: str, rows: int = ROWS) -> None:
        frame = spark.range(0, rows, 1, files).selectExpr(*columns)
        frame.write.format("delta").save(f"{folder}/{each}")

    number = f"id DIV {ROWS // FILES}"
    key = f"(id % {ROWS // FILES}) * {FILES} + {number}"
    write(
        "facts",
        FILES,
        # The last orders of each file have no partner, and a few facts have no order.
        f"IF(id % 50 = 49, 1000 + id, IF(id % 50 = 48, NULL, {key})) AS l_order",
        "id AS l_id",
        "IF(id >= 350, id - 350, NULL) AS l_next",
        f"concat('n', {key}) AS l_name",
        "CAST(id % 50 AS INT) AS qty",
    )
    write(
        "orders",
        2,
        "IF(id = 7, NULL, id) AS o_id",
        "concat('n', id) AS o_name",
        f"concat('p', id % {FILES}) AS prio",
        "CAST(id AS INT) AS o_day",
        f"id % {FILES} AS o_cust",
    )
    write("cust", 1, "id AS c_id", "concat('seg', id % 4) AS seg", rows=FILES)


@pytest.fixture(scope="module")
def star(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Star:
    folder = tmp_path_factory.mktemp("star")
    made(spark, folder)
    name(spark, folder)
    return Star(indexed(spark, "facts", folder / "facts", features=FEATURES), folder)


def test_filters_on_joined_tables_skip_files_of_the_facts(star: Star) -> None:
    join = "SELECT l_id, qty FROM facts JOIN orders ON l_order = o_id WHERE"
    star.reads(f"{join} prio = 'p3'", 1)
    star.reads(f"{join} prio = 'p3' AND o_day < 150 AND qty > 1", 1)
    star.reads("SELECT /*+ MERGE(orders) */ l_id FROM facts, orders WHERE o_id = l_order AND prio = 'p2'", 1)
    star.reads("SELECT l_id FROM facts WHERE l_order IN (SELECT o_id FROM orders WHERE prio = 'p4')", 1)
    star.reads(
        "SELECT l_id FROM facts WHERE EXISTS (SELECT 1 FROM orders WHERE o_id = l_order AND prio = 'p1')", 1
    )
    star.reads("SELECT l_id, prio FROM orders RIGHT JOIN facts ON l_order = o_id WHERE prio = 'p6'", 1)
    star.reads(
        "SELECT o_id, l_id FROM (SELECT * FROM orders WHERE prio = 'p5') LEFT JOIN facts ON l_order = o_id", 1
    )
    star.reads(
        "WITH o AS (SELECT o_id AS k FROM orders WHERE prio = 'p7') "
        "SELECT l_id FROM facts, o WHERE k = l_order",
        1,
    )
    star.reads(
        "SELECT o_id, s FROM (SELECT l_order, sum(qty) AS s FROM facts GROUP BY l_order) JOIN orders "
        "ON l_order = o_id WHERE prio = 'p0'",
        1,
    )
    star.reads(
        "SELECT l_id FROM facts JOIN (SELECT o_id, count(*) FROM orders WHERE prio = 'p1' "
        "GROUP BY o_id LIMIT 999) ON l_order = o_id WHERE qty > 2",
        1,
    )
    star.reads(f"{join} prio IN ('p1', 'p2')", 8)  # which no feature is implied by
    star.reads(f"{join} o_day < 100", 8)  # whose keys are everywhere


def test_chains_of_joins_several_keys_and_the_same_table_twice_skip(star: Star) -> None:
    chain = "FROM facts, orders, cust WHERE l_order = o_id AND o_cust = c_id AND seg = 'seg1'"
    star.reads(f"SELECT l_id {chain}", 2)
    star.reads(f"SELECT /*+ BROADCAST(cust) */ l_id {chain} AND prio = 'p1'", 1)
    star.reads(
        "SELECT l_id FROM facts JOIN orders ON l_order = o_id AND l_name = o_name "
        "WHERE prio = 'p5' AND qty >= 0",
        1,
    )
    star.reads(
        "SELECT f.l_id FROM facts f JOIN orders a ON f.l_order = a.o_id JOIN orders b ON f.l_order = b.o_id "
        "WHERE a.prio = 'p2' AND b.o_day < 200",
        1,
    )
    star.reads(
        "SELECT a.l_id, b.l_id FROM facts a JOIN facts b ON a.l_order = b.l_order JOIN orders "
        "ON b.l_order = o_id WHERE prio = 'p3'",
        *(1, 1),
    )
    star.reads("SELECT a.l_id FROM facts a JOIN facts b ON a.l_next = b.l_id WHERE b.qty < 5", 1, 8)


def test_joins_that_keep_rows_without_a_partner_and_operators_in_between_skip_nothing(star: Star) -> None:
    others = "(SELECT * FROM orders WHERE prio = 'p3')"
    for query in (
        f"SELECT l_id, o_id FROM facts LEFT JOIN {others} ON l_order = o_id",
        f"SELECT l_id, o_id FROM facts FULL JOIN {others} ON l_order = o_id",
        f"SELECT l_id FROM facts LEFT ANTI JOIN {others} ON l_order = o_id",
        "SELECT l_id FROM facts WHERE NOT EXISTS (SELECT 1 FROM orders WHERE o_id = l_order AND prio = 'p3')",
        "SELECT l_id FROM facts WHERE l_order NOT IN (SELECT o_id FROM orders WHERE o_day = 3)",
        "SELECT l_id FROM facts WHERE qty = 1 OR l_order IN (SELECT o_id FROM orders WHERE prio = 'p3')",
        f"SELECT l_id FROM (SELECT * FROM facts ORDER BY l_id LIMIT 300) JOIN {others} ON l_order = o_id",
        f"SELECT l_id, n FROM (SELECT *, count(*) OVER () AS n FROM facts) JOIN {others} ON l_order = o_id",
        f"SELECT s FROM (SELECT sum(l_order) - 3 AS s FROM facts) JOIN {others} ON s = o_id",
        f"SELECT l_order FROM (SELECT l_order FROM facts UNION ALL SELECT 3) JOIN {others} ON l_order = o_id",
        f"SELECT l_id FROM facts JOIN {others} ON l_order + 1 = o_id",
        f"SELECT l_id FROM facts JOIN {others} ON l_order <= o_id - 399",
    ):
        assert_same(star.spark, query)
        assert all(scan.files_read == FILES for scan in star.scans(query)), query


def test_results_stay_the_same_however_the_query_is_run(star: Star) -> None:
    query = (
        "SELECT count(*), sum(qty) FROM facts, orders, cust WHERE l_order = o_id AND o_cust = c_id "
        "AND seg = 'seg1' "
        "AND l_id > (SELECT min(l_id) FROM facts, orders WHERE l_order = o_id AND prio = 'p1')"
    )
    for aqe, codegen, threshold in (
        ("true", "true", "-1"),
        ("false", "true", "10MB"),
        ("false", "false", "-1"),
    ):
        with settings(
            star.spark,
            spark__sql__adaptive__enabled=aqe,
            spark__sql__codegen__wholeStage=codegen,
            spark__sql__autoBroadcastJoinThreshold=threshold,
        ):
            assert_same(star.spark, query)
            assert sorted(scan.files_read for scan in star.scans(query)) == [1, 2]
    # Two scans under one filter that differ in their files only are not computed once for both.
    sums = "(SELECT l_order, sum(qty) AS s FROM facts GROUP BY l_order)"
    twice = " UNION ALL ".join(
        f"SELECT l_order, s FROM {sums} JOIN orders ON l_order = o_id WHERE prio = 'p{n}'" for n in (3, 4)
    )
    star.reads(twice, 1, 1)
    cached = star.spark.sql("SELECT l_id FROM facts JOIN orders ON l_order = o_id WHERE prio = 'p3'").cache()
    try:
        assert cached.count() == cached.count() == 48
        assert star.spark.sql("SELECT l_id FROM facts").count() == ROWS
    finally:
        cached.unpersist()


def test_a_change_of_a_joined_table_makes_its_features_unknown_until_they_are_computed_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    made(spark, tmp_path)
    name(spark, tmp_path)
    star = Star(indexed(spark, "facts", tmp_path / "facts", features=FEATURES[:1] + FEATURES[9:10]), tmp_path)
    query = "SELECT l_id FROM facts JOIN orders ON l_order = o_id WHERE prio = 'p0'"
    chain = "SELECT l_id FROM facts, orders, cust WHERE l_order = o_id AND o_cust = c_id AND seg = 'seg1'"
    star.reads(query, 1)
    before = star.spark.sql(query).count()
    # A duplicate of an order whose facts lie in another file.
    star.change(f"INSERT INTO delta.`{tmp_path}/orders` VALUES (3, 'n3', 'p0', 1, 0)")
    star.reads(query, 8)
    star.reads(chain, 8)
    assert len(star.table.status().outdated_features) == 2
    assert "2 features about joined tables that have changed" in str(star.table.status())
    assert star.spark.sql(query).count() == before + 1
    assert star.table.index().files_indexed == FILES
    assert star.table.index().files_indexed == 0
    assert not star.table.status().outdated_features
    star.reads(query, 2)
    star.reads(chain, 2)
    star.change(f"UPDATE delta.`{tmp_path}/cust` SET seg = 'seg1' WHERE c_id = 2")
    star.reads(query, 2)
    star.reads(chain, 8)
    star.table.index()
    star.reads(chain, 3)
    # Of an earlier version of the orders nothing is known.
    earlier = f"(SELECT * FROM delta.`{tmp_path}/orders` VERSION AS OF 0)"
    star.reads(f"SELECT l_id FROM facts JOIN {earlier} ON l_order = o_id WHERE prio = 'p0'", 8)
    star.change(f"DELETE FROM delta.`{tmp_path}/orders` WHERE o_id = 3")
    star.reads(query, 8)

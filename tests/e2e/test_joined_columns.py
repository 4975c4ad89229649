"""Value sets of joined tables' columns: filters that no feature is about skip through joins."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same, indexed
from tests.e2e.test_join_features import FILES, Star, made, name

from skipstone.errors import SkipstoneError

COLUMNS = (
    "(SELECT prio FROM orders WHERE o_id = l_order)",
    "(SELECT o_day FROM orders WHERE o_id = l_order)",
    "(SELECT seg FROM orders JOIN cust ON o_cust = c_id WHERE o_id = l_order)",
)


@pytest.fixture(scope="module")
def star(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Star:
    folder = tmp_path_factory.mktemp("star")
    made(spark, folder)
    name(spark, folder)
    return Star(indexed(spark, "facts", folder / "facts", expressions=COLUMNS), folder)


def test_any_filter_on_a_kept_column_skips(star: Star) -> None:
    join = "SELECT l_id, qty FROM facts JOIN orders ON l_order = o_id WHERE"
    star.reads(f"{join} prio = 'p3'", 1)
    star.reads(f"{join} prio IN ('p1', 'p2', 'none')", 2)
    star.reads(f"{join} prio > 'p5' AND o_day >= 0", 2)
    star.reads(f"{join} prio LIKE '%4'", 1)
    star.reads(f"{join} prio > 'p3' AND prio < 'p4'", 0)
    star.reads(f"{join} (prio = 'p3' OR o_day = -1)", 1)
    star.reads("SELECT l_id FROM facts WHERE l_order IN (SELECT o_id FROM orders WHERE prio < 'p2')", 2)
    star.reads("SELECT l_id, prio FROM orders RIGHT JOIN facts ON l_order = o_id WHERE prio = 'p6'", 1)
    # All of these have a partner of their own.
    twice = "SELECT f.l_id FROM facts f JOIN orders a ON l_order = a.o_id JOIN orders b ON l_order = b.o_id"
    star.reads(f"{twice} WHERE a.prio = 'p3' AND b.prio >= 'p3'", 1)
    chain = "SELECT l_id FROM facts, orders, cust WHERE l_order = o_id AND o_cust = c_id AND"
    star.reads(f"{chain} seg = 'seg2'", 2)
    star.reads(f"{chain} seg IN ('seg2', 'seg3') AND prio = 'p3'", 1)
    (scan,) = star.scans(f"{join} prio = 'p3'")
    assert {reason.code for reason in scan.skipped} == {"PARTNER"}
    assert not scan.unused


def test_where_a_row_without_a_partner_may_count_all_is_read(star: Star) -> None:
    others = "(SELECT * FROM orders WHERE prio = 'p3')"
    for query in (
        f"SELECT l_id, o_id FROM facts LEFT JOIN {others} ON l_order = o_id",
        f"SELECT l_id FROM facts LEFT ANTI JOIN {others} ON l_order = o_id",
        "SELECT l_id FROM facts JOIN orders ON l_order = o_id WHERE o_name = 'n3'",  # which is not kept
    ):
        assert_same(star.spark, query)
        assert all(scan.files_read == FILES for scan in star.scans(query)), query


def test_a_changed_joined_table_makes_its_columns_unknown_until_they_are_indexed(
    spark: SparkSession, tmp_path: Path
) -> None:
    made(spark, tmp_path)
    name(spark, tmp_path)
    star = Star(indexed(spark, "facts", tmp_path / "facts", expressions=COLUMNS), tmp_path)
    query = "SELECT l_id FROM facts JOIN orders ON l_order = o_id WHERE prio = 'p0'"
    chain = "SELECT l_id FROM facts, orders, cust WHERE l_order = o_id AND o_cust = c_id AND seg = 'seg1'"
    star.reads(query, 1)
    star.reads(chain, 2)
    # Duplicates of an order whose facts lie in another file; one has no priority.
    star.change(f"INSERT INTO delta.`{tmp_path}/orders` VALUES (3, 'n3', 'p0', 1, 0), (5, 'n5', NULL, 1, 0)")
    star.reads(query, 8)
    star.reads(chain, 8)
    status = star.table.status()
    assert len(status.outdated_columns) == 3
    assert "3 columns about joined tables that have changed" in str(status)
    assert star.table.index().files_indexed == FILES
    assert star.table.index().files_indexed == 0
    assert not star.table.status().outdated_columns
    star.reads(query, 2)
    star.reads("SELECT l_id FROM facts JOIN orders ON l_order = o_id WHERE prio IS NULL", 1)
    star.reads("SELECT l_id FROM facts JOIN orders ON l_order = o_id WHERE o_day <=> NULL", 0)
    star.change(f"UPDATE delta.`{tmp_path}/cust` SET seg = 'new' WHERE c_id = 2")
    star.reads(query, 2)
    star.reads(chain, 8)
    assert len(star.table.status().outdated_columns) == 1
    star.table.index()
    star.reads(chain.replace("seg1", "new"), 1)
    # Of an earlier version of the orders nothing is known.
    earlier = f"(SELECT * FROM delta.`{tmp_path}/orders` VERSION AS OF 0)"
    star.reads(f"SELECT l_id FROM facts JOIN {earlier} ON l_order = o_id WHERE prio = 'p0'", 8)


def test_columns_of_every_kind_skip_by_ranges_where_they_have_many_values(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = 2_000
    spark.range(0, rows, 1, 10).selectExpr("id AS f_id", "id AS k").write.format("delta").save(
        f"{tmp_path}/f"
    )
    spark.range(0, rows + 5, 1, 2).selectExpr(
        "id AS d_id",
        "CAST(id - 300 AS INT) AS i",
        "CAST(id AS SMALLINT) AS s",
        "CAST(id / 7 AS DECIMAL(12, 3)) AS m",
        "date_add(DATE '1969-01-01', CAST(id AS INT)) AS day",
        "IF(id % 3 = 0, NULL, concat('é''\\\\n', lpad(id, 5, '0'))) AS t",
        "IF(id < 5, NULL, id) AS n",
    ).write.format("delta").save(f"{tmp_path}/d")
    spark.read.format("delta").load(f"{tmp_path}/d").createOrReplaceTempView("d")
    asked = [f"(SELECT {column} FROM d WHERE d_id = k)" for column in ("i", "s", "m", "day", "t", "n")]
    table = indexed(spark, "f", tmp_path / "f", expressions=asked)

    def reads(condition: str, most: int) -> None:
        query = f"SELECT f_id FROM f JOIN d ON k = d_id WHERE {condition}"
        found = assert_same(spark, query)
        (scan,) = (scan for scan in table.explain(query).scans if scan.root.endswith("/f"))
        assert 0 < scan.files_read <= most, (condition, scan)
        assert found

    for condition in ("i = 700", "s = 1000", "m = 142.857", "day = DATE '1971-09-28'", "n = 1000"):
        reads(condition, 2)
    reads("t = 'é''\\\\n01000'", 2)
    reads("t < 'é''\\\\n00100'", 1)
    reads("i BETWEEN -300 AND -200", 1)
    reads("n IS NULL", 1)
    reads("i IN (-300, 1699)", 2)


def test_what_is_no_column_of_a_joined_table_is_refused(star: Star) -> None:
    for text, why in (
        ("(SELECT prio FROM orders WHERE o_id = l_order AND o_day > 3)", "without other conditions"),
        ("(SELECT max(prio) FROM orders WHERE o_id = l_order)", "does not fit this table"),
        ("(SELECT prio FROM nowhere WHERE o_id = l_order)", "does not fit this table"),
        ("(SELECT prio FROM orders WHERE o_id > l_order)", "equal keys"),
    ):
        with pytest.raises(SkipstoneError, match=why) as refused:
            star.table.index(expressions=[text])
        assert text in str(refused.value)
        assert "EXISTS" not in str(refused.value), "nothing that nobody wrote"

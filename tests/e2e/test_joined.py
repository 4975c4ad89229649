"""Joins answered from a joined replica: the same rows as from the tables, or the tables are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same, settings
from tests.e2e.joined import ROWS, SALES_CUSTOMERS, SNOWFLAKE, codes, log, named, write_star
from tests.templates import Templates

import skipstone
from skipstone.errors import SkipstoneError
from skipstone.workload.queries import Query, Workload

CTE = f"WITH x AS (SELECT c_id, price FROM {SALES_CUSTOMERS})"
RENAMED = f"(SELECT s_id, c_nation FROM {SALES_CUSTOMERS})"
UNION = "UNION ALL SELECT st_id FROM stores JOIN sales ON st_id = s_store WHERE price > 95"
ANSWERED = (
    f"SELECT sum(price), count(*) FROM {SNOWFLAKE} WHERE nation = 'nation 3' AND s_id < 500",
    f"SELECT s_id, name, price * 2 AS twice FROM {SALES_CUSTOMERS} WHERE name LIKE '%4' OR price > s_id",
    "SELECT s_id, floors, stores.name FROM stores, sales WHERE s_store = st_id AND st_id = 4",
    f"SELECT count(*) FROM {SALES_CUSTOMERS}",
    f"SELECT name, max(c_id), min(s_customer) FROM {SALES_CUSTOMERS} GROUP BY name HAVING count(*) > 3",
    f"SELECT s_id FROM {SNOWFLAKE} JOIN stores ON s_store = st_id WHERE stores.name < nation LIMIT 900",
    f"SELECT s_id FROM {SALES_CUSTOMERS} WHERE price > (SELECT avg(price) FROM {SALES_CUSTOMERS})",
    f"SELECT s_id, n FROM {RENAMED} JOIN (SELECT n_id, nation AS n FROM nations) ON c_nation = n_id",
    f"{CTE} SELECT * FROM x a JOIN x b USING (c_id) WHERE a.price > 90 AND b.price > 90",
    f"SELECT s_id FROM {SALES_CUSTOMERS} WHERE price < 5 {UNION}",
    f"SELECT s_id, nation FROM {SALES_CUSTOMERS} LEFT JOIN nations ON n_id = c_nation",
)
LEFT_ALONE = {
    "SELECT s_id, name FROM sales LEFT JOIN customers ON s_customer = c_id": "NO_INNER_JOIN",
    "SELECT s_id FROM sales LEFT SEMI JOIN customers ON s_customer = c_id": "NO_INNER_JOIN",
    "SELECT s_id FROM sales LEFT ANTI JOIN customers ON s_customer = c_id": "NO_INNER_JOIN",
    "SELECT /*+ MERGE(customers) */ s_id FROM sales JOIN customers ON s_customer = c_id": "HINT",
    "SELECT s_id FROM sales JOIN customers ON s_store = c_id": "OTHER_KEYS",
    "SELECT s_id FROM sales JOIN customers ON s_customer + 1 = c_id": "OTHER_KEYS",
    "SELECT s_id FROM sales JOIN customers ON s_customer < c_id WHERE c_id < 3": "OTHER_KEYS",
    "SELECT s_id FROM sales JOIN nations ON s_store = n_id": "OTHER_KEYS",
    "SELECT s_id FROM sales JOIN (SELECT DISTINCT c_id FROM customers) ON s_customer = c_id": "NOT_A_TABLE",
    "SELECT a.s_id FROM sales a JOIN sales b ON a.s_id = b.s_customer": "SELF_JOIN",
    "SELECT s_id FROM sales JOIN customers VERSION AS OF 0 ON s_customer = c_id": "JOINED",
}


@pytest.fixture(scope="module", autouse=True)
def _always(spark: SparkSession) -> Iterator[None]:
    # In tables of a few kilobytes it matters most how many files there are.
    with settings(spark, spark__skipstone__joined="always"):
        yield


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The star with a joined replica, for tests that do not change it."""
    made_in = tmp_path_factory.mktemp("joined")
    write_star(spark, made_in)
    made = named(spark, made_in).denormalise(log(), block_rows=60)
    assert made.rows == ROWS
    assert len(made.tables) == 4
    assert made.files > 3
    assert (made.queries, made.left_out, made.layout) == (15, (), "qdtree")
    return made_in


@pytest.fixture(scope="module")
def star(spark: SparkSession, folder: Path) -> skipstone.Table:
    """Its sales. Its tables have their names until a test further down gives these to tables of its own."""
    return named(spark, folder)


Write = Callable[[Path], None]


@pytest.fixture
def write(spark: SparkSession, templates: Templates) -> Write:
    """Writes a star for a test that changes it."""

    def copy(folder: Path) -> None:
        for path in templates.copy("star", lambda path: write_star(spark, path), folder / "copy").iterdir():
            path.rename(folder / path.name)

    return copy


@pytest.mark.parametrize("query", ANSWERED)
def test_inner_joins_on_the_keys_are_answered_from_the_replica(star: skipstone.Table, query: str) -> None:
    assert assert_same(star.spark, query)
    assert "JOINED" in codes(star, query), star.explain(query)


def test_the_replica_is_skipped_in_like_any_table(star: skipstone.Table) -> None:
    (scan,) = star.explain(ANSWERED[0]).scans
    assert "/_skipstone/joined/" in scan.root
    assert 0 < scan.files_read < scan.files_total
    assert "from a joined replica" in str(star.explain(ANSWERED[0]))


@pytest.mark.parametrize(("query", "code"), LEFT_ALONE.items())
def test_other_joins_read_the_tables_and_explain_says_why(
    star: skipstone.Table, query: str, code: str
) -> None:
    query = query.replace("customers VERSION", f"delta.`{star.source[:-5]}customers` VERSION")
    assert_same(star.spark, query)
    assert codes(star, query) == [code], star.explain(query)


def test_results_stay_the_same_however_the_query_is_run(star: skipstone.Table) -> None:
    for aqe, codegen in (("true", "true"), ("false", "false")):
        with settings(star.spark, spark__sql__adaptive__enabled=aqe, spark__sql__codegen__wholeStage=codegen):
            for query in (ANSWERED[6], ANSWERED[8]):
                assert_same(star.spark, query)
    cached = star.spark.sql(ANSWERED[1]).cache()
    try:
        assert cached.count() == cached.count() == len(assert_same(star.spark, ANSWERED[1]))
    finally:
        cached.unpersist()
    with settings(star.spark, spark__skipstone__joined="never"):
        assert codes(star, ANSWERED[3]) == []


def test_a_replica_that_reads_far_more_than_the_tables_is_not_read(star: skipstone.Table) -> None:
    with settings(star.spark, spark__skipstone__joined="auto"):
        few = f"SELECT customers.*, sales.* FROM {SALES_CUSTOMERS} WHERE s_id BETWEEN 3 AND 9"
        assert assert_same(star.spark, few)
        assert codes(star, few) == ["COST"]


def test_random_values_and_names_of_files_leave_the_joins_alone(star: skipstone.Table) -> None:
    random = "(SELECT s_id, s_customer + floor(rand()) AS k FROM sales)"
    within = f"SELECT s_id FROM {random} JOIN customers ON k = c_id"
    assert codes(star, within) == ["NON_DETERMINISTIC"]
    paths = "(SELECT *, input_file_name() AS path FROM sales)"
    files = f"SELECT path, name FROM {paths} JOIN customers ON s_customer = c_id"
    assert codes(star, files) == []
    metadata = (
        f"SELECT s._metadata.file_name FROM delta.`{star.source}` s JOIN customers ON s_customer = c_id"
    )
    assert codes(star, metadata) == ["NOT_KNOWN"]
    with settings(star.spark, spark__sql__parquet__binaryAsString="true"):
        assert codes(star, ANSWERED[3]) == ["OTHER_SETTINGS"]


def test_keys_that_are_not_unique_are_refused_before_anything_is_written(
    spark: SparkSession, write: Write, tmp_path: Path
) -> None:
    write(tmp_path)
    spark.sql(
        f"INSERT INTO delta.`{tmp_path}/customers` VALUES (4, 'twice', 1), (NULL, 'none', 1), (NULL, 'n', 2)"
    )
    sales = named(spark, tmp_path)
    queries = Workload((Query(f"SELECT count(name) FROM {SALES_CUSTOMERS}"),))
    with pytest.raises(
        SkipstoneError, match="customers cannot be joined: its key is not unique: 2 rows have c_id = 4"
    ):
        sales.denormalise(queries)
    with pytest.raises(SkipstoneError, match=r"No query joins .*sales to another table"):
        sales.denormalise(Workload((Query("SELECT count(*) FROM sales"),)))
    assert not (tmp_path / "sales" / "_skipstone" / "joined").exists()


def test_once_a_table_changes_the_tables_are_read_until_the_replica_is_refreshed(
    spark: SparkSession, write: Write, tmp_path: Path
) -> None:
    write(tmp_path)
    sales = named(spark, tmp_path)
    replica = sales.denormalise(log(), block_rows=60).replica
    stores = "SELECT count(*) FROM sales JOIN stores ON s_store = st_id"

    def change(statement: str) -> None:
        spark.sql(statement)
        named(spark, tmp_path)
        assert_same(spark, ANSWERED[0])

    change(f"UPDATE delta.`{tmp_path}/customers` SET c_nation = 3 WHERE c_id = 7")
    assert codes(sales, ANSWERED[0]) == ["STALE"]
    assert codes(sales, stores) == ["JOINED"], "none of these has changed"
    assert sales.replicas().joined[0].reason.endswith("customers has changed")
    change(f"DELETE FROM delta.`{tmp_path}/sales` WHERE s_id % 3 = 0")
    assert codes(sales, stores) == ["STALE"]
    assert sales.refresh().joined == (replica,)
    assert sales.replicas().joined[0].reason == ""
    assert "nothing to do" in str(sales.refresh(replica))
    assert assert_same(spark, ANSWERED[0])
    assert codes(sales, ANSWERED[0]) == ["JOINED"]
    change(f"INSERT INTO delta.`{tmp_path}/customers` VALUES (4, 'twice', 1)")
    with pytest.raises(SkipstoneError, match=r"cannot be refreshed: .*customers cannot be joined any more"):
        sales.refresh(replica)
    assert_same(spark, ANSWERED[0])
    sales.drop(replica, now=True)
    assert codes(sales, ANSWERED[0]) == []
    assert sales.replicas().joined == ()


def test_a_replica_with_a_missing_or_damaged_file_is_not_read_and_repair_makes_it_anew(
    spark: SparkSession, write: Write, tmp_path: Path
) -> None:
    write(tmp_path)
    sales = named(spark, tmp_path)
    sales.denormalise(log(), block_rows=60)
    copies = tmp_path / "sales" / "_skipstone" / "joined"
    lost = next(copies.glob("*/*/*.parquet"))
    kept = lost.read_bytes()
    lost.unlink()
    assert_same(spark, ANSWERED[3])
    assert codes(sales, ANSWERED[3]) == ["DAMAGED"]
    assert "is missing" in sales.replicas().joined[0].reason
    lost.write_bytes(kept[: len(kept) // 2])
    (damage,) = sales.repair(check=True).damages
    assert not damage.repaired
    assert_same(spark, ANSWERED[3])
    assert codes(sales, ANSWERED[3]) == ["DAMAGED"]
    assert sales.repair().whole
    assert codes(sales, ANSWERED[3]) == ["JOINED"]
    assert sales.repair().damages == ()
    (known,) = sales.replicas().joined
    with pytest.raises(SkipstoneError, match=f"has no replica nobody; it has {known.id}"):
        sales.drop("nobody")


def test_tables_too_small_for_two_blocks_are_joined_and_left_as_they_are(
    spark: SparkSession, write: Write, tmp_path: Path
) -> None:
    write(tmp_path)
    sales = named(spark, tmp_path)
    assert sales.denormalise(log()).layout == "none"
    for query in (ANSWERED[0], ANSWERED[4]):
        assert_same(spark, query)
        assert codes(sales, query) == ["JOINED"]


def test_deletion_vectors_column_mapping_and_partitions_of_the_tables(
    spark: SparkSession, write: Write, tmp_path: Path
) -> None:
    write(tmp_path / "plain")
    mapped = "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true'"
    for name, partitioned in (("sales", "PARTITIONED BY (s_store)"), ("customers", "")):
        path = f"delta.`{tmp_path}/{name}`"
        rows = f"SELECT /*+ COALESCE(1) */ * FROM delta.`{tmp_path}/plain/{name}`"
        spark.sql(f"CREATE TABLE {path} USING delta {partitioned} TBLPROPERTIES ({mapped}) AS {rows}")
    spark.sql(f"ALTER TABLE delta.`{tmp_path}/customers` RENAME COLUMN name TO old")
    spark.sql(f"ALTER TABLE delta.`{tmp_path}/customers` ADD COLUMN name STRING")
    spark.sql(f"UPDATE delta.`{tmp_path}/customers` SET name = concat('name ', c_id % 9) WHERE c_id <> 5")
    spark.sql(f"DELETE FROM delta.`{tmp_path}/customers` WHERE c_id % 10 = 3")
    spark.sql(f"DELETE FROM delta.`{tmp_path}/sales` WHERE s_id % 11 = 2")
    for name in ("stores", "nations"):
        (tmp_path / "plain" / name).rename(tmp_path / name)
    sales = named(spark, tmp_path)
    assert any(
        "deletionVector" in log_.read_text() for log_ in (tmp_path / "sales/_delta_log").glob("*.json")
    )
    assert sales.denormalise(log(), block_rows=60).layout == "qdtree"
    for query in (*ANSWERED[:3], ANSWERED[-1]):
        assert_same(spark, query)
        assert "JOINED" in codes(sales, query), sales.explain(query)
    spark.sql(f"DELETE FROM delta.`{tmp_path}/sales` WHERE s_id = 1")
    named(spark, tmp_path)
    assert_same(spark, ANSWERED[3])
    assert codes(sales, ANSWERED[3]) == ["STALE"]

"""Only queries are made of text: whatever else it says, nothing is run and nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.opened import opened

import skipstone
from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.query_text import NotAQueryError, query_frame, reads_table
from skipstone.workload import Query, Workload

COMMANDS = [
    "DELETE FROM qt WHERE k = 1",
    "DELETE FROM delta.`{path}` WHERE k = 1",
    "  -- why not\n/* and */ DELETE FROM qt;;",
    "UPDATE qt SET v = 'z' WHERE k = 1",
    "MERGE INTO qt USING qt_more m ON qt.k = m.k WHEN MATCHED THEN DELETE",
    "INSERT INTO qt VALUES (7, 'z')",
    "INSERT INTO qt SELECT k + 100, v FROM qt",
    "INSERT OVERWRITE qt SELECT * FROM qt_more",
    "INSERT INTO qt REPLACE WHERE k = 1 SELECT 1L, 'z'",
    "INSERT INTO IDENTIFIER('qt') SELECT 7L, 'z'",
    "INSERT OVERWRITE DIRECTORY '{out}/directory' USING parquet SELECT * FROM qt",
    "WITH x AS (SELECT 9L AS k, 'z' AS v) INSERT INTO qt SELECT * FROM x",
    "WITH x AS (SELECT 9L AS k) DELETE FROM qt WHERE k IN (SELECT k FROM x)",
    "FROM qt INSERT INTO qt_more SELECT * INSERT INTO qt_more SELECT k, 'twice'",
    "CREATE TABLE qt_new USING delta AS SELECT * FROM qt",
    "CREATE OR REPLACE TABLE qt_more USING delta AS SELECT 1 AS one",
    "CREATE TABLE IDENTIFIER('qt_new') USING delta AS SELECT * FROM qt",
    "CREATE TABLE qt_new (k INT) USING delta",
    "CREATE TABLE qt_new SHALLOW CLONE qt",
    "CREATE TABLE qt_new LIKE qt",
    "CREATE VIEW qt_view AS SELECT * FROM qt",
    "CREATE VIEW IDENTIFIER('qt_view') AS SELECT * FROM qt",
    "CREATE OR REPLACE TEMP VIEW qt_view AS SELECT * FROM qt",
    "CREATE TEMPORARY FUNCTION qt_function(x INT) RETURNS INT RETURN x + 1",
    "DROP TABLE qt_more",
    "DROP TABLE IDENTIFIER('qt_more')",
    "DROP SCHEMA qt_schema CASCADE",
    "CREATE SCHEMA qt_new_schema",
    "TRUNCATE TABLE qt",
    "ALTER TABLE qt ADD COLUMN z INT",
    "ALTER TABLE qt SET TBLPROPERTIES ('a' = 'b')",
    "COMMENT ON TABLE qt IS 'text'",
    "OPTIMIZE qt",
    "OPTIMIZE delta.`{path}` ZORDER BY (k)",
    "REORG TABLE qt APPLY (PURGE)",
    "VACUUM qt",
    "RESTORE TABLE qt TO VERSION AS OF 0",
    "CONVERT TO DELTA parquet.`{out}`",
    "DESCRIBE HISTORY qt",
    "DESCRIBE DETAIL qt",
    "DESCRIBE qt",
    "DESCRIBE QUERY SELECT 1",
    "EXPLAIN SELECT * FROM qt",
    "EXPLAIN DELETE FROM qt",
    "SHOW TABLES",
    "SHOW CREATE TABLE qt",
    "EXECUTE IMMEDIATE 'DELETE FROM qt'",
    "EXECUTE IMMEDIATE 'SELECT * FROM qt'",
    "BEGIN DELETE FROM qt; END",
    "BEGIN SELECT 1; SELECT 2; END",
    "DECLARE qt_variable INT DEFAULT 1",
    "SET VAR qt_variable = (SELECT max(k) FROM qt)",
    "SET spark.sql.shuffle.partitions = 77",
    "RESET spark.sql.shuffle.partitions",
    "SET TIME ZONE 'Europe/Lisbon'",
    "CACHE TABLE qt",
    "CACHE TABLE qt_cached AS SELECT * FROM qt",
    "CACHE TABLE IDENTIFIER('qt_cached') AS SELECT * FROM qt",
    "UNCACHE TABLE IF EXISTS qt",
    "CLEAR CACHE",
    "REFRESH TABLE qt",
    "ANALYZE TABLE qt COMPUTE STATISTICS",
    "MSCK REPAIR TABLE qt",
    "LOAD DATA INPATH '{out}' INTO TABLE qt",
    "ADD FILE '{out}/file'",
    "CALL system.no_procedure()",
    "USE qt_schema",
    "USE IDENTIFIER('qt_schema')",
    "SELECT TRANSFORM(k) USING 'touch {out}/ran' AS x FROM qt",
]

QUERIES = [
    "SELECT * FROM qt WHERE k > 1",
    "select v, count(*) from qt group by all having count(*) > 0 order by 1 limit 5 offset 0;",
    "-- a\n/* b; */ SELECT * FROM qt /* c */ ; -- d",
    "(SELECT k FROM qt) UNION ALL (SELECT k FROM qt_more) EXCEPT SELECT 5 INTERSECT SELECT 3",
    "WITH a AS (SELECT * FROM qt), b(x) AS (SELECT k FROM a) SELECT * FROM b JOIN a ON x = k",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r",
    "VALUES (1, 'a'), (2, 'b')",
    "TABLE qt",
    "TABLE IDENTIFIER('qt')",
    "SELECT * FROM IDENTIFIER('qt') WHERE k = 1",
    "FROM qt SELECT k WHERE k > 1",
    "FROM qt SELECT k",
    "FROM qt |> WHERE k > 1 |> EXTEND k + 1 AS n |> AGGREGATE sum(n) AS s GROUP BY v |> ORDER BY s",
    "TABLE qt |> JOIN qt_more USING (k) |> SELECT k",
    "SELECT /*+ BROADCAST(m) */ qt.k FROM qt JOIN qt_more m ON qt.k = m.k",
    "SELECT * FROM range(3)",
    "SELECT * FROM explode(array(1, 2))",
    "SELECT k, e FROM qt LATERAL VIEW explode(array(1, 2)) AS e",
    "SELECT * FROM qt, LATERAL (SELECT max(k) AS m FROM qt_more WHERE qt_more.k >= qt.k)",
    "SELECT k, row_number() OVER w FROM qt WINDOW w AS (PARTITION BY v ORDER BY k)",
    "SELECT * FROM qt WHERE k IN (SELECT k FROM qt_more) AND EXISTS (SELECT 1 FROM qt_more)",
    "SELECT (SELECT max(k) FROM qt_more) AS m, `delete from` FROM (SELECT 'insert into' AS `delete from`)",
    "SELECT * FROM qt PIVOT (count(*) FOR v IN ('a', 'b'))",
    "SELECT * FROM qt TABLESAMPLE (100 PERCENT)",
    "SELECT * FROM qt VERSION AS OF 0",
    "SELECT * FROM delta.`{path}` WHERE k = 1",
    "SELECT 1 AS one",
]


@pytest.fixture(scope="module")
def path(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the Delta table qt lies; beside it there are a second table and a schema."""
    where = str(tmp_path_factory.mktemp("query_text") / "qt")
    rows = spark.createDataFrame([(1, "a"), (2, "b")], "k long, v string")
    rows.write.format("delta").option("path", where).saveAsTable("qt")
    rows.where("k = 1").write.format("delta").mode("append").saveAsTable("qt")
    rows.write.format("delta").saveAsTable("qt_more")
    spark.sql("CREATE SCHEMA qt_schema")
    yield where
    for statement in ("DROP TABLE qt", "DROP TABLE qt_more", "DROP SCHEMA qt_schema"):
        spark.sql(statement)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("x")
    return tmp_path


def state(spark: SparkSession, path: str, out: Path) -> object:
    """All that a command could have changed."""
    catalog = spark.catalog
    return (
        [
            (
                spark.sql(f"DESCRIBE HISTORY {name}").count(),
                spark.table(name).schema,
                sorted(map(tuple, spark.table(name).collect())),
                catalog.isCached(name),
            )
            for name in ("qt", "qt_more")
        ],
        sorted(file.name for file in Path(path).rglob("*")),
        sorted(file.name for file in out.rglob("*")),
        sorted((each.name, each.tableType) for each in catalog.listTables()),
        sorted(each.name for each in catalog.listDatabases()),
        catalog.currentDatabase(),
        catalog.functionExists("qt_function"),
        dict(spark.conf.getAll),
        spark.sql("SHOW TBLPROPERTIES qt").collect(),
    )


# Spark lists its catalog only with generated code.
@pytest.mark.usefixtures("usual_plans")
def test_no_command_is_run_by_explain_replay_analyze_or_import(
    spark: SparkSession, path: str, out: Path
) -> None:
    commands = [text.format(path=path, out=out) for text in COMMANDS]
    table = skipstone.table(spark, "qt")
    before = state(spark, path, out)
    for text in commands:
        with pytest.raises(NotAQueryError, match=r"^The query cannot be used: it is [A-Z].*, not a query\.$"):
            table.explain(text)
    assert state(spark, path, out) == before

    query = Query("SELECT * FROM qt WHERE k = 1", position=1000)
    log = Workload((*(Query(text, position=n, line=n) for n, text in enumerate(commands, 1)), query))
    report = table.replay(log)
    assert [replayed.sql for replayed in report.queries] == [query.sql]
    assert report.broken == ()
    assert [each.position for each in report.left_out] == list(range(1, len(commands) + 1))
    assert report.summary()["left_out"] == len(commands)
    told = report.to_dict()["left_out"]
    assert isinstance(told, list)
    assert told[0] == {
        "sql": commands[0],
        "reason": "it is DELETE, not a query",
        "position": 1,
        "line": 1,
        "file": None,
    }
    assert state(spark, path, out) == before

    unusable = table.analyze(log, num_features=1, threshold=1).unusable
    reasons = {each.sql: each.reason for each in unusable}
    assert reasons["EXECUTE IMMEDIATE 'DELETE FROM qt'"] == "it is EXECUTE IMMEDIATE, not a query"
    assert reasons["DROP TABLE qt_more"] == "it is DROP TABLE, not a query"
    assert "DELETE FROM qt WHERE k = 1" not in reasons, "the rows that a change looks for are load"
    assert state(spark, path, out) == before


def test_queries_of_every_form_give_what_spark_gives(spark: SparkSession, path: str) -> None:
    for text in QUERIES:
        sql = text.format(path=path)
        assert sorted(map(str, query_frame(spark, sql).collect())) == sorted(
            map(str, spark.sql(sql).collect())
        ), sql


def test_a_frame_is_taken_as_it_is(spark: SparkSession) -> None:
    frame = spark.sql("SHOW TABLES")
    assert query_frame(spark, frame) is frame


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT 1; SELECT 2", "it is 2 statements, and one query is asked for."),
        ("SELECT 1; DELETE FROM qt", "it is 2 statements, and one query is asked for."),
        ("SELEC 1", "SELEC"),
        ("SELECT nope FROM qt", "nope"),
        ("SELECT * FROM qt WHERE k = :missing", "missing"),
        ("", "cannot be used"),
    ],
)
def test_text_that_is_not_one_query_is_one_sentence(
    spark: SparkSession, path: str, text: str, said: str
) -> None:
    with pytest.raises(SkipstoneError, match=r"^The query cannot be used: [^\n]*\.$") as caught:
        query_frame(spark, text)
    assert said in str(caught.value)


def test_a_query_on_other_tables_only_is_left_out_of_a_replay(spark: SparkSession, path: str) -> None:
    table = skipstone.table(spark, "qt")
    root = opened(table).root
    read = ("SELECT * FROM qt", f"SELECT * FROM delta.`{path}`", "SELECT 1 FROM qt WHERE false")
    other = ("SELECT * FROM qt_more", "SELECT 1", "SELECT * FROM range(3)")
    inside = "SELECT * FROM qt_more WHERE k IN (SELECT k FROM qt)"
    assert all(reads_table(query_frame(spark, sql), root) for sql in (*read, inside))
    assert not any(reads_table(query_frame(spark, sql), root) for sql in other)
    report = table.replay(Workload(tuple(Query(sql) for sql in (read[0], other[0]))))
    assert [query.sql for query in report.queries] == [read[0]]
    assert [each.reason for each in report.left_out] == ["it does not read the table"]

"""Query text and query files: queries are used, everything else is named and left out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cli.conftest import Cli
from tests.templates import Templates

OSLO = "SELECT k FROM shop WHERE city = 'Oslo'"


@pytest.fixture
def shop(spark: SparkSession, templates: Templates, tmp_path: Path) -> Path:
    """A Delta table of two files, indexed."""

    def make(path: Path) -> None:
        rows = spark.range(0, 200, 1, 2).selectExpr("id AS k", "if(id = 150, 'Oslo', 'Porto') AS city")
        rows.write.format("delta").save(str(path))
        assert Cli().json("index", path)["files_indexed"] == 2

    return templates.copy("shop", make, tmp_path / "shop")


def rows_and_version(spark: SparkSession, path: Path) -> tuple[int, int]:
    history = spark.sql(f"DESCRIBE HISTORY delta.`{path}`")
    return spark.read.format("delta").load(str(path)).count(), history.count()


def test_explain_refuses_a_statement_that_is_not_a_query_and_changes_nothing(
    cli: Cli, spark: SparkSession, shop: Path
) -> None:
    for statement, said in (
        ("DELETE FROM shop WHERE k < 100", "it is DELETE, not a query."),
        ("INSERT INTO shop SELECT * FROM shop", "it is INSERT, not a query."),
        ("SELECT 1; DELETE FROM shop", "it is 2 statements, and one query is asked for."),
    ):
        assert cli.error("explain", shop, statement) == f"The query cannot be used: {said}"
    assert rows_and_version(spark, shop) == (200, 1)


def test_replay_runs_the_queries_of_a_history_and_leaves_the_rest_out(
    cli: Cli, spark: SparkSession, shop: Path, tmp_path: Path
) -> None:
    spark.sql("SELECT 1 AS one").write.parquet(str(tmp_path / "p"))
    page = {
        "res": [
            {"query_text": OSLO, "status": "FINISHED", "statement_type": "SELECT"},
            {"query_text": "DELETE FROM shop WHERE k < 100", "status": "FINISHED"},
            {"query_text": "SELECT * FROM shop WHERE k = 'x' + 1", "status": "FAILED"},
            {"query_text": "SELECT * FROM p", "status": "FINISHED"},
            {"query_text": "DROP TABLE IF EXISTS shop; SELECT nope FROM shop", "status": "FINISHED"},
            {"query_text": "EXECUTE IMMEDIATE 'DELETE FROM shop'", "status": "FINISHED"},
        ]
    }
    path = tmp_path / "history.json.gz"
    path.write_bytes(gzip.compress(json.dumps(page).encode()))
    arguments = (shop, "--queries", path, "--table", f"p={tmp_path / 'p'}")
    report = cli.json("replay", *arguments)
    assert [(query["sql"], query["same_result"], query["files_read"]) for query in report["queries"]] == [
        (OSLO, True, 1)
    ]
    assert [(each["position"], each["reason"]) for each in report["left_out"]] == [
        (2, "it is DELETE, not a query"),
        (3, "its engine ended it as FAILED"),
        (4, "it does not read the table"),
        (5, "it is DROP TABLE, not a query"),
        (7, "it is EXECUTE IMMEDIATE, not a query"),
    ]
    assert [each["position"] for each in report["broken"]] == [6]
    assert (report["summary"]["left_out"], report["summary"]["broken"]) == (5, 1)
    said = cli("replay", *arguments)
    assert said.stdout.rstrip().endswith("1 statement could not be used. 5 statements left out.")
    warnings = [line for line in said.stderr.splitlines() if line.startswith("Warning: ")]
    assert len(warnings) == 6
    assert f"Warning: {path}, statement 2: it is DELETE, not a query" in warnings

    analyzed = cli.json("analyze", *arguments, "--num-features", 1, "--threshold", 1)
    assert analyzed["queries"] == 2, "the rows that the DELETE looked for were read"
    assert [(each["position"], each["reason"]) for each in analyzed["left_out"]][1] == (
        4,
        "it does not read shop",
    )
    added = cli.json("log", "import", *arguments)
    assert (added["added"], len(added["left_out"]), len(added["broken"])) == (2, 4, 1)
    assert rows_and_version(spark, shop) == (200, 1)


def test_queries_come_from_standard_input_in_a_format_and_column_of_ones_own(
    cli: Cli, shop: Path, tmp_path: Path
) -> None:
    for options, data in (
        ((), f"{OSLO};\n".encode()),
        (("--column", "body"), json.dumps([{"body": OSLO}]).encode()),
        (("--format", "csv", "--column", "body"), f'a,body\n1,"{OSLO}"\n'.encode()),
    ):
        report = cli.json("replay", shop, "--queries", "-", *options, stdin=data)
        assert [query["sql"] for query in report["queries"]] == [OSLO]
    refused = cli("replay", shop, "--queries", "-", stdin=b"DROP TABLE shop")
    assert refused.exit_code == 1
    assert "Error: standard input has no query that can be replayed." in refused.stderr
    assert "standard input, statement 1 (line 1): it is DROP TABLE, not a query" in refused.stderr


def test_other_dialects_are_judged_by_what_spark_would_run(cli: Cli, shop: Path, tmp_path: Path) -> None:
    queries = tmp_path / "log.sql"
    queries.write_text(f"SELECT [k] INTO copy FROM [shop];\nSELECT TOP 3 [k] FROM [shop];\n{OSLO};")
    report = cli.json("replay", shop, "--queries", queries, "--dialect", "tsql")
    assert [(query["files_read"], query["same_result"]) for query in report["queries"]] == [
        (2, True),
        (1, True),
    ]
    assert [each["position"] for each in report["left_out"]] == [1]


def test_when_no_statement_is_used_the_error_says_why(cli: Cli, shop: Path, tmp_path: Path) -> None:
    queries = tmp_path / "log.sql"
    queries.write_text("DROP TABLE shop;\nVACUUM shop;")
    for command in ("analyze", "advise"):
        sentence = cli.error(command, shop, "--queries", queries)
        assert "(2 statements not used; statement 1 (line 1): it is DROP TABLE, not a query)" in sentence

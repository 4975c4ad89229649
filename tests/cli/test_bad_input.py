"""Bad input: one clear sentence on standard error, exit code 1 (2 for a wrong call), never a traceback."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.catalog.segments import segment
from tests.cli.conftest import Cli

import skipstone
from skipstone.catalog import encode
from skipstone.catalog.store import digest_of
from skipstone.spark.bridge import runtime

COUNT = "SELECT count(*) FROM orders WHERE k < 10"


@pytest.fixture
def no_table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    match request.param:
        case "missing":
            return tmp_path / "nowhere"
        case "empty":
            (tmp_path / "empty").mkdir()
            return tmp_path / "empty"
        case "csv":
            (tmp_path / "csv").mkdir()
            (tmp_path / "csv" / "a.csv").write_text("k,city\n1,Oslo\n")
            return tmp_path / "csv"
        case "file":
            (tmp_path / "file.txt").write_text("text")
            return tmp_path / "file.txt"
    raise AssertionError


def test_several_directories_are_no_table(cli: Cli, spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a", "b"):
        spark.range(5).write.parquet(str(tmp_path / "several" / name))
    assert cli.error("index", f"{tmp_path}/several/*").endswith("is several directories; a table is one.")


@pytest.mark.parametrize("no_table", ["missing", "empty", "csv", "file"], indirect=True)
@pytest.mark.parametrize("command", [["index"], ["status"], ["explain", "SELECT 1"]], ids=lambda c: c[0])
def test_a_path_that_is_no_table_is_named(cli: Cli, no_table: Path, command: list[str]) -> None:
    sentence = cli.error(command[0], no_table, *command[1:])
    assert str(no_table) in sentence
    assert not (no_table / "_skipstone").exists()


def test_what_is_at_a_path_is_said(cli: Cli, spark: SparkSession, tmp_path: Path) -> None:
    one = tmp_path / "one"
    spark.range(5).coalesce(1).write.parquet(str(one / "part"))
    (file,) = (one / "part").glob("*.parquet")
    for uri in (str(file), file.as_uri()):
        assert cli.error("index", uri).endswith(
            f"is a file, and a table is a directory; give the one that it lies in ({uri.rpartition('/')[0]})."
        )
    assert "but these directories in it have: part/; give one of them." in cli.error("index", one)
    assert "nowhere does not exist." in cli.error("index", tmp_path / "nowhere")
    assert cli("index", one / "part").exit_code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--layout", "spiral"], "There is no layout spiral; choose one of auto, range"),
        (["--layout", "selforg", "--curve", "peano"], "There is no curve peano; choose one of z, hilbert."),
        (
            ["--layout", "zorder", "--curve", "hilbert"],
            "is for the layout selforg, and the layout asked for is",
        ),
        (["--curve", "hilbert"], "is for the layout selforg, and the layout asked for is auto."),
    ],
)
def test_layouts_and_curves_that_there_are_not_are_named(
    cli: Cli, orders: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    queries = tmp_path / "log.sql"
    queries.write_text(COUNT + ";", encoding="utf-8")
    assert said in cli.error(
        "optimize", orders, "--queries", queries, "--output", tmp_path / "copy", *options
    )
    assert not (tmp_path / "copy").exists(), "nothing was copied in vain"


def test_a_name_that_no_catalog_has_is_named(cli: Cli) -> None:
    assert "no_such_table" in cli.error("status", "no_such_table")


@pytest.mark.parametrize(
    ("option", "sql", "said"),
    [
        ("--expression", "lower(town)", "town"),
        ("--expression", "lower(city", "lower(city"),
        ("--expression", "city || rand()", "rand"),
        ("--expression", "current_date() - day", "current_date"),
        ("--feature", "town = 'Oslo'", "town"),
        ("--feature", "city = = 'Oslo'", "city = = 'Oslo'"),
        ("--feature", "k + 1", "not a boolean"),
        ("--feature", "rand() < 0.5", "rand"),
        ("--feature", "1 = 1", "reads no column"),
    ],
)
def test_an_expression_or_feature_that_does_not_fit_is_named(
    cli: Cli, orders: Path, option: str, sql: str, said: str
) -> None:
    assert said in cli.error("index", orders, option, sql)
    assert not (orders / "_skipstone").exists(), "nothing was written"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELEC 1", "SELEC"),
        ("SELECT town FROM orders", "town"),
        ("SELECT * FROM nowhere", "nowhere"),
        ("", ""),
    ],
)
def test_a_query_that_spark_refuses_is_one_sentence(cli: Cli, orders: Path, query: str, said: str) -> None:
    assert said in cli.error("explain", orders, query)


def test_the_rest_of_a_query_file_is_used_when_one_statement_is_broken(
    cli: Cli, orders: Path, tmp_path: Path
) -> None:
    queries = tmp_path / "queries.sql"
    queries.write_text(f"{COUNT};\nSELECT town\nFROM orders;\nSELECT k FROM orders WHERE k <;\n{COUNT};\n")
    result = cli("replay", orders, "--queries", queries, "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert len(report["queries"]) == 2
    assert [broken["position"] for broken in report["broken"]] == [2, 3]
    warnings = [line for line in result.stderr.splitlines() if line.startswith("Warning: ")]
    assert len(warnings) == 2
    assert f"{queries}, statement 2 (line 2): " in warnings[0]
    assert "town" in warnings[0]
    assert "statement 3 (line 4)" in warnings[1]


def test_a_query_file_that_cannot_be_read_is_named(cli: Cli, orders: Path, tmp_path: Path) -> None:
    for name, text, said in (
        ("log.txt", "SELECT 1", "must end in one of .sql"),
        ("log.jsonl", "{", "not valid JSON"),
        ("log.csv", "a,b\n1,2\n", "has no statement column"),
    ):
        (tmp_path / name).write_text(text)
        assert said in cli.error("replay", orders, "--queries", tmp_path / name)
    assert "does not exist" in cli.error("replay", orders, "--queries", tmp_path / "missing.sql")
    (tmp_path / "log.sql").write_text("SELECT 1")
    dialect = ("--dialect", "klingon")
    assert "klingon is not known" in cli.error("replay", orders, "--queries", tmp_path / "log.sql", *dialect)


def test_a_query_file_with_nothing_to_replay_is_an_error(cli: Cli, orders: Path, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("SELECT FROM WHERE;")
    result = cli("replay", orders, "--queries", tmp_path / "q.sql")
    assert result.exit_code == 1
    assert "has no query that can be replayed" in result.stderr


def damage(table: Path, newer: bool) -> Path:
    """Spoil the one segment of a table in a way that the file system does not notice."""
    (path,) = (table / "_skipstone" / "blocks").glob("*.parquet")
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    if newer:
        data = _of_a_newer_version()
        path = path.rename(path.with_name(f"00000001-{digest_of(data)}.parquet"))
        path.write_bytes(data)
    else:
        path.write_bytes(b"spoilt" + path.read_bytes()[6:])
    return path


def _of_a_newer_version() -> bytes:
    table = pq.read_table(io.BytesIO(encode(segment(["f"]))))
    header = json.loads(table.schema.metadata[b"skipstone"]) | {"format": 99}
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({"skipstone": json.dumps(header)}), out)
    return out.getvalue()


@pytest.mark.parametrize("newer", [False, True], ids=["damaged", "newer"])
def test_with_an_unusable_catalog_queries_run_unskipped_and_a_warning_says_so(
    cli: Cli, spark: SparkSession, indexed: Path, monkeypatch: pytest.MonkeyPatch, newer: bool
) -> None:
    monkeypatch.setattr(runtime, "_PATIENCE_SECONDS", 0.1)
    said = "newer skipstone (format 99" if newer else "is damaged"
    damage(indexed, newer)
    (indexed.parent / "q.sql").write_text(COUNT)
    replayed = cli("replay", indexed, "--queries", indexed.parent / "q.sql", "--json")
    assert replayed.exit_code == 0
    assert said in replayed.stderr
    (query,) = json.loads(replayed.stdout)["queries"]
    assert (query["files_read"], query["same_result"]) == (4, True)
    explained = cli("explain", indexed, COUNT)
    assert explained.exit_code == 0
    assert "4 of 4 read" in explained.stdout
    assert "everything is read: " in explained.stdout
    assert said in explained.stdout
    status = cli("status", indexed)
    assert status.exit_code == 0
    assert "catalog      unusable: " in status.stdout
    assert said in cli.json("status", indexed)["problem"]
    assert spark.read.parquet(str(indexed)).where("k < 10").count() == 10
    refused = cli("index", indexed)
    assert refused.exit_code == 1
    assert said in refused.stderr
    assert cli("index", indexed, "--rebuild").exit_code == 0
    assert "1 of 4 read" in cli("explain", indexed, COUNT).stdout


def test_no_write_permission_is_one_sentence_and_the_table_stays_readable(cli: Cli, orders: Path) -> None:
    # Root may write anywhere, but nobody can make a folder where a file is.
    (orders / "_skipstone").write_text("in the way")
    sentence = cli.error("index", orders)
    assert "cannot" in sentence
    assert str(orders / "_skipstone") in sentence
    assert cli("explain", orders, COUNT).exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["index"],
        ["explain", "t"],
        ["replay", "t"],
        ["frobnicate"],
        ["index", "t", "--no-such-option"],
        ["status", "t", "--table", "no-equals-sign"],
        ["demo", "--rows", "many"],
    ],
    ids=" ".join,
)
def test_a_wrong_call_ends_with_code_2(arguments: list[str]) -> None:
    result = Cli()(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--block-rows", "0"], "greater than or equal to 1"),
        (["--block-rows", "1.5"], "a valid integer"),
        (["--drift", "2"], "less than or equal to 1"),
        (["--window-days", "1e9"], "less than or equal to 100000"),
        (["--interval", "0"], "greater than or equal to 0.01"),
        (["--margin", "nan"], "less than or equal to"),
        (["--step-mb", "inf"], "less than or equal to"),
        (["--horizon-days", "-inf"], "greater than or equal to 0"),
        (["--layout", "spiral"], "There is no layout spiral"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_out_of_range_is_refused_before_anything_is_opened(options: list[str], said: str) -> None:
    result = Cli()("auto", "no_such_table", "--once", *options)
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    assert said in " ".join(result.stderr.split())
    assert "no_such_table" not in result.stderr


def test_the_user_may_stop_a_command(monkeypatch: pytest.MonkeyPatch, cli: Cli, orders: Path) -> None:
    def stop(table: skipstone.Table, report: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(skipstone.Table, "status", stop)
    result = cli("status", orders)
    assert result.exit_code == 130
    assert result.stderr.endswith("Error: Stopped.\n")


def test_a_bug_is_one_sentence_too(monkeypatch: pytest.MonkeyPatch, cli: Cli, orders: Path) -> None:
    def fail(table: skipstone.Table, report: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(skipstone.Table, "status", fail)
    assert "Unexpected ZeroDivisionError: division by zero" in cli.error("status", orders)

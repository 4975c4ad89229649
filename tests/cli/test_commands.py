"""Each command on a small table: what it prints for people and for programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cli.conftest import Cli

from skipstone.actions import calibrate
from skipstone.actions.cost_store import load_model
from skipstone.spark.engine import trial_tables
from skipstone.spark.engine.engine import Engine

CITY = "SELECT k FROM orders WHERE city = 'Oslo'"


def test_index_says_what_it_did_and_does_nothing_the_second_time(cli: Cli, orders: Path) -> None:
    first = cli("index", orders, "--expression", "month(day)", "--feature", "city LIKE 'O%'")
    assert first.exit_code == 0, first.stderr
    assert first.stdout.startswith("Indexed 4 of 4 files in ")
    assert ": 400 rows, " in first.stdout
    assert "  columns      k, city, day\n" in first.stdout
    assert "  expressions  month(day)\n" in first.stdout
    assert "  features     city LIKE 'O%'\n" in first.stdout
    again = cli("index", orders)
    assert again.stdout.startswith("Nothing to do: 4 files, all indexed.")
    assert "month(day)" in again.stdout, "what was asked for earlier is remembered"
    rebuilt = cli.json("index", orders, "--rebuild")
    assert rebuilt["files_indexed"] == 4
    assert rebuilt["rows_indexed"] == 400
    assert rebuilt["expressions"] == []


def test_new_files_alone_are_indexed(cli: Cli, spark: SparkSession, indexed: Path) -> None:
    spark.sql("SELECT 1000L AS k, 'Lyon' AS city, DATE'2025-01-01' AS day").write.mode("append").parquet(
        str(indexed)
    )
    status = cli("status", indexed).stdout
    assert "4 files, 400 rows; 1 file not yet, always read" in status
    report = cli.json("index", indexed)
    assert (report["files"], report["files_indexed"], report["rows_indexed"]) == (5, 1, 1)


def test_status_before_and_after_indexing(cli: Cli, orders: Path) -> None:
    before = cli("status", orders)
    assert before.exit_code == 0
    assert f"{orders}: parquet, 4 files, " in before.stdout
    assert "none: run skipstone index" in before.stdout
    assert cli.json("status", orders)["files_indexed"] == 0
    cli("index", orders)
    after = cli.json("status", orders)
    assert (after["files"], after["files_indexed"], after["rows_indexed"]) == (4, 4, 400)
    assert after["columns"] == ["k", "city", "day"]
    assert "  indexed      4 files, 400 rows\n" in cli("status", orders).stdout


def test_explain_shows_kept_and_skipped_files_with_reasons(cli: Cli, indexed: Path) -> None:
    text = cli("explain", indexed, CITY).stdout
    assert "files: 1 of 4 read (0 pruned by Spark, 3 skipped by skipstone)" in text
    assert "skipped 3: " in text
    (scan,) = cli.json("explain", indexed, CITY)["scans"]
    assert (scan["files_total"], scan["files_read"], scan["files_skipped"]) == (4, 1, 3)
    assert sum(reason["files"] for reason in scan["skipped"]) == 3


def test_files_indexed_under_other_reader_settings_are_read_and_indexed_again(
    cli: Cli, spark: SparkSession, indexed: Path
) -> None:
    spark.conf.set("spark.sql.parquet.binaryAsString", "true")
    text = cli("explain", indexed, CITY).stdout
    assert "files: 4 of 4 read" in text
    assert "read 4 indexed under other settings" in text
    assert cli.json("index", indexed)["files_indexed"] == 4
    assert "files: 1 of 4 read" in cli("explain", indexed, CITY).stdout


def test_a_table_is_known_by_the_name_it_is_given(cli: Cli, indexed: Path) -> None:
    (scan,) = cli.json("explain", f"o={indexed}", "SELECT * FROM o WHERE k = 7")["scans"]
    assert scan["files_read"] == 1


def test_further_tables_of_a_join_are_named_by_options(
    cli: Cli, spark: SparkSession, indexed: Path, tmp_path: Path
) -> None:
    spark.sql("SELECT 'Oslo' AS city, 'NO' AS country").write.format("delta").save(str(tmp_path / "places"))
    cli("index", tmp_path / "places")
    query = "SELECT o.k FROM orders o JOIN p ON o.city = p.city WHERE o.k < 50 AND p.country = 'SE'"
    scans = cli.json("explain", indexed, query, "--table", f"p={tmp_path / 'places'}")["scans"]
    assert {(scan["files_total"], scan["files_read"]) for scan in scans} == {(1, 0), (4, 1)}


def test_replay_compares_on_and_off(cli: Cli, indexed: Path, tmp_path: Path) -> None:
    queries = tmp_path / "queries.sql"
    queries.write_text(f"-- the far one\n{CITY};\nSELECT count(*) FROM orders WHERE k < 100;")
    report = cli.json("replay", indexed, "--queries", queries)
    assert [set(query) for query in report["queries"]] == 2 * [
        {
            *("sql", "rows_total", "rows_scanned", "rows_needed", "files_total", "files_read", "bytes_read"),
            *("seconds_on", "seconds_off", "same_result"),
        }
    ]
    first = report["queries"][0]
    assert (first["rows_total"], first["rows_scanned"], first["rows_needed"]) == (400, 100, 1)
    assert (first["files_total"], first["files_read"], first["same_result"]) == (4, 1, True)
    assert report["summary"]["percent_scanned"] == 25.0
    text = cli("replay", indexed, "--queries", queries)
    assert "replaying queries: 0 of 2" in text.stderr
    assert "1/4" in text.stdout
    assert "2 queries: 25.0 % of the rows scanned, 12.6 % needed" in text.stdout


def test_the_demo_tells_the_whole_story_on_a_small_table(cli: Cli, tmp_path: Path) -> None:
    report = cli.json("demo", "--dir", tmp_path / "demo", "--rows", "6400")
    assert report["summary"]["queries"] == 10
    assert report["summary"]["broken"] == 0
    assert report["summary"]["same_results"] is True
    read = [query["files_read"] for query in report["queries"]]
    assert all(read)
    assert sum(read) < sum(report["files_read_by_delta_alone"]) < report["summary"]["files_total"] + 1
    assert report["explained"]["scans"][0]["files_skipped"] > 0
    assert report["optimize"]["layout_id"]
    assert report["after"]["summary"]["same_results"] is True
    assert report["after"]["summary"]["rows_scanned"] < report["summary"]["rows_scanned"]
    again = cli("demo", "--dir", tmp_path / "demo")
    assert again.exit_code == 1
    assert "exists already" in again.stderr


def test_a_calibration_measures_rewrites_and_scans_and_is_used_from_then_on(
    cli: Cli, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKIPSTONE_COSTS", str(tmp_path / "costs"))
    # What is measured need not be exact here, so small tables and few features will do.
    monkeypatch.setattr(trial_tables, "_FILES", 4)
    few = calibrate._Features
    monkeypatch.setattr(calibrate, "_WARM_UP", (few(1, 2, 2),))
    varied = (few(1, 0, 0), few(4, 0, 0), few(1, 2, 0), few(1, 4, 0), few(1, 0, 4))
    monkeypatch.setattr(calibrate, "_VARIED", varied)
    found = cli.json("calibrate", "--rows", 10_000)
    rewrites = [each["terms"] for each in found["observations"] if each["kind"] == "rewrite"]
    assert (len(rewrites), len(found["observations"])) == (7, 19)
    (_, *wide), (_, *narrow) = rewrites[0], rewrites[-1]
    assert narrow[0] / narrow[1] < wide[0] / wide[1], "the last rewrite is of narrower values"
    assert all(cost >= 0 for cost in found["coefficients"].values())
    assert load_model(Engine.of(spark)).describe() == "calibrated coefficients, from 7 rewrites and 12 scans"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"]])
def test_help_and_version_need_no_spark(arguments: list[str]) -> None:
    result = Cli()(*arguments)
    assert "skipstone" in result.output


def test_a_table_is_called_by_a_name_of_several_parts(cli: Cli, indexed: Path, tmp_path: Path) -> None:
    source, queries = f"main.air.flights={indexed}", tmp_path / "q.sql"
    assert "The query cannot be used" in cli.error("explain", source, "SELECT * FROM other.air.flights")
    query = "SELECT count(*), 'main.air.flights' FROM Main.air.`flights` WHERE main.air.flights.city = 'Oslo'"
    (scan,) = cli.json("explain", source, query)["scans"]
    assert 0 < scan["files_read"] < scan["files_total"]
    queries.write_text(query)
    (replayed,) = cli.json("replay", source, "--queries", queries)["queries"]
    assert replayed["same_result"]
    assert 0 < replayed["files_read"] < replayed["files_total"]
    assert cli.json("analyze", source, "--queries", queries)["predicates"]


def test_a_table_without_a_log_is_laid_out_for_any_query(cli: Cli, orders: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    advice = cli.json("advise", orders, "--block-rows", 20, "--balance", "worst")
    assert (advice["best"], advice["queries"], advice["percent_needed"]) == ("hyper", 0, None)
    done = cli(
        "optimize",
        orders,
        "--layout",
        "hyper",
        "--balance",
        "worst",
        "--keys",
        "k",
        "--block-rows",
        20,
        "--output",
        copy,
    )
    assert done.exit_code == 0, done.stderr
    assert "by hyper: " in done.stdout
    assert "no query has a usable filter, so it is unknown what to lay the table out for" in done.stdout
    assert "allocation" in done.stdout
    assert cli.json("optimize", copy, "--block-rows", 40)["layout"] == "hyper"
    assert "There is no balance fair" in cli.error("optimize", copy, "--layout", "hyper", "--balance", "fair")
    assert "balance is for the layout hyper" in cli.error(
        "optimize", copy, "--layout", "sop", "--balance", "worst"
    )

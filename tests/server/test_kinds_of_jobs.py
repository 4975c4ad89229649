"""Jobs about copies, trees, logs and costs over HTTP, against real Spark; results are what commands print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.cli.conftest import Cli
from tests.costs import EAGER
from tests.light_plans import settings_of
from tests.server.serving import Client, serving
from tests.shipments import write_shipments
from tests.spark.querylog.recording import logging

import skipstone
from skipstone.actions import calibrate
from skipstone.actions.cost_store import save_model
from skipstone.spark.engine import trial_tables
from skipstone.spark.engine.engine import Engine

ROWS = 2_000
CONDITIONS = (
    "k < 50 AND d < DATE'2020-02-01'",
    "k >= 50 AND k < 100 AND d < DATE'2020-03-01'",
    "k < 80 AND d BETWEEN DATE'2020-02-01' AND DATE'2020-03-15'",
)
QUERIES = ";\n".join(
    ["SELECT sum(id) FROM shipments WHERE k < 50"]
    + ["SELECT sum(id) FROM shipments WHERE mode = 'AIR'"]
    + [f"SELECT sum(id) FROM shipments WHERE {condition}" for condition in CONDITIONS * 10]
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kinds")


@pytest.fixture(scope="module")
def client(spark: SparkSession, home: Path) -> Iterator[Client]:
    with (
        pytest.MonkeyPatch.context() as patch,
        # These tables are so small that reading all columns costs less.
        settings_of(spark, {"spark.skipstone.groups": "always"}),
        serving(home / "state", lambda: spark, (home,)) as client,
    ):
        patch.setenv("SKIPSTONE_COSTS", str(home / "costs"))
        (home / "queries.sql").write_text(QUERIES, encoding="utf-8")
        assert client.call("POST", "/api/workloads?name=queries.sql", QUERIES.encode()).status == 201
        yield client


@pytest.fixture(scope="module")
def table(spark: SparkSession, client: Client, home: Path) -> str:
    """The path of a table that is registered as ``shipments``."""
    path = str(home / "shipments")
    write_shipments(spark, Path(path), "delta", ROWS)
    assert client.call("POST", "/api/tables", {"source": path}).status == 201
    client.done("index", "shipments")
    return path


def replica(client: Client) -> Any:
    """The only replica."""
    (found,) = client.get("/api/tables/shipments/replicas")["replicas"]
    return found


def query(client: Client, sql: str, **more: Any) -> Any:
    job = client.query(sql, **more)
    assert job["state"] == "done", job
    return client.get(f"/api/jobs/{job['id']}/result")


def same_keys(one: Any, other: Any) -> bool:
    return set(one) == set(other)


def test_column_groups_are_made_listed_and_read_each_by_itself(client: Client, table: str) -> None:
    wanted = {"layout": "gsop", "grouping": "single", "inner": "qdtree", "block_rows": 100}
    made = client.done("replicate", "shipments", workload="queries", arguments=wanted)
    assert (made["layout"], made["rows"]) == ("gsop", ROWS)
    groups = [each["columns"] for each in replica(client)["groups"]]
    assert groups == [["id"], ["k"], ["mode"], ["d"]], "what no query reads is left to the table"

    found = query(client, "SELECT sum(id) FROM shipments WHERE k < 50")
    assert found["same_result"] is True
    (scan,) = found["scans"]
    (read,) = scan["groups"]
    assert (read["replica"], read["partitions"]) == (made["replica"], read["partitions_total"])
    assert [each["columns"] for each in read["groups"]] == [["id"], ["k"]]
    for each in read["groups"]:
        assert 0 < each["blocks"] <= each["blocks_total"]
        assert 0 < each["rows"] <= ROWS
    by_k = read["groups"][1]
    assert by_k["blocks"] < by_k["blocks_total"]
    assert read["hash_joins"] + read["merge_joins"] == 1
    assert set(scan["blocks"]["state"]) == {4}, "the base is not read"
    assert [copy["code"] for copy in scan["copies"]] == ["CHEAPER"]
    alone = query(client, "SELECT count(*) FROM shipments WHERE k < 50")["scans"][0]["groups"]
    assert [each["columns"] for each in alone[0]["groups"]] == [["k"]]


def test_what_was_added_is_read_from_the_table_until_its_replicas_are_refreshed(
    client: Client, spark: SparkSession, table: str
) -> None:
    spark.table(f"delta.`{table}`").limit(10).write.format("delta").mode("append").save(table)
    client.done("look", "shipments")
    assert client.get("/api/tables/shipments")["health"]["code"] == "PARTLY_INDEXED"
    sql = "SELECT count(*) FROM shipments WHERE k < 1000"
    found = query(client, sql)
    assert (found["rows"], found["same_result"]) == ([[ROWS + 10]], True)
    (scan,) = found["scans"]
    told = zip(scan["blocks"]["state"], scan["blocks"]["reason"], strict=True)
    codes = {(state, scan["reasons"][reason]["code"]) for state, reason in told}
    assert codes == {(3, "NOT_INDEXED"), (4, "REPLICA")}
    report = client.done("refresh", "shipments", arguments={"replica": replica(client)["id"]})
    assert same_keys(report, Cli().json("refresh", table))
    now = replica(client)
    assert (now["rows"], now["partitions_valid"]) == (ROWS + 10, now["partitions"])
    assert set(query(client, sql)["scans"][0]["blocks"]["state"]) == {4}


def test_a_damaged_replica_is_found_repaired_and_dropped(client: Client, table: str) -> None:
    assert client.done("repair", "shipments", arguments={"check": True})["whole"] is True
    next(Path(table).glob("_skipstone/replicas/*/*/group-0-0.parquet")).unlink()
    broken = client.done("repair", "shipments", arguments={"check": True})
    assert broken["whole"] is False
    found = query(client, "SELECT sum(id) FROM shipments WHERE k < 50")
    assert found["same_result"] is True, "whatever is lost is read from the table"
    job = client.ended(client.start("repair", "shipments"))
    assert (job["state"], "rebuilt" in job["headline"]) == ("done", True)
    repaired = client.get(f"/api/jobs/{job['id']}/result")
    assert repaired["whole"] is True
    assert same_keys(repaired, Cli().json("repair", table, "--check"))
    name = replica(client)["id"]
    dropped = client.done("drop", "shipments", arguments={"replica": name, "now": True})
    assert name in dropped.values()
    assert client.get("/api/tables/shipments/replicas")["replicas"] == []
    assert client.get("/api/tables/shipments")["replicas"] == 0
    again = client.ended(client.start("drop", "shipments", arguments={"replica": name}))
    assert "has no replica" in again["error"]


def test_a_tree_is_adapted_where_that_pays(client: Client, spark: SparkSession, table: str) -> None:
    job = client.ended(client.start("adapt", "shipments", workload="queries"))
    assert (job["state"], "is not laid out by a tree" in job["error"]) == ("failed", True)
    options = {"layout": "hyper", "block_rows": 100}
    assert client.done("optimize", "shipments", arguments=options)["rows"] == ROWS + 10
    save_model(Engine.of(spark), EAGER)
    dry = client.done("adapt", "shipments", workload="queries", arguments={"dry_run": True})
    assert dry["changes"]
    told = Cli().json("adapt", table, "--queries", str(Path(table).parent / "queries.sql"), "--dry-run")
    measured = {"seconds": 0, "fit_seconds": 0}
    assert {**told, **measured} == {**dry, **measured}
    before = client.get("/api/tables/shipments")
    done = client.done("adapt", "shipments", workload="queries")
    assert 0 < done["files_rewritten"] < before["files"]
    after = client.get("/api/tables/shipments")
    assert (after["layout"]["id"], after["layout"]["strategy"]) == (done["layout_id"], "hyper")
    assert after["version"] == before["version"] + 1
    assert client.get("/api/tables/shipments/tree")["layout"] == done["layout_id"]


def test_a_log_is_added_to_decided_by_and_cleared(client: Client, table: str) -> None:
    scans = QUERIES.count("SELECT")
    assert client.done("import_log", "shipments", workload="queries")["added"] == scans
    shown = client.get("/api/tables/shipments/log?limit=5")
    assert shown["total"] == scans
    assert shown["scans"][::-1] == Cli().json("log", "show", table, "--limit", 5)
    dry = client.done("auto", "shipments", arguments={"dry_run": True})
    assert same_keys(dry, Cli().json("auto", table, "--dry-run"))
    assert (dry["acted"], bool(dry["code"])) == (False, True)
    done = client.done("auto", "shipments", arguments={"layout": ["qdtree"], "block_rows": 100})
    (newest, *_) = client.get("/api/tables/shipments/decisions")["decisions"]
    assert (newest["code"], newest["acted"]) == (done["code"], done["acted"])
    assert newest["changes_mind"]
    assert client.get("/api/tables/shipments/auto")["logged_scans"] == scans
    assert client.done("clear_log", "shipments") == {"deleted": scans}
    assert client.get("/api/tables/shipments/log") == {"total": 0, "scans": []}


def test_what_was_really_asked_of_a_table_is_told_with_it(
    client: Client, spark: SparkSession, table: str, tmp_path: Path
) -> None:
    asked = skipstone.table(spark, f"shipments={table}")
    with logging(spark, tmp_path / "spill"):
        for _ in range(2):
            spark.sql("SELECT sum(id) FROM shipments WHERE k < 50").collect()
        assert len(asked.log()) == 2
    client.done("look", "shipments")
    lately = client.get("/api/tables/shipments")["lately"]
    assert (lately["scans"], lately["rows_total"]) == (2, 2 * (ROWS + 10))
    assert 0 < lately["percent_needed"] <= lately["percent_scanned"] < 50
    reads = client.get("/api/tables/shipments/blocks")["reads"]
    assert (reads["queries"], set(reads["times"])) == (2, {0, 2})
    health = client.get("/api/tables/shipments")["health"]
    assert f"{lately['percent_scanned']:.1f} %" in health["sentence"]
    assert client.get("/api/tables/shipments")["saving"]["code"], "auto has decided before"


def test_what_only_reads_says_what_the_command_says(client: Client, table: str) -> None:
    cli, queries = Cli(), str(Path(table).parent / "queries.sql")
    assert client.get("/api/tables/shipments/status") == cli.json("status", table)
    found = client.done("analyze", "shipments", workload="queries", arguments={"num_features": 3})
    told = cli.json("analyze", table, "--queries", queries, "--num-features", 3)
    assert {name: found[name] for name in told} == told
    layouts = ["qdtree", "hyper"]
    options = {"layout": layouts, "block_rows": 100}
    advice = client.done("advise", "shipments", workload="queries", arguments=options)
    words = [word for name in layouts for word in ("--layout", name)]
    told = cli.json("advise", table, "--queries", queries, "--block-rows", 100, *words)
    assert advice["best"] == told["best"]
    assert set(advice) - set(told) == {"maps"}
    for mine, other in zip(advice["layouts"], told["layouts"], strict=True):
        assert (mine["layout"], mine["percent_scanned"]) == (other["layout"], other["percent_scanned"])
    drawn = {"queries": 5, "seed": 3, "columns": ["k"]}
    made = client.done("generate", "shipments", arguments=drawn)
    told = cli.json("generate", table, "--queries", 5, "--seed", 3, "--columns", "k")
    assert {name: made[name] for name in told} == told
    sql = "SELECT sum(id) FROM shipments WHERE k < 50"
    (scan,) = query(client, sql, run=False)["scans"]
    (other,) = cli.json("explain", table, sql)["scans"]
    assert {name: scan[name] for name in other} == other


def test_joined_rows_are_copied_for_the_queries_that_join_them(
    client: Client, spark: SparkSession, table: str, home: Path
) -> None:
    modes = home / "modes"
    rows = "stack(4, 'AIR', 1, 'RAIL', 2, 'SHIP', 3, 'MAIL', 4) AS (mode, speed)"
    spark.sql(f"SELECT {rows}").write.format("delta").save(str(modes))
    client.call("POST", "/api/tables", {"source": str(modes)})
    client.done("index", "modes")
    sql = "SELECT sum(id) FROM shipments JOIN modes ON shipments.mode = modes.mode WHERE speed = 3"
    (home / "joins.sql").write_text(sql, encoding="utf-8")
    assert client.call("POST", "/api/workloads?name=joins.sql", sql.encode()).status == 201
    made = client.done("denormalise", "shipments", workload="joins", arguments={"block_rows": 100})
    assert made["rows"] > 0
    assert query(client, sql)["same_result"] is True
    assert client.done("drop", "shipments", arguments={"replica": made["replica"], "now": True})


def test_costs_are_measured_as_a_job(
    client: Client, home: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is measured need not be exact here, so small tables and few features will do.
    monkeypatch.setattr(trial_tables, "_FILES", 1)
    monkeypatch.setattr(calibrate, "_WARM_UP", ())
    monkeypatch.setattr(calibrate, "_VARIED", (calibrate._Features(1, 2, 1),))
    monkeypatch.setattr(calibrate, "_SCAN_ROUNDS", 2)
    found = client.done("calibrate", arguments={"rows": 10_000})
    assert found["rows"] == 10_000
    assert Path(found["path"]).parent == home / "costs"
    assert Path(found["path"]).exists()
    assert all(cost >= 0 for cost in found["coefficients"].values())
    assert not list((home / "state").glob("skipstone-*")), "nothing of the trial is left"

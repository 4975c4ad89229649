"""``skipstone auto``: the state of the loop, a dry run, a round that acts, and what is left behind."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cli.conftest import Cli
from tests.costs import EAGER

from skipstone.actions.cost_store import save_model
from skipstone.spark.engine.engine import Engine

OPTIONS = ("--block-rows", 500, "--new-blocks", 2, "--layout", "qdtree")


@pytest.fixture
def asked(cli: Cli, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Delta table in no order, with a log of selective queries and costs that make a rewrite pay."""
    monkeypatch.setenv("SKIPSTONE_COSTS", str(tmp_path / "costs"))
    save_model(Engine.of(spark), EAGER)
    path = tmp_path / "orders"
    spark.range(0, 4000, 1, 4).selectExpr("id * 1201 % 4000 AS k", "hex(id) AS note").write.format(
        "delta"
    ).save(str(path))
    queries = tmp_path / "queries.jsonl"
    asked = {"SELECT note FROM orders WHERE k < 100": 4, "SELECT note FROM orders WHERE k >= 3800": 2}
    now = datetime.now(UTC)
    lines = [
        {"sql": sql, "count": 30, "timestamp": (now - timedelta(days=days)).isoformat()}
        for sql, days in asked.items()
    ]
    queries.write_text("\n".join(map(json.dumps, lines)))
    assert cli.json("log", "import", path, "--queries", queries)["added"] == 2
    return path


def test_the_loop_shows_its_state_says_what_it_would_do_does_it_and_writes_it_down(
    cli: Cli, asked: Path
) -> None:
    before = cli("auto", asked, *OPTIONS).stdout
    assert "workload     60 scans" in before
    assert "unclustered  4 files" in before
    assert "no layout yet" in before

    would = cli("auto", asked, "--dry-run", *OPTIONS).stdout
    assert would.startswith("Would rewrite 4 files of new data")
    assert "[PAYS]" in would
    assert re.search(r"pays after   [\d.]+ runs of the log; [\d.]+ days at the observed rate", would)
    assert cli.json("auto", asked, *OPTIONS)["decisions"] == [], "a dry run leaves no trace"

    decision = cli.json("auto", asked, "--once", *OPTIONS)
    assert (decision["acted"], decision["code"]) == (True, "PAYS")
    numbers = decision["numbers"]
    assert numbers["seconds_saved"] > numbers["rewrite_seconds_estimated"]
    assert numbers["bytes_saved"] > 0
    assert numbers["files_after"] > 0

    again = cli("auto", asked, "--once", *OPTIONS).stdout
    assert again.startswith("Nothing to do: ")
    assert "[WAITING]" in again
    shown = cli("status", asked).stdout
    assert "drift        0.00 (qdtree 0.00)" in shown
    assert "rewritten: qdtree saves" in shown
    assert [each["code"] for each in cli.json("status", asked)["auto"]["decisions"]] == ["PAYS", "WAITING"]


def test_only_one_thing_can_be_asked_of_the_loop(cli: Cli, orders: Path) -> None:
    result = cli("auto", orders, "--once", "--watch")
    assert result.exit_code == 2
    assert "only one of them can be given" in result.stderr


def test_a_layout_or_curve_that_does_not_exist_is_refused_in_one_sentence(cli: Cli, orders: Path) -> None:
    assert cli.error("auto", orders, "--once", "--layout", "spiral").startswith("There is no layout spiral;")
    assert cli.error("auto", orders, "--once", "--curve", "peano").startswith("There is no curve peano;")


@pytest.mark.parametrize("mode", [(), ("--dry-run",), ("--once",)])
def test_a_directory_of_parquet_files_is_refused_in_one_sentence(
    cli: Cli, orders: Path, mode: tuple[str, ...]
) -> None:
    assert "make it a Delta table first" in cli.error("auto", orders, *mode)

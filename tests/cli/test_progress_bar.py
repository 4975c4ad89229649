"""What long actions tell of themselves on a real table, and what a command shows of it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import skipstone
from skipstone.cli.progress_bar import announced, progress
from skipstone.estimate.cost import Coefficients, CostModel
from skipstone.workload.queries import Query, Workload

Event = tuple[str, int, int]
# Whatever skips, pays.
EAGER = CostModel(Coefficients(0.1, 0, 0, 0, 0, 0, 0, 0.0, 10.0, 0.0, 0.0), "calibrated")
QUERIES = "SELECT count(*) FROM orders WHERE k % 10 = 3;\nSELECT k FROM orders WHERE city = 'Oslo';"


def assert_one_bar(events: list[Event], total: int) -> None:
    assert {event[2] for event in events} == {total}, "one unit from the first to the last"
    counts = [event[1] for event in events]
    assert counts == sorted(counts), events
    assert counts[0] == 0
    assert counts[-1] == total, events


def test_actions_count_their_blocks_or_queries_and_never_run_backwards(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.range(0, 2000, 1, 8).selectExpr("id AS k", "if(id = 250, 'Oslo', 'Porto') AS city")
    rows.write.format("delta").save(str(tmp_path / "orders"))
    (tmp_path / "q.sql").write_text(QUERIES)
    queries = skipstone.read_queries(tmp_path / "q.sql")
    table = skipstone.table(spark, f"orders={tmp_path / 'orders'}")
    reported: dict[str, list[Event]] = {"index": [], "advise": [], "optimize": [], "replay": [], "auto": []}
    table.index(progress=lambda *event: reported["index"].append(event))
    table.advise(queries, block_rows=250, progress=lambda *event: reported["advise"].append(event))
    table.optimize(queries, "sop", block_rows=250, progress=lambda *event: reported["optimize"].append(event))
    table.replay(queries, lambda *event: reported["replay"].append(event))
    for action, total in {"index": 8, "advise": 8, "optimize": 8, "replay": 2}.items():
        assert_one_bar(reported[action], total)
    steps = list(dict.fromkeys(what for what, _, _ in reported["optimize"]))
    assert steps == [
        "mining features",
        "counting rows",
        "sampling blocks",
        "simulating sop",
        "counting vectors",
        "writing blocks",
        "measuring blocks",
    ]


def test_a_round_that_indexes_decides_and_rewrites_is_one_bar(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(0, 2000, 1, 8).selectExpr("id", "id * 7919 % 2000 AS k")
    rows.write.format("delta").save(str(tmp_path / "orders"))
    table = skipstone.table(spark, f"orders={tmp_path / 'orders'}")
    table.import_log(Workload((Query("SELECT sum(id) FROM orders WHERE k < 50", count=30),)))
    events: list[Event] = []
    policy = skipstone.Policy(block_rows=250, layouts=("qdtree",), new_blocks=2.0)
    decision = table.auto(policy=policy, model=EAGER, progress=lambda *event: events.append(event))
    assert decision.acted, decision.sentence
    assert_one_bar(events, 8)
    assert [events[0][0], events[-1][0]] == ["finding what to track", "measuring blocks"]


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[], list[str]]:
    """What has been shown since it was asked for last, where there is no terminal."""

    def shown() -> list[str]:
        return capsys.readouterr().err.splitlines()

    return shown


def test_without_a_terminal_a_line_comes_at_once_and_then_now_and_then(
    lines: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with progress() as reported:
        with announced("Starting Spark"):
            assert lines() == ["Starting Spark ..."]
        reported("writing blocks", 0, 1000)
        reported("writing blocks", 1, 1000)
        assert lines() == ["writing blocks: 0 of 1,000"]
        now = 6.0
        reported("writing blocks", 500, 1000)
        reported("verifying blocks", 999, 1000)
        assert lines() == ["writing blocks: 500 of 1,000", "verifying blocks: 999 of 1,000"]


def test_what_takes_long_before_spark_starts_is_not_silent(lines: Callable[[], list[str]]) -> None:
    with progress():
        time.sleep(1.0)
        assert lines() == ["Starting ..."]


def test_on_a_terminal_a_bar_is_drawn_within_a_second_and_standard_output_stays_pure(tmp_path: Path) -> None:
    """Up to where Spark would start, for the master is wrong."""
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "skipstone.cli", "status", "t", "--json", "--master", "foo"]
    environment = os.environ | {"PYTHONPATH": str(Path(skipstone.__file__).parents[1]), "TERM": "xterm"}
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=end, text=True, env=environment, cwd=tmp_path
    )
    os.close(end)
    shown = b""
    with suppress(OSError):  # the terminal ends with the command
        while part := os.read(terminal, 4096):
            shown += part
    out, _ = running.communicate(timeout=60)
    os.close(terminal)
    assert json.loads(out)["error"]["code"] == 1
    assert b"Starting Spark" in shown
    assert shown.rstrip().endswith(b"or k8s://HOST:PORT.")

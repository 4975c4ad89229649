from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from typer.main import get_command

import skipstone
from skipstone.cli.banner import reason_in
from skipstone.cli.main import app


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "skipstone.cli", *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path(skipstone.__file__).parents[1])},
    )


def commands(group: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    for called, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{name}{called} ")
        else:
            yield f"{name}{called}", command


@pytest.mark.parametrize(
    ("name", "command"), list(commands(get_command(app))), ids=lambda each: str(each)[:12]
)
def test_every_command_takes_a_master_and_settings(name: str, command: Any) -> None:
    options = {option: each for each in command.params for option in each.opts}
    assert "--master" in options, name
    assert options["--conf"].multiple, name


def test_a_setting_holds_for_the_session_of_a_command(cli: Cli, indexed: Path) -> None:
    query = "SELECT k FROM orders WHERE city = 'Oslo'"
    assert "files: 1 of 4 read" in cli("explain", indexed, query).stdout
    other = cli("explain", indexed, query, "--conf", "spark.sql.parquet.binaryAsString=true")
    assert "read 4 indexed under other settings" in other.stdout


@pytest.mark.parametrize("setting", ["novalue", "=1", "hive.x=1", " spark.x=1"])
def test_a_setting_of_another_form_is_a_wrong_call(setting: str) -> None:
    result = Cli()("status", "t", "--conf", setting)
    assert result.exit_code == 2
    assert f"{setting} is not of the form spark.KEY=VALUE." in result.stderr


@pytest.mark.parametrize(
    ("master", "said"),
    [
        (
            "foo",
            "foo is no Spark master; give local[N], local[*], spark://HOST:PORT, yarn or k8s://HOST:PORT.",
        ),
        ("spark://127.0.0.1:1", "The Spark master spark://127.0.0.1:1 does not answer: Connection refused."),
    ],
)
def test_a_wrong_master_is_one_sentence_within_seconds(tmp_path: Path, master: str, said: str) -> None:
    started = time.monotonic()
    done = run(tmp_path, "status", "t", "--json", "--master", master)
    assert time.monotonic() - started < 60, "far less than what Spark itself tries for"
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["Starting Spark ...", f"Error: {said}"]
    assert json.loads(done.stdout) == {"error": {"message": said, "code": 1}}


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("Invalid heap size: -Xmxlots\nError: Could not create the Java Virtual Machine.", "Invalid heap"),
        (
            ':: loading\nException in thread "main" a.b.SomeException: no such thing\n\tat a.b',
            "no such",
        ),
        ("26/11/18 01:00:00 ERROR A: first\nj.IOException: why\n26/11/18 01:00:01 ERROR B: last", "last"),
        ("26/11/18 01:00:00 ERROR A: Killed. Reason: All masters are unresponsive!\n1 1 ERROR B: x", "All m"),
        (":: only settings\n", ""),
    ],
)
def test_of_all_that_java_writes_the_reason_is_reported(written: str, reason: str) -> None:
    assert reason_in(written.splitlines()).startswith(reason)


def test_a_setting_that_keeps_spark_from_starting_is_one_sentence(tmp_path: Path) -> None:
    done = run(tmp_path, "status", "t", "--conf", "spark.driver.memory=lots", "--master", "local[1]")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Starting Spark ...",
        "Error: Spark did not start: Invalid maximum heap size: -Xmxlots.",
    ]

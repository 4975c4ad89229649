"""The command as a process of its own, which starts Spark itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import skipstone

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(skipstone.__file__).parents[1])}


def test_a_failing_command_writes_one_line_and_spark_writes_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k,city\n1,Oslo\n")
    command = [sys.executable, "-m", "skipstone.cli", "status", str(tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=tmp_path, env=ENVIRONMENT)
    assert done.returncode == 1
    message = json.loads(done.stdout)["error"]["message"]
    assert message.startswith(f"{tmp_path} holds 1 CSV file; skipstone needs a Delta table or ")
    assert done.stderr.splitlines() == ["Starting Spark ...", f"Error: {message}"]


def test_a_watch_decides_at_once_and_ends_when_it_is_interrupted(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "orders"
    spark.range(100).write.format("delta").save(str(table))
    command = [sys.executable, "-m", "skipstone.cli", "auto", str(table), "--watch", "--interval", "0.2"]
    watching = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    try:
        assert watching.stdout is not None
        assert watching.stdout.readline().startswith("Nothing to do: ")
        os.killpg(watching.pid, signal.SIGINT)  # as from a terminal: Java hears it too
        _, errors = watching.communicate(timeout=120)
    finally:
        watching.kill()
    assert (watching.returncode, errors) == (130, "Starting Spark ...\nError: Stopped.\n")


def _started(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "skipstone.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
        start_new_session=True,
    )


def _all_end(group: int) -> bool:
    """Whether Java ends too; it may take a moment."""
    for _ in range(300):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def _java_is_started(parent: int) -> bool:
    """Whether a process has started another one, which is Java or looks for it."""
    return any(map(Path.read_text, Path(f"/proc/{parent}/task").glob("*/children")))


def test_ctrl_c_while_spark_starts_is_one_line(tmp_path: Path) -> None:
    command = _started(tmp_path, "status", str(tmp_path))
    try:
        assert command.stderr is not None
        assert command.stderr.readline() == "Starting Spark ...\n"
        while not _java_is_started(command.pid):
            assert command.poll() is None
            time.sleep(0.05)
        os.killpg(command.pid, signal.SIGINT)
        out, errors = command.communicate(timeout=60)
    finally:
        command.kill()
    assert (command.returncode, out, errors) == (130, "", "Error: Stopped.\n")
    assert _all_end(command.pid)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_during_a_job_is_one_line_and_ends_the_job(
    spark: SparkSession, tmp_path: Path, number: int, code: int
) -> None:
    table, queries = tmp_path / "orders", tmp_path / "q.sql"
    spark.range(0, 4, 1, 2).write.format("delta").save(str(table))
    sleep = "java_method('java.lang.Thread', 'sleep', id * 0 + 300000)"
    queries.write_text(f"SELECT {sleep} FROM orders;")
    command = _started(tmp_path, "replay", str(table), "--queries", str(queries))
    try:
        assert command.stderr is not None
        told = [command.stderr.readline() for _ in range(3)]
        assert told == ["Starting Spark ...\n", "counting rows: 0 of 1\n", "replaying queries: 0 of 1\n"]
        time.sleep(8)  # planning takes a moment, and the job five minutes
        if number == signal.SIGINT:
            os.killpg(command.pid, number)
        else:
            command.send_signal(number)
        out, errors = command.communicate(timeout=60)
    finally:
        command.kill()
    assert (command.returncode, out, errors) == (code, "", "Error: Stopped.\n")
    assert _all_end(command.pid)

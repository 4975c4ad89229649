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


def _started(folder: Path, *arguments: str, java: str = "") -> subprocess.Popen[str]:
    """A command in a group of processes of its own; ``java`` is what its Java is reported besides."""
    environment = os.environ | {"PYTHONPATH": str(Path(skipstone.__file__).parents[1])}
    environment["SPARK_SUBMIT_OPTS"] = f"{environment.get('SPARK_SUBMIT_OPTS', '')} {java}"
    return subprocess.Popen(
        [sys.executable, "-m", "skipstone.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )


def test_a_failing_command_writes_one_line_and_spark_writes_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k,city\n1,Oslo\n")
    command = _started(tmp_path, "status", str(tmp_path), "--json")
    out, errors = command.communicate(timeout=600)
    assert command.returncode == 1
    message = json.loads(out)["error"]["message"]
    assert message.startswith(f"{tmp_path} holds 1 CSV file; skipstone needs a Delta table or ")
    assert errors.splitlines() == ["Starting Spark ...", f"Error: {message}"]


def test_a_watch_decides_at_once_and_ends_when_it_is_interrupted(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "orders"
    spark.range(100).write.format("delta").save(str(table))
    watching = _started(tmp_path, "auto", str(table), "--watch", "--interval", "0.2")
    try:
        assert watching.stdout is not None
        assert watching.stdout.readline().startswith("Nothing to do: ")
        os.killpg(watching.pid, signal.SIGINT)  # as from a terminal: Java hears it too
        _, errors = watching.communicate(timeout=120)
    finally:
        watching.kill()
    assert (watching.returncode, errors) == (130, "Starting Spark ...\nError: Stopped.\n")


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
    begun = "java_method('java.io.File', 'createTempFile', concat('begun', id), '.task')"
    sleep = "java_method('java.lang.Thread', 'sleep', id * 0 + 300000)"
    queries.write_text(f"SELECT {begun}, {sleep} FROM orders;")
    asked = ("replay", str(table), "--queries", str(queries))
    command = _started(tmp_path, *asked, java=f"-Djava.io.tmpdir={tmp_path}")
    try:
        assert command.stderr is not None
        reported = [command.stderr.readline() for _ in range(3)]
        assert reported == ["Starting Spark ...\n", "counting rows: 0 of 1\n", "replaying queries: 0 of 1\n"]
        while not list(tmp_path.glob("begun*.task")):
            assert command.poll() is None
            time.sleep(0.05)
        if number == signal.SIGINT:
            os.killpg(command.pid, number)
        else:
            command.send_signal(number)
        out, errors = command.communicate(timeout=60)
    finally:
        command.kill()
    assert (command.returncode, out, errors) == (code, "", "Error: Stopped.\n")
    assert _all_end(command.pid)

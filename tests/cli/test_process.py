"""The command as a process of its own, which starts Spark itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import skipstone

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(skipstone.__file__).parents[1])}


def test_a_failing_command_writes_one_line_and_spark_writes_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k,city\n1,Oslo\n")
    command = [sys.executable, "-m", "skipstone.cli", "status", str(tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=tmp_path, env=ENVIRONMENT)
    assert done.returncode == 1
    message = json.loads(done.stdout)["error"]["message"]
    assert message.startswith(f"{tmp_path} is not a table that can be read: ")
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

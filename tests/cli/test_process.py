"""The command as a process of its own, which starts Spark itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import skipstone


def test_a_failing_command_writes_one_line_and_spark_writes_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k,city\n1,Oslo\n")
    command = [sys.executable, "-m", "skipstone.cli", "status", str(tmp_path), "--json"]
    environment = os.environ | {"PYTHONPATH": str(Path(skipstone.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=tmp_path, env=environment)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"Error: {tmp_path} is not a table that can be read: ")
    assert done.stderr.count("\n") == 1, done.stderr

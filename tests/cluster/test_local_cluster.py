"""The executors of a ``local-cluster``: processes of their own, which the driver starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import skipstone


def test_joins_skip_files_there_too(tmp_path: Path) -> None:
    """In a process of its own, for a process has one Spark."""
    home = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tests.cluster.local_cluster", str(tmp_path)],
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join((str(Path(skipstone.__file__).parents[1]), str(home)))},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    read = {"rows": 20, "same": True, "read": [20, 1, 8, ""]}
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "10MB": {**read, "code": "BROADCAST"},
        "-1": {**read, "code": "COLLECTED"},
    }

"""What a user sets for queries changes nothing about what skipstone measures, draws, writes and logs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import skipstone

ROOT = Path(__file__).parents[2]


def test_hostile_settings_of_the_session_change_nothing(tmp_path: Path) -> None:
    paths = f"{Path(skipstone.__file__).parents[1]}{os.pathsep}{ROOT}"
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.hostile_settings", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths, "SKIPSTONE_COSTS": str(tmp_path / "costs")},
    )
    assert done.stdout.endswith("the same\n"), done.stderr[-4000:]

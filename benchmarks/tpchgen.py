"""Runs tpchgen-cli, which makes TPC-H data in seconds."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from skipstone.errors import SkipstoneError

__all__ = ["run_tpchgen"]


def run_tpchgen(scale_factor: float, directory: Path, *options: str) -> None:
    """Write the tables of TPC-H to ``directory`` as Parquet files."""
    beside = Path(sys.executable).with_name("tpchgen-cli")
    command = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if command is None:
        raise SkipstoneError("TPC-H data is made by tpchgen-cli; install it with make setup.")
    words = [command, "parquet", "-s", f"{scale_factor:g}", "-o", str(directory), *options]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        last = (made.stderr.strip() or made.stdout.strip() or "no message").splitlines()[-1]
        raise SkipstoneError(f"tpchgen-cli failed: {last}")

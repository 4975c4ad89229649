"""Processes that tests start, none of which may outlive them."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def start(
    command: Sequence[str], log: Path, environ: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, in the directory of its log; it dies with this process."""
    with log.open("wb") as out:
        return subprocess.Popen(
            command,
            env=environ,
            cwd=log.parent,
            stdout=out,
            stderr=out,
            start_new_session=True,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )


def _die_with_parent() -> None:
    """So that nothing is left when the tests themselves are killed and no fixture can clean up."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

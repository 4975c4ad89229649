"""One server for one state: a lock that ends with the process, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from skipstone.errors import SkipstoneError

__all__ = ["OnlyOne"]


class OnlyOne:
    """Holds a directory for this process."""

    def __init__(self, directory: Path) -> None:
        """Take the lock, or say that another server has it."""
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(directory / "server.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise SkipstoneError(f"{directory} cannot be used ({problem.strerror}).") from problem
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            os.close(self._file)
            raise SkipstoneError(
                f"Another server uses {directory} already; stop it, or give another --state."
            ) from problem

    def release(self) -> None:
        """Let the next server have it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

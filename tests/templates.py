"""Tables that are made once and copied for each test that changes them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path


class Templates:
    """Files are copied in far less time than Spark writes and indexes them."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._made: set[str] = set()

    def copy(self, name: str, make: Callable[[Path], object], target: Path) -> Path:
        """Copy a table to ``target``; the first time, ``make`` writes it where it is told to."""
        template = self.home / name
        if name not in self._made:
            make(template)
            self._made.add(name)
        # With the times of the files, for these are part of what statistics are about.
        shutil.copytree(template, target)
        return target

"""Measured pieces of a long benchmark, one JSON file each: a run continues where the last one ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Piece", "Pieces"]

Piece = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pieces:
    """A directory of pieces; with ``again`` every piece is measured anew."""

    directory: Path
    again: bool = False
    _asked_for: set[str] = field(default_factory=set)

    def find(self, name: str) -> Piece | None:
        """A piece that was measured before."""
        self._asked_for.add(name)
        path = self._path(name)
        if not path.exists():
            return None
        found: Piece = json.loads(path.read_text(encoding="utf-8"))
        return found

    def measure(self, name: str, measurement: Callable[[], Mapping[str, Any]]) -> Piece:
        """The piece of this name, measured if it is not there yet."""
        if (found := self.find(name)) is not None and not self.again:
            return found
        piece = dict(measurement())
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        # A piece counts only when it is whole, whatever stops the run.
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(piece, indent=1), encoding="utf-8")
        unfinished.replace(path)
        return piece

    def all(self) -> dict[str, Piece]:
        """Every piece by name."""
        found = sorted(self.directory.glob("*.json"))
        return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in found}

    def asked_for(self) -> dict[str, Piece]:
        """The pieces that this run was about, by name."""
        return {name: piece for name, piece in self.all().items() if name in self._asked_for}

    def _path(self, name: str) -> Path:
        return self.directory / f"{name}.json"

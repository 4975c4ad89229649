"""The mutants of the pruning core: one wrong piece of source each. See :mod:`tests.mutants.run`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MUTANTS", "Mutant"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """``old`` stands once in ``file`` (below ``src/skipstone``); ``breaks`` tells what ``new`` does there."""

    id: str
    file: str
    old: str
    new: str
    breaks: str


def _read(path: Path) -> tuple[Mutant, ...]:
    return tuple(Mutant(**each) for each in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"])


MUTANTS = _read(Path(__file__).with_name("planted.toml"))

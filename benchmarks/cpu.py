"""The processor time of this process and those it started, such as Spark's JVM; from Linux's ``/proc``."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cpu_seconds"]

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """The seconds of a processor that this process and all below it have taken so far."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of a program is in parentheses and may hold anything.
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        pid = int(stat.parent.name)
        parents[pid], ticks[pid] = int(fields[1]), int(fields[11]) + int(fields[12])
    return sum(ticks[pid] for pid in ticks if _below(pid, parents)) / _TICKS


def _below(pid: int, parents: dict[int, int]) -> bool:
    mine = os.getpid()
    while pid in parents and pid != mine:
        pid = parents[pid]
    return pid == mine

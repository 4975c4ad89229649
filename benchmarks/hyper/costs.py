"""What laying out costs: a plain write, one copy and three copies of the same rows, in turn.

Figure 6.4 of the hyper-partitioning thesis. Its plain upload stores every block three times, as HDFS does, so
its 3.5 times for three copies is of three equal copies; here a plain write makes one. Both are given: of one
plain write, which is what was asked for, and of as many plain writes as there are copies.

Each round makes all three on fresh files, so that what slows the machine down slows all of them; figures are
the medians over the rounds. Seconds of a processor are those of the JVM and of Python.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median

from benchmarks.cpu import cpu_seconds
from benchmarks.hyper.files import Tables
from benchmarks.pieces import Piece
from skipstone.progress import Progress

__all__ = ["COPIES", "measure_costs"]

COPIES = {"one copy": 1, "three copies": 3}
_ROUNDS = 3
_TREE = "least-allocated"
_PLAIN = "plain"


def measure_costs(tables: Tables, progress: Progress | None = None) -> Piece:
    """The wall and processor seconds of each round, and their medians."""
    found: dict[str, list[Piece]] = {name: [] for name in (_PLAIN, *COPIES)}
    tables.plain("cost", "parquet")  # Spark's first write takes longer than others
    for number in range(_ROUNDS):
        if progress is not None:
            progress("measuring writes", number, _ROUNDS)
        found[_PLAIN].append(_timed(lambda: tables.plain("cost", "parquet")))
        for name, copies in COPIES.items():
            tables.plain("cost", "delta")
            found[name].append(_timed(partial(tables.laid_out, "cost", _TREE, copies)))
    return {
        name: {
            "seconds": median(each["seconds"] for each in rounds),
            "cpu_seconds": median(each["cpu_seconds"] for each in rounds),
            "rounds": rounds,
        }
        for name, rounds in found.items()
    }


def _timed(work: Callable[[], object]) -> Piece:
    started, cpu = time.perf_counter(), cpu_seconds()
    work()
    return {"seconds": time.perf_counter() - started, "cpu_seconds": cpu_seconds() - cpu}

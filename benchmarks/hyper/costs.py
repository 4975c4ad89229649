"""What laying out costs: plain writes, one copy and three copies of the same rows, in turn.

Figure 6.4 of the hyper-partitioning thesis. Its plain upload stores every block three times, as HDFS does, so
its 3.5 times for three copies is of three equal copies; here a plain write makes one. Both are given: of one
plain write, which is what was asked for, and of as many plain writes as there are copies. Beside the plain
write with Spark's number of files stands one of rows dealt out at random to as many files as there are
blocks: what blocks cost before anything is laid out, counted, hashed or measured.

Each round makes all on fresh files, so that what slows the machine down slows all of them; figures are
the medians over the rounds. Code is compiled before, on a twentieth of the rows. Seconds of a processor are
those of the JVM and of Python.

How many files there are is not said in the thesis, whose blocks are those of HDFS. :func:`sweep_costs` lays
the same rows out into more and more of them: what a row costs and what a file costs are then known apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from benchmarks.cpu import cpu_seconds
from benchmarks.hyper.files import Tables
from benchmarks.pieces import Piece
from skipstone.progress import Progress

__all__ = ["COPIES", "DEALT", "ROUNDS", "SWEPT", "measure_costs", "sweep_costs"]

COPIES = {"one copy": 1, "three copies": 3}
ROUNDS = {"one copy": 2, "three copies": 1}
"""How often each is measured, so that each step takes a few minutes."""
DEALT = "plain, as many files"
SWEPT = (64, 100, 250, 1_000)
"""To how many files rows are dealt and laid out: first as ``optimize`` does by itself in so small a table."""
_SWEEPS = 3
_TREE = "least-allocated"
_PLAIN = "plain"
_WARM = 20


def measure_costs(tables: Tables, copies: str, progress: Progress | None = None) -> Piece:
    """The wall and processor seconds of each round, and their medians."""
    found: dict[str, list[Piece]] = {name: [] for name in (_PLAIN, DEALT, copies)}
    _warm_up(tables)
    rounds = ROUNDS[copies]
    for number in range(rounds):
        if progress is not None:
            progress("measuring writes", number, rounds)
        found[_PLAIN].append(_timed(lambda: tables.plain("cost", "parquet")))
        found[DEALT].append(_timed(lambda: tables.dealt("cost")))
        tables.plain("cost", "delta")
        found[copies].append(_timed(partial(tables.laid_out, "cost", _TREE, COPIES[copies])))
    return _medians(found)


def sweep_costs(tables: Tables, progress: Progress | None = None) -> Piece:
    """The same for one copy in several numbers of files, each as often, in turn."""
    numbers = [number for number in SWEPT if number < tables.blocks] + [tables.blocks]
    found: dict[str, list[Piece]] = {}
    _warm_up(tables)
    for sweep in range(_SWEEPS):
        found.setdefault(_PLAIN, []).append(_timed(lambda: tables.plain("cost", "parquet")))
        for place, number in enumerate(numbers):
            if progress is not None:
                progress("measuring writes", sweep * len(numbers) + place, _SWEEPS * len(numbers))
            some = replace(tables, blocks=number)
            dealt = _timed(partial(some.dealt, "cost"))
            tables.plain("cost", "delta")
            laid_out = _timed(partial(some.laid_out, "cost", _TREE, 1))
            found.setdefault(f"dealt {number}", []).append(dealt)
            found.setdefault(f"laid out {number}", []).append(laid_out)
    return {"files": numbers, **_medians(found)}


def _warm_up(tables: Tables) -> None:
    tables.plain("cost", "delta", _WARM)
    tables.laid_out("cost", _TREE, 1)
    tables.dealt("cost", _WARM)


def _medians(found: Mapping[str, Sequence[Piece]]) -> Piece:
    return {
        name: {
            "seconds": median(each["seconds"] for each in measured),
            "cpu_seconds": median(each["cpu_seconds"] for each in measured),
            "rounds": measured,
        }
        for name, measured in found.items()
    }


def _timed(work: Callable[[], object]) -> Piece:
    started, cpu = time.perf_counter(), cpu_seconds()
    work()
    return {"seconds": time.perf_counter() - started, "cpu_seconds": cpu_seconds() - cpu}

"""How long a decision over a million blocks takes: 20 columns of statistics, 128 features, 5 predicates.

Everything is drawn from a seed. Bounds are as wide as those of a table that is partly clustered, so every
predicate rules out some blocks and none rules out all. Each timed query has other constants.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skipstone.predicate.expr import And, Column, Comparison, Expr, In, Literal, Or, Value
from skipstone.predicate.normalize import normalize, normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import DATE, DOUBLE, LONG, STRING, Type
from skipstone.pruning.blocks import BlockSet, Counts, Feature, Statistics, ValueSets
from skipstone.pruning.prune import prune

__all__ = ["DecisionTimes", "measure", "query", "statistics_of", "synthetic_blocks"]

BLOCKS = 1_000_000
FEATURES = 128
_NAMES = np.array([f"name-{number:05d}" for number in range(8_000)], dtype=object)
_TYPES = {"i": LONG, "d": DATE, "f": DOUBLE, "s": STRING}
_MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")


def synthetic_blocks(blocks: int = BLOCKS, features: int = FEATURES, seed: int = 0) -> BlockSet:
    """Blocks with 8 integer, 4 date, 4 double and 4 string columns, two of these with value sets."""
    rng = np.random.default_rng(seed)
    statistics = dict(_drawn_statistics(rng, blocks))
    kept = tuple(_feature(index) for index in range(features))
    unions = rng.integers(0, 1 << 63, (blocks, (features + 63) // 64), np.uint64)
    return BlockSet(np.full(blocks, 10_000), statistics, kept, unions, np.full_like(unions, 2**64 - 1))


def _drawn_statistics(rng: np.random.Generator, blocks: int) -> Iterator[tuple[Expr, Statistics]]:
    for index in range(8):
        low = rng.integers(0, 1_000_000, blocks)
        yield statistics_of(
            f"i{index}", LONG, pa.array(low), pa.array(low + rng.integers(0, 300_000, blocks))
        )
    for index in range(4):
        low = rng.integers(8_000, 10_500, blocks)
        yield statistics_of(f"d{index}", DATE, pa.array(low), pa.array(low + rng.integers(0, 900, blocks)))
    for index in range(4):
        start = rng.normal(size=blocks)
        yield statistics_of(f"f{index}", DOUBLE, pa.array(start), pa.array(start + 1))
    for index in range(2):
        first, width = rng.integers(0, 5_000, blocks), rng.integers(0, 2_000, blocks)
        yield statistics_of(f"s{index}", STRING, pa.array(_NAMES[first]), pa.array(_NAMES[first + width]))
    for index in range(2):
        yield _value_sets(f"m{index}", rng.integers(1, 1 << len(_MODES), blocks, np.uint64))


def statistics_of(
    name: str, type_: Type, low: pa.Array, high: pa.Array, values: ValueSets | None = None
) -> tuple[Expr, Statistics]:
    """A column without NULLs, and what is known about it."""
    none: Counts = np.zeros(len(low), np.int64)
    return Column((name,), type_), Statistics(type_, low, high, none, none, values)


def _value_sets(name: str, words: npt.NDArray[np.uint64]) -> tuple[Expr, Statistics]:
    """A text of which every block has a set of values, as the bits of a word."""
    bits = np.array([[word >> index & 1 for index in range(len(_MODES))] for word in range(1 << len(_MODES))])
    modes = np.array(_MODES, dtype=object)
    low = modes[bits.argmax(axis=1)][words.astype(np.int64)]
    high = modes[::-1][bits[:, ::-1].argmax(axis=1)][words.astype(np.int64)]
    values = ValueSets(_MODES, words.reshape(-1, 1), np.ones(len(words), np.bool_))
    return statistics_of(name, STRING, pa.array(low), pa.array(high), values)


def _name(index: int) -> str:
    return str(_NAMES[1_000 + index * 37 % 4_000])


def _feature(index: int) -> Feature:
    """A conjunction of a name and an integer bound, so that implication has to look into it."""
    name = _compare(f"s{index % 2}", "=", _name(index))
    predicate = normalize(And((name, _compare(f"i{index // 2 % 8}", ">=", index * 1_000))))
    return Feature(predicate, to_sql(predicate))


def query(number: int) -> Expr:
    """Five predicates: two ranges, a string, an IN over a value set, and an OR of conjunctions.

    The string implies a feature together with the first range, and so does one branch of the OR.
    """
    index = number * 16 % FEATURES
    branches = (
        And((_compare("s0", "=", _name(index)), _compare("f0", ">", 0.5))),
        And((_compare("i1", "<", 40_000), _compare("f1", ">", 1.0))),
    )
    modes = tuple(Literal(_MODES[(number + step) % len(_MODES)], STRING) for step in (0, 3))
    return And((
        _compare("i0", ">=", 300_000 + number), _compare("i0", "<", 800_000 - number),
        _compare("d0", ">=", 8_500 + number), _compare("d0", "<=", 9_900 - number),
        _compare("s1", "=", _name(index + 1)),
        In(Column(("m0",), STRING), modes),
        Or(branches),
    ))  # fmt: skip


def _compare(name: str, op: str, value: Value) -> Comparison:
    type_ = _TYPES[name[0]]
    return Comparison(op, Column((name,), type_), Literal(value, type_))


@dataclass(frozen=True, slots=True)
class DecisionTimes:
    """Warm decisions, the first one, and the share of blocks that were skipped."""

    blocks: int
    columns: int
    features: int
    predicate: str
    milliseconds: list[float]
    median_milliseconds: float
    first_milliseconds: float
    share_skipped: float


def measure(runs: int = 21, blocks: int = BLOCKS) -> DecisionTimes:
    """Decide about one query to warm up and about ``runs`` others."""
    known = synthetic_blocks(blocks)
    first, skipped = _decide(query(0), known)
    times: list[float] = []
    shares: list[float] = [skipped]
    for number in range(1, runs + 1):
        seconds, skipped = _decide(query(number), known)
        times.append(seconds * 1_000)
        shares.append(skipped)
    return DecisionTimes(
        blocks=blocks,
        columns=len(known.statistics),
        features=len(known.features),
        predicate=to_sql(normalize_filter(query(1))),
        milliseconds=[round(value, 1) for value in times],
        median_milliseconds=median(times),
        first_milliseconds=round(first * 1_000, 1),
        share_skipped=round(median(shares), 4),
    )


def _decide(filter_: Expr, blocks: BlockSet) -> tuple[float, float]:
    started = time.perf_counter()
    decision = prune(normalize_filter(filter_), blocks)
    return time.perf_counter() - started, float(decision.skip.mean())

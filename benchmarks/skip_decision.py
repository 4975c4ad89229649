"""How long a decision over a million blocks takes: 20 columns of statistics, 128 features, 5 predicates.

Everything is drawn from a seed. Bounds are as wide as those of a table that is partly clustered, so every
predicate rules out some blocks and none rules out all. Each timed query has other constants.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import numpy as np
import pyarrow as pa

from skipstone.predicate.expr import And, Column, Comparison, Expr, In, Literal, Or, Value
from skipstone.predicate.normalize import normalize, normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import DATE, DOUBLE, LONG, STRING, Type
from skipstone.pruning.blocks import BlockSet, Counts, Feature, Statistics, ValueSets
from skipstone.pruning.prune import prune

__all__ = ["measure", "query", "synthetic_blocks"]

BLOCKS = 1_000_000
FEATURES = 128
_NAMES = np.array([f"name-{number:05d}" for number in range(8_000)], dtype=object)
_TYPES = {"i": LONG, "d": DATE, "f": DOUBLE, "s": STRING}
_MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")


def synthetic_blocks(blocks: int = BLOCKS, features: int = FEATURES, seed: int = 0) -> BlockSet:
    """Blocks with 8 integer, 4 date, 4 double and 4 string columns, two of these with value sets."""
    rng = np.random.default_rng(seed)
    statistics: dict[Expr, Statistics] = {}
    for place in range(8):
        low = rng.integers(0, 1_000_000, blocks)
        _add(statistics, f"i{place}", LONG, pa.array(low), pa.array(low + rng.integers(0, 300_000, blocks)))
    for place in range(4):
        low = rng.integers(8_000, 10_500, blocks)
        _add(statistics, f"d{place}", DATE, pa.array(low), pa.array(low + rng.integers(0, 900, blocks)))
    for place in range(4):
        start = rng.normal(size=blocks)
        _add(statistics, f"f{place}", DOUBLE, pa.array(start), pa.array(start + 1))
    for place in range(2):
        first, width = rng.integers(0, 5_000, blocks), rng.integers(0, 2_000, blocks)
        _add(statistics, f"s{place}", STRING, pa.array(_NAMES[first]), pa.array(_NAMES[first + width]))
    for place in range(2):
        words = rng.integers(1, 1 << len(_MODES), blocks, np.uint64)
        _add_set(statistics, f"m{place}", words)
    kept = tuple(_feature(place) for place in range(features))
    unions = rng.integers(0, 1 << 63, (blocks, (features + 63) // 64), np.uint64)
    return BlockSet(np.full(blocks, 10_000), statistics, kept, unions, np.full_like(unions, 2**64 - 1))


def _add(
    statistics: dict[Expr, Statistics], name: str, type_: Type, low: pa.Array, high: pa.Array,
    values: ValueSets | None = None,
) -> None:  # fmt: skip
    none: Counts = np.zeros(len(low), np.int64)
    statistics[Column((name,), type_)] = Statistics(type_, low, high, none, none, values)


def _add_set(statistics: dict[Expr, Statistics], name: str, words: np.ndarray) -> None:
    bits = np.array([[word >> place & 1 for place in range(len(_MODES))] for word in range(1 << len(_MODES))])
    modes = np.array(_MODES, dtype=object)
    low = modes[bits.argmax(axis=1)][words.astype(np.int64)]
    high = modes[::-1][bits[:, ::-1].argmax(axis=1)][words.astype(np.int64)]
    values = ValueSets(_MODES, words.reshape(-1, 1), np.ones(len(words), np.bool_))
    _add(statistics, name, STRING, pa.array(low), pa.array(high), values)


def _name(place: int) -> str:
    return str(_NAMES[1_000 + place * 37 % 4_000])


def _feature(place: int) -> Feature:
    """A conjunction of a name and an integer bound, so that implication has to look into it."""
    name = _compare(f"s{place % 2}", "=", _name(place))
    predicate = normalize(And((name, _compare(f"i{place // 2 % 8}", ">=", place * 1_000))))
    return Feature(predicate, to_sql(predicate))


def query(number: int) -> Expr:
    """Five predicates: two ranges, a string, an IN over a value set, and an OR of conjunctions.

    The string implies a feature together with the first range, and so does one branch of the OR.
    """
    place = number * 16 % FEATURES
    branches = (
        And((_compare("s0", "=", _name(place)), _compare("f0", ">", 0.5))),
        And((_compare("i1", "<", 40_000), _compare("f1", ">", 1.0))),
    )
    modes = tuple(Literal(_MODES[(number + step) % len(_MODES)], STRING) for step in (0, 3))
    return And((
        _compare("i0", ">=", 300_000 + number), _compare("i0", "<", 800_000 - number),
        _compare("d0", ">=", 8_500 + number), _compare("d0", "<=", 9_900 - number),
        _compare("s1", "=", _name(place + 1)),
        In(Column(("m0",), STRING), modes),
        Or(branches),
    ))  # fmt: skip


def _compare(name: str, op: str, value: Value) -> Comparison:
    type_ = _TYPES[name[0]]
    return Comparison(op, Column((name,), type_), Literal(value, type_))


def measure(runs: int = 21, blocks: int = BLOCKS) -> dict[str, object]:
    """Milliseconds of warm decisions, of the first one, and the share of blocks that were skipped."""
    known = synthetic_blocks(blocks)
    first, skipped = _decide(query(0), known)
    times: list[float] = []
    shares: list[float] = [skipped]
    for number in range(1, runs + 1):
        seconds, skipped = _decide(query(number), known)
        times.append(seconds * 1_000)
        shares.append(skipped)
    return {
        "blocks": blocks,
        "columns": len(known.statistics),
        "features": len(known.features),
        "predicate": to_sql(normalize_filter(query(1))),
        "milliseconds": _rounded(times),
        "median_milliseconds": median(times),
        "first_milliseconds": round(first * 1_000, 1),
        "share_skipped": round(median(shares), 4),
    }


def _decide(filter_: Expr, blocks: BlockSet) -> tuple[float, float]:
    started = time.perf_counter()
    decision = prune(normalize_filter(filter_), blocks)
    return time.perf_counter() - started, float(decision.skip.mean())


def _rounded(times: Sequence[float]) -> list[float]:
    return [round(value, 1) for value in times]

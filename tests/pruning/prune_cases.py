"""Random blocks of rows, statistics about them and predicates over them, all from one seed."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from skipstone.predicate.evaluate import NotEvaluable, evaluate
from skipstone.predicate.expr import Column, Expr, Value, type_of
from skipstone.predicate.normalize import normalize
from skipstone.predicate.truncate import truncate_max, truncate_min
from skipstone.predicate.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIMESTAMP_NTZ,
    Kind,
    Type,
)
from skipstone.pruning.blocks import BlockSet, Feature, Statistics, ValueSets

Row = Mapping[Column, Value]
Block = Sequence[Row]

PRICE, WIDE = Type.parse("decimal(10,2)"), Type.parse("decimal(38,18)")
I, J, K = (Column((name,), INT) for name in "ijk")  # noqa: E741
L, M = Column(("l",), LONG), Column(("m",), LONG)
D, E, F = Column(("d",), DOUBLE), Column(("e",), DOUBLE), Column(("f",), FLOAT)
S, T = Column(("s",), STRING), Column(("t",), STRING)
P, W = Column(("p",), PRICE), Column(("w",), WIDE)
DAY, TS = Column(("day",), DATE), Column(("ts",), TIMESTAMP_NTZ)
B, C = Column(("b",), BOOLEAN), Column(("c",), BINARY)

_TEXTS = (
    "",
    "\U0010ffff",
    "a",
    "ab",
    "abc",
    "abd",
    "b",
    "ba",
    "B",
    "a%",
    "a_b",
    "é",
    "zz",
    "\uffff",
    "\U0001f600",
)
DOMAINS: dict[Column, tuple[Value, ...]] = {
    **dict.fromkeys((I, J, K), (-(2**31), -7, -1, 0, 1, 2, 3, 5, 8, 13, 2**31 - 1)),
    **dict.fromkeys((L, M), (-(2**63), -(2**53) - 1, -5, 0, 1, 7, 2**53 + 1, 2**63 - 1)),
    **dict.fromkeys(
        (D, E), (-math.inf, -1e300, -1.5, -0.0, 0.0, 0.5, 1.0, 2.0, 7.25, 1e300, math.inf, math.nan)
    ),
    F: (-math.inf, -2.5, -0.0, 0.0, 0.10000000149011612, 1.0, 3.0, math.inf, math.nan),
    **dict.fromkeys((S, T), (*_TEXTS, "\ud7ff", "\ue000", "ab\U0001f600", "abcdefghijkl", "abcdefghijkm")),
    P: tuple(map(Decimal, ("-99999999.99", "-1.50", "0.00", "0.07", "1.00", "2.55", "99999999.99"))),
    W: tuple(map(Decimal, ("-123456789012.5", "-1", "0", "0.000000000000000001", "9.5", "88888888888"))),
    DAY: (-719162, -141427, -25567, -1, 0, 31, 59, 365, 10957, 19782, 19783),
    TS: (-62135596800000000, -1, 0, 86_399_999_999, 86_400_000_000, 1_709_164_800_000_000),
    B: (False, True),
    C: (b"", b"\x00", b"a", b"ab", b"\xff", b"\xff\xff", b"\x7f\x80"),
}


def order(value: Any) -> Any:
    return (1, 0.0) if isinstance(value, float) and math.isnan(value) else (0, value)


def random_block(rng: random.Random, columns: Sequence[Column] = tuple(DOMAINS)) -> Block:
    """Rows whose values lie close together, so that min and max have something to say."""
    pools: dict[Column, list[Value]] = {}
    for column in columns:
        domain = sorted(DOMAINS[column], key=order)
        start = rng.randrange(len(domain))
        pool: list[Value] = list(domain[start : start + rng.choice((1, 1, 2, 3))])
        if rng.random() < 0.3:
            pool.append(None)
        if rng.random() < 0.1:
            pool = [None]
        if column.type.floating and rng.random() < 0.2:
            pool.append(math.nan)
        pools[column] = pool
    return [{column: rng.choice(pool) for column, pool in pools.items()} for _ in range(rng.randint(1, 6))]


def value_of(expr: Expr, row: Row) -> Value:
    return evaluate(expr, row)


def arrow_type(type_: Type) -> pa.DataType:
    match type_.kind:
        case Kind.BOOLEAN:
            return pa.bool_()
        case Kind.FLOAT | Kind.DOUBLE:
            return pa.float64()
        case Kind.DECIMAL:
            return pa.decimal128(38, type_.scale)
        case Kind.STRING:
            return pa.string()
        case Kind.BINARY:
            return pa.binary()
    return pa.int64()


def _lower(value: Any, type_: Type, rng: random.Random) -> Any:
    match type_.kind:
        case Kind.STRING | Kind.BINARY:
            return truncate_min(value, rng.randint(0, 3))
        case Kind.BOOLEAN:
            return False
        case Kind.DECIMAL:
            return value - 1
        case Kind.FLOAT | Kind.DOUBLE:
            return rng.choice((math.nextafter(value, -math.inf), value - 1, -math.inf))
    return max(value - rng.randint(1, 3), -(2**63))


def _upper(value: Any, type_: Type, rng: random.Random) -> Any:
    match type_.kind:
        case Kind.STRING | Kind.BINARY:
            return truncate_max(value, rng.randint(0, 3))
        case Kind.BOOLEAN:
            return True
        case Kind.DECIMAL:
            return value + 1
        case Kind.FLOAT | Kind.DOUBLE:
            return rng.choice((math.nextafter(value, math.inf), value + 1, math.inf))
    return min(value + rng.randint(1, 3), 2**63 - 1)


def statistics_of(
    expr: Expr, blocks: Sequence[Block], rng: random.Random | None = None, *, value_sets: bool = False
) -> Statistics:
    """Exact statistics; with ``rng`` some are loosened, some unknown."""
    type_ = type_of(expr)

    def chance(share: float) -> bool:
        return rng is not None and rng.random() < share

    lows: list[Value] = []
    highs: list[Value] = []
    nulls, nans, members = [], [], []
    for block in blocks:
        values: list[Value] | None
        try:
            values = [value_of(expr, row) for row in block]
        except NotEvaluable:
            values = None
        ordinary: list[Any] = [v for v in values or () if v is not None and order(v)[0] == 0]
        low, high = (min(ordinary), max(ordinary)) if ordinary else (None, None)
        if rng is not None and ordinary and chance(0.3):
            low, high = _lower(low, type_, rng), _upper(high, type_, rng)
        lows.append(None if chance(0.1) else low)
        highs.append(None if chance(0.1) else high)
        unknown = values is None
        nulls.append(-1 if unknown or chance(0.1) else sum(v is None for v in values or ()))
        is_nan = sum(v is not None and order(v)[0] == 1 for v in values or ())
        nans.append(0 if not type_.floating else -1 if unknown or chance(0.1) else is_nan)
        members.append(None if unknown or chance(0.2) else values)
    stored = pa.array(lows, arrow_type(type_)), pa.array(highs, arrow_type(type_))
    sets = _value_sets(members) if value_sets else None
    return Statistics(type_, *stored, np.array(nulls, np.int64), np.array(nans, np.int64), sets)


def _value_sets(members: Sequence[list[Value] | None]) -> ValueSets:
    dictionary: dict[Any, Value] = {}
    for block in members:
        for value in block or ():
            if value is not None:
                dictionary.setdefault(order(value), value)
    indices = {key: index for index, key in enumerate(dictionary)}
    words = np.zeros((len(members), max((len(indices) + 63) // 64, 1)), np.uint64)
    for number, block in enumerate(members):
        for value in block or ():
            if value is not None:
                index = indices[order(value)]
                words[number, index // 64] |= np.uint64(1 << index % 64)
    known = np.array([block is not None for block in members])
    return ValueSets(tuple(dictionary.values()), words, known)


def packed(bits: np.ndarray) -> np.ndarray:
    """Rows of flags as words of 64."""
    words = np.zeros((len(bits), (bits.shape[1] + 63) // 64), np.uint64)
    for index in range(bits.shape[1]):
        words[:, index // 64] |= bits[:, index].astype(np.uint64) << np.uint64(index % 64)
    return words


def block_set(
    blocks: Sequence[Block],
    keys: Sequence[Expr],
    *,
    features: Sequence[Expr] = (),
    rng: random.Random | None = None,
    value_sets: Callable[[Expr], bool] = lambda key: False,
) -> BlockSet:
    """What an index of these blocks would know; exactly, or with gaps if there is an ``rng``."""
    counts = [-1 if rng is not None and rng.random() < 0.1 else len(block) for block in blocks]
    statistics = {normalize(key): statistics_of(key, blocks, rng, value_sets=value_sets(key)) for key in keys}
    normal = [normalize(feature) for feature in features]
    union = np.zeros((len(blocks), len(normal)), bool)
    known = np.zeros((len(blocks), len(normal)), bool)
    for number, block in enumerate(blocks):
        for index, feature in enumerate(normal):
            try:
                union[number, index] = any(evaluate(feature, row) is True for row in block)
                known[number, index] = rng is None or rng.random() < 0.9
            except NotEvaluable:
                pass
            if not known[number, index]:
                union[number, index] = False
    texts = tuple(Feature(feature, f"feature {index}") for index, feature in enumerate(normal))
    return BlockSet(np.array(counts, np.int64), statistics, texts, packed(union), packed(known))

"""Segments and a file store in memory, for tests of the catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa

from skipstone.catalog import Files, Segment
from skipstone.predicate.expr import Column, Comparison, Expr, Literal, Value
from skipstone.predicate.types import INT, STRING, Kind, Type
from skipstone.pruning.blocks import BlockSet, Feature, Statistics, ValueSets

SETTINGS = {"spark.sql.session.timeZone": "UTC"}
A, S = Column(("a",), INT), Column(("s",), STRING)


class MemoryStore:
    """A FileStore whose files are a dictionary."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def names(self, folder: str) -> list[str]:
        start = f"{folder}/"
        return sorted(
            path[len(start) :]
            for path in self.files
            if path.startswith(start) and "/" not in path[len(start) :]
        )

    def read(self, path: str) -> bytes:
        return self.files[path]

    def write(self, path: str, data: bytes) -> None:
        self.files[path] = data

    def delete(self, path: str) -> None:
        self.files.pop(path, None)

    def delete_folder(self, folder: str, unless_younger_millis: int | None = None) -> None:
        """Nothing here has an age, so with a limit everything is too young."""
        if unless_younger_millis is None:
            self.files = {
                path: data for path, data in self.files.items() if not path.startswith(f"{folder}/")
            }


def equals(column: Column, value: Value) -> Comparison:
    return Comparison("=", column, Literal(value, column.type))


def feature(column: Column, value: Value) -> Feature:
    return Feature(equals(column, value), f"{column.path[0]} = {value!r}")


def bounds(
    type_: Type,
    low: Sequence[Value],
    high: Sequence[Value],
    *,
    nulls: Sequence[int] | None = None,
    nans: Sequence[int] | None = None,
    values: ValueSets | None = None,
) -> Statistics:
    arrow = _arrow(type_)
    zeros = [0] * len(low)
    return Statistics(
        type_,
        pa.array(low, arrow),
        pa.array(high, arrow),
        np.array(zeros if nulls is None else nulls, np.int64),
        np.array(zeros if nans is None else nans, np.int64),
        values,
    )


def _arrow(type_: Type) -> pa.DataType:
    fixed = {
        Kind.BOOLEAN: pa.bool_(),
        Kind.FLOAT: pa.float64(),
        Kind.DOUBLE: pa.float64(),
        Kind.STRING: pa.string(),
        Kind.BINARY: pa.binary(),
    }
    if type_.kind is Kind.DECIMAL:
        return pa.decimal128(38, type_.scale)
    return fixed.get(type_.kind, pa.int64())


def value_sets(dictionary: Sequence[Value], blocks: Sequence[Sequence[Value] | None]) -> ValueSets:
    """One set per block; None is an unknown one. NaN is found by identity."""
    words = np.zeros((len(blocks), (len(dictionary) + 63) // 64), np.uint64)
    for block, members in enumerate(blocks):
        for member in members or ():
            index = next(i for i, value in enumerate(dictionary) if value is member or value == member)
            words[block, index // 64] |= np.uint64(1 << (index % 64))
    return ValueSets(tuple(dictionary), words, np.array([members is not None for members in blocks]))


def segment(
    paths: Sequence[str],
    statistics: Mapping[Expr, Statistics] | None = None,
    features: Mapping[Feature, Sequence[bool]] | None = None,
    *,
    settings: Mapping[str, str] = SETTINGS,
    texts: Mapping[Expr, str] | None = None,
    size: int = 1000,
    created: str = "2025-01-01T00:00:00+00:00",
) -> Segment:
    """A segment of as many blocks as paths, ten rows each; all its features are known."""
    count = len(paths)
    bits = features or {}
    width = (len(bits) + 63) // 64
    unions, known = np.zeros((count, width), np.uint64), np.zeros((count, width), np.uint64)
    for index, holds in enumerate(bits.values()):
        for block, bit in enumerate(holds):
            unions[block, index // 64] |= np.uint64(int(bit) << (index % 64))
            known[block, index // 64] |= np.uint64(1 << (index % 64))
    blocks = BlockSet(np.full(count, 10, np.int64), statistics or {}, tuple(bits), unions, known)
    files = Files(tuple(paths), np.full(count, size, np.int64), np.full(count, 5, np.int64))
    return Segment(files, blocks, settings, created, texts or {})


EVERY_TYPE: dict[str, tuple[list[Value], list[Value]]] = {
    "boolean": ([False, None], [True, None]),
    "byte": ([-128, 0], [127, 0]),
    "short": ([-(2**15), 1], [2**15 - 1, 2]),
    "integer": ([-(2**31), 1], [2**31 - 1, 2]),
    "long": ([-(2**63), 1], [2**63 - 1, 2]),
    "float": ([float("-inf"), -0.0], [float("inf"), 0.5]),
    "double": ([5e-324, float("nan")], [1.7976931348623157e308, float("nan")]),
    "decimal(10,2)": ([Decimal("-99999999.99"), None], [Decimal("0.10"), None]),
    "decimal(38,18)": (
        [Decimal("-" + "9" * 20 + "." + "9" * 18), Decimal(0)],
        [Decimal("1e-18"), Decimal(1)],
    ),
    "string": (["", "ä"], ["\U0001f600", "\U0010ffff"]),
    "binary": ([b"", b"\x00"], [b"\xff\xfe", b"\x00\x01"]),
    "date": ([-719162, None], [2932896, None]),
    "timestamp": ([-62135596800000000, 0], [253402300799999999, 1]),
    "timestamp_ntz": ([-1, 0], [0, 1]),
    "interval day to second": ([-1, 0], [86400000000, 1]),
}

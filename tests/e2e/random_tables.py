"""Random tables of all types, in a few files that are ordered just enough for skipping to happen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from tests.e2e.checks import write_files

FILES, ROWS = 6, 40
DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Kind:
    """A column: its type, an ordinary value of the n-th file, special values, and how SQL writes a value."""

    type: pa.DataType
    ordinary: Callable[[Random, int], Any]
    special: tuple[Any, ...]
    literal: Callable[[Any], str]


def _text(value: str) -> str:
    return f"CAST(X'{value.encode().hex()}' AS STRING)"


def _date(days: int) -> str:
    return f"date_from_unix_date({days})"


def _moment(micros: int) -> str:
    return f"timestamp_micros({micros}L)"


def _real(value: float) -> str:
    return f"CAST('{value!r}' AS DOUBLE)"


_EMOJI = ("\U0001f600", "\ue000", "\U0010ffff", "é", "ß", "İ")
_WORDS = ("AIR", "RAIL", "SHIP", "TRUCK", "MAIL")
# Days and microseconds of 0001-01-01, of the calendar's change in 1582, before 1900 and in 9999.
_DAYS = (-719162, -141428, -141427, -25568, -25567, 2932896)
_MICROS = (*(day * DAY for day in _DAYS), -1, 1, 999, 1001)
_REALS = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e300, 5e-324, 0.1)
_TEXTS = (
    "",
    " ",
    "z" * 1100,
    "z" * 1100 + "!",
    *(letter * 70 for letter in _EMOJI),
    "%",
    "_x",
    "a\\b",
    "A\nb",
)
KINDS: dict[str, Kind] = {
    "flag": Kind(pa.bool_(), lambda r, n: n > 2, (True, False), lambda v: str(v).upper()),
    "i8": Kind(pa.int8(), lambda r, n: 10 * n + r.randrange(12), (-128, 127, 0), lambda v: f"{v}Y"),
    "i16": Kind(pa.int16(), lambda r, n: 500 * n + r.randrange(600), (-32768, 32767), lambda v: f"{v}S"),
    "i32": Kind(pa.int32(), lambda r, n: 10**6 * n + r.randrange(10**6), (-(2**31), 2**31 - 1), str),
    "i64": Kind(
        pa.int64(), lambda r, n: 10**12 * n + r.randrange(9), (-(2**63) + 1, 2**63 - 1), lambda v: f"{v}L"),
    "f32": Kind(
        pa.float32(), lambda r, n: n + r.randrange(16) / 16, (*_REALS[:5], 0.1),
        lambda v: f"FLOAT({_real(v)})"),
    "f64": Kind(pa.float64(), lambda r, n: n * 100 + r.random(), _REALS, _real),
    "money": Kind(
        pa.decimal128(10, 2), lambda r, n: Decimal(n * 100000 + r.randrange(99999)).scaleb(-2),
        (Decimal("99999999.99"), Decimal("-0.01")), lambda v: f"CAST('{v}' AS DECIMAL(10, 2))"),
    "wide": Kind(
        pa.decimal128(38, 10), lambda r, n: Decimal(10**27 * n + r.randrange(5)).scaleb(-r.randrange(2)),
        (Decimal("9" * 28 + ".9999999999"), Decimal("-1E-10")),
        lambda v: f"CAST('{v:f}' AS DECIMAL(38, 10))"),
    "name": Kind(pa.string(), lambda r, n: f"{'abcxyz'[n]}{r.choice('aBé')}{r.randrange(50)}", _TEXTS, _text),
    "mode": Kind(pa.string(), lambda r, n: r.choice(_WORDS[: n % 3 + 2]), ("", "air"), _text),
    "k": Kind(pa.int32(), lambda r, n: n // 2 * 3 + r.randrange(3), (-1,), str),
    "data": Kind(
        pa.binary(), lambda r, n: bytes([40 * n, r.randrange(256)]), (b"", b"\xff" * 80, b"\x00"),
        lambda v: f"X'{v.hex()}'"),
    "day": Kind(pa.date32(), lambda r, n: 18000 + 100 * n + r.randrange(120), _DAYS, _date),
    "ts": Kind(
        pa.timestamp("us", "UTC"), lambda r, n: (19000 + n) * DAY + r.randrange(DAY), _MICROS, _moment),
    "ntz": Kind(
        pa.timestamp("us"), lambda r, n: (19000 + n) * DAY + r.randrange(DAY), _MICROS,
        lambda v: f"CAST({_moment(v)} AS TIMESTAMP_NTZ)"),
}  # fmt: skip
NESTED = {"st.a": "i32", "st.b": "name", "st.t.x": "f64", "m['c']": "mode", "arr[0]": "i32"}
"""Expressions inside structs, maps and arrays, and the kind of their values."""


@dataclass(frozen=True, slots=True)
class RandomTable:
    """The values that occur, for literals that hit something."""

    values: dict[str, list[Any]]


def _column(random: Random, kind: Kind) -> list[list[Any]]:
    """Values per file: few NULLs or none or only NULLs, special values in some files."""
    odd = random.sample(range(FILES), 2)
    nulls = [random.choice((0.0, 0.0, 0.2, 1.0 if random.random() < 0.3 else 0.1)) for _ in range(FILES)]

    def value(file: int) -> Any:
        if random.random() < nulls[file]:
            return None
        if file in odd and random.random() < 0.15:
            return random.choice(kind.special)
        return kind.ordinary(random, file)

    return [[value(file) for _ in range(ROWS)] for file in range(FILES)]


def _nested(columns: dict[str, list[Any]], row: int) -> dict[str, Any]:
    a, b, x, c = (columns[name][row] for name in ("i32", "name", "f64", "mode"))
    inner = None if row % 7 == 3 else {"x": x}
    return {
        "st": None if row % 9 == 4 else {"a": a, "b": b, "t": inner},
        "m": None if row % 8 == 5 else ([] if row % 6 == 1 else [("c", c), ("é", b)]),
        "arr": None if row % 11 == 2 else [a, row],
    }


def make_table(random: Random, path: Path) -> RandomTable:
    """Write a table of FILES files with a row number and all columns."""
    columns = {name: _column(random, kind) for name, kind in KINDS.items()}
    schema = pa.schema([
        ("id", pa.int64()), *((name, kind.type) for name, kind in KINDS.items()),
        ("st", pa.struct([("a", pa.int32()), ("b", pa.string()), ("t", pa.struct([("x", pa.float64())]))])),
        ("m", pa.map_(pa.string(), pa.string())), ("arr", pa.list_(pa.int32())),
    ])  # fmt: skip
    tables = []
    for file in range(FILES):
        here = {name: values[file] for name, values in columns.items()}
        nested = [_nested(here, row) for row in range(ROWS)]
        arrays = {
            "id": [file * ROWS + row for row in range(ROWS)],
            **here,
            **{name: [row[name] for row in nested] for name in ("st", "m", "arr")},
        }
        tables.append(pa.table({f.name: pa.array(arrays[f.name], f.type) for f in schema}, schema))
    write_files(path, tables)
    return RandomTable({name: [v for file in values for v in file] for name, values in columns.items()})

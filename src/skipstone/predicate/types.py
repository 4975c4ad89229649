"""The data types a predicate speaks about, and how their values are held in Python.

Values are held in one canonical form per kind, so that Python's own order is Spark's order:

===================  ====================================================================
kind                 Python value
===================  ====================================================================
BOOLEAN              ``bool``
BYTE … LONG          ``int``
FLOAT, DOUBLE        ``float``; NaN is one value, greater than all; ``-0.0 == 0.0``
DECIMAL              ``decimal.Decimal`` with at most ``precision`` digits
STRING               ``str``; order by code point, which is the order of UTF-8 bytes
BINARY               ``bytes``; unsigned order
DATE                 ``int`` days since 1970-01-01, proleptic Gregorian
TIMESTAMP, _NTZ      ``int`` microseconds since 1970-01-01 00:00:00 (UTC, or no zone)
DAY_TIME_INTERVAL    ``int`` microseconds
YEAR_MONTH_INTERVAL  ``int`` months
TIME                 ``int`` nanoseconds since midnight
===================  ====================================================================

Everything else (structs, maps, arrays, variants, strings with a collation) is ``OTHER``: it has
no order here, and nothing is ever concluded from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

__all__ = ["Kind", "Type"]


class Kind(Enum):
    """What sort of values a type has."""

    BOOLEAN = auto()
    BYTE = auto()
    SHORT = auto()
    INT = auto()
    LONG = auto()
    FLOAT = auto()
    DOUBLE = auto()
    DECIMAL = auto()
    STRING = auto()
    BINARY = auto()
    DATE = auto()
    TIMESTAMP = auto()
    TIMESTAMP_NTZ = auto()
    DAY_TIME_INTERVAL = auto()
    YEAR_MONTH_INTERVAL = auto()
    TIME = auto()
    OTHER = auto()


_BY_NAME = {
    "boolean": Kind.BOOLEAN,
    "byte": Kind.BYTE,
    "tinyint": Kind.BYTE,
    "short": Kind.SHORT,
    "smallint": Kind.SHORT,
    "integer": Kind.INT,
    "int": Kind.INT,
    "long": Kind.LONG,
    "bigint": Kind.LONG,
    "float": Kind.FLOAT,
    "double": Kind.DOUBLE,
    "string": Kind.STRING,
    "binary": Kind.BINARY,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamp_ntz": Kind.TIMESTAMP_NTZ,
}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")
_INTEGRAL_BITS = {Kind.BYTE: 8, Kind.SHORT: 16, Kind.INT: 32, Kind.LONG: 64}


@dataclass(frozen=True, slots=True)
class Type:
    """A Spark data type; ``text`` is Spark's own name for it and decides equality."""

    kind: Kind
    text: str
    precision: int = 0
    scale: int = 0

    @classmethod
    def parse(cls, text: str) -> Type:
        """Read Spark's name of a type, as in its schema JSON or in ``simpleString``.

        >>> Type.parse("decimal(10,2)").scale
        2
        >>> Type.parse("string collate UTF8_LCASE").kind
        <Kind.OTHER: 17>
        """
        name = text.strip().lower()
        if kind := _BY_NAME.get(name):
            canonical = {Kind.BYTE: "byte", Kind.SHORT: "short", Kind.INT: "integer", Kind.LONG: "long"}
            return cls(kind, canonical.get(kind, name))
        if match := _DECIMAL.fullmatch(name):
            precision, scale = int(match[1]), int(match[2])
            return cls(Kind.DECIMAL, f"decimal({precision},{scale})", precision, scale)
        if name.startswith("interval "):
            # A plain "interval" mixes months, days and microseconds and has no order.
            year_month = any(unit in name for unit in ("year", "month"))
            return cls(Kind.YEAR_MONTH_INTERVAL if year_month else Kind.DAY_TIME_INTERVAL, name)
        if re.fullmatch(r"time\(\d\)", name):
            return cls(Kind.TIME, name)
        return cls(Kind.OTHER, text.strip())

    @property
    def ordered(self) -> bool:
        """Whether values of this type have an order that statistics may use."""
        return self.kind is not Kind.OTHER

    @property
    def floating(self) -> bool:
        """Whether NaN is a value of this type."""
        return self.kind in (Kind.FLOAT, Kind.DOUBLE)

    @property
    def integral_range(self) -> tuple[int, int] | None:
        """Smallest and largest value of an integral type; None for any other."""
        bits = _INTEGRAL_BITS.get(self.kind)
        return None if bits is None else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)

    def __str__(self) -> str:
        return self.text


BOOLEAN = Type(Kind.BOOLEAN, "boolean")
BYTE = Type(Kind.BYTE, "byte")
SHORT = Type(Kind.SHORT, "short")
INT = Type(Kind.INT, "integer")
LONG = Type(Kind.LONG, "long")
FLOAT = Type(Kind.FLOAT, "float")
DOUBLE = Type(Kind.DOUBLE, "double")
STRING = Type(Kind.STRING, "string")
BINARY = Type(Kind.BINARY, "binary")
DATE = Type(Kind.DATE, "date")
TIMESTAMP = Type(Kind.TIMESTAMP, "timestamp")
TIMESTAMP_NTZ = Type(Kind.TIMESTAMP_NTZ, "timestamp_ntz")

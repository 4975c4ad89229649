"""Constants, names and types as Spark SQL writes them.

Dates and times are rendered by arithmetic on the proleptic Gregorian calendar rather than with
``datetime``, which ends at the year 9999 and has no year before 1.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from skipstone.predicate.expr import Literal
from skipstone.predicate.types import Kind, Type

__all__ = ["civil", "identifier", "literal_sql", "string_sql", "type_sql"]

MICROS_PER_DAY = 86_400_000_000
_SUFFIX = {Kind.BYTE: "Y", Kind.SHORT: "S", Kind.INT: "", Kind.LONG: "L"}
_TYPE_NAMES = {Kind.BYTE: "TINYINT", Kind.SHORT: "SMALLINT", Kind.INT: "INT", Kind.LONG: "BIGINT"}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Not all of these are reserved by Spark, but a quoted name is never wrong.
# fmt: off
_KEYWORDS = frozenset(
    (
        "all", "and", "anti", "any", "as", "between", "both", "case", "cast", "create", "cross",
        "current_date", "date", "delete", "describe", "distinct", "drop", "else", "end", "escape",
        "except", "exists", "false", "for", "from", "full", "group", "having", "in", "inner", "insert",
        "intersect", "interval", "into", "is", "join", "left", "like", "limit", "minus", "natural", "not",
        "null", "on", "or", "order", "outer", "right", "rlike", "select", "semi", "set", "some", "table",
        "then", "time", "timestamp", "true", "union", "update", "using", "values", "when", "where", "with",
    )
)
# fmt: on


def literal_sql(literal: Literal) -> str:
    """The constant with its type visible, as Spark parses it."""
    match literal.value:
        case None:
            return "NULL"
        case bool() as flag:
            return "TRUE" if flag else "FALSE"
        case int() as number:
            return _integer(number, literal.type)
        case float() as real:
            return _real(real, literal.type)
        case Decimal() as exact:
            return f"{exact:f}BD"
        case str() as text:
            return string_sql(text)
        case bytes() as raw:
            return f"X'{raw.hex().upper()}'"
    return str(literal.value)


def string_sql(text: str) -> str:
    """The text between quotes, with backslash escapes."""
    return "'" + "".join(_escaped(char) for char in text) + "'"


def identifier(name: str) -> str:
    """The name, in back-ticks unless it is plain and no keyword."""
    if _PLAIN.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    return "`" + name.replace("`", "``") + "`"


def type_sql(type_: Type) -> str:
    """The type as it stands after AS in a cast."""
    return _TYPE_NAMES.get(type_.kind, type_.text.upper() if type_.ordered else type_.text)


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day count since 1970-01-01, for any year.

    >>> civil(0), civil(-719528), civil(2932897)
    ((1970, 1, 1), (0, 1, 1), (10000, 1, 1))
    """
    # Count from 0000-03-01, so that the leap day ends its year and 400 years are 146097 days.
    era, day = divmod(days + 719468, 146097)
    year_of_era = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day_of_year = day - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * day_of_year + 2) // 153
    year = year_of_era + era * 400 + (month >= 10)
    return year, month + 3 if month < 10 else month - 9, day_of_year - (153 * month + 2) // 5 + 1


def _escaped(char: str) -> str:
    if char in "'\\":
        return "\\" + char
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char, char if char >= " " else f"\\u{ord(char):04x}")


def _integer(number: int, type_: Type) -> str:
    match type_.kind:
        case Kind.DATE:
            return f"DATE '{_date(number)}'"
        case Kind.TIMESTAMP:
            return f"TIMESTAMP '{_moment(number)}Z'"
        case Kind.TIMESTAMP_NTZ:
            return f"TIMESTAMP_NTZ '{_moment(number)}'"
        case Kind.TIME:
            return f"TIME '{_clock(number, 9)}'"
        case Kind.YEAR_MONTH_INTERVAL:
            return f"INTERVAL '{number}' MONTH"
        case Kind.DAY_TIME_INTERVAL:
            days, rest = divmod(abs(number), MICROS_PER_DAY)
            return f"INTERVAL '{'-' if number < 0 else ''}{days} {_clock(rest, 6)}' DAY TO SECOND"
    return f"{number}{_SUFFIX.get(type_.kind, '')}"


def _real(real: float, type_: Type) -> str:
    name, suffix = ("float", "F") if type_.kind is Kind.FLOAT else ("double", "D")
    if math.isfinite(real):
        return f"{real!r}{suffix}".replace("e+", "E").replace("e", "E")
    word = "NaN" if math.isnan(real) else ("Infinity" if real > 0 else "-Infinity")
    return f"{name}('{word}')"


def _date(days: int) -> str:
    year, month, day = civil(days)
    sign = "-" if year < 0 else ("+" if year > 9999 else "")
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"


def _moment(micros: int) -> str:
    days, rest = divmod(micros, MICROS_PER_DAY)
    return f"{_date(days)} {_clock(rest, 6)}"


def _clock(units: int, digits: int) -> str:
    seconds, fraction = divmod(units, 10**digits)
    tail = f".{fraction:0{digits}d}".rstrip("0") if fraction else ""
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{tail}"

"""Constants and names as Spark SQL writes them, exactly: Spark reads back the same value of the same type.

The text means the same in every session, for it is stored and read again later. Quotes, backslashes and
control characters are therefore written by their codes: what a backslash means depends on
``spark.sql.parser.escapedStringLiterals``, and what double quotes mean on ANSI settings.

Dates and times are rendered by arithmetic on the proleptic Gregorian calendar rather than with
``datetime``, which ends at the year 9999 and has no year before 1.
"""

from __future__ import annotations

import itertools
import math
import re
from decimal import Context, Decimal

from skipstone.predicate.expr import Literal
from skipstone.predicate.type_names import type_sql
from skipstone.predicate.types import Kind, Type

__all__ = ["civil", "identifier", "literal_sql", "plain_sql", "string_sql", "text_sql", "type_sql"]

MICROS_PER_DAY = 86_400_000_000
_SUFFIX = {Kind.BYTE: "Y", Kind.SHORT: "S", Kind.INT: "", Kind.LONG: "L"}
_MONTHS = Type.parse("interval year to month")
_DAYS = Type.parse("interval day to second")
_WIDE = Context(prec=100)
_LAST_PLAIN_YEAR = 9999
"""Later ones are written with a sign."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What Spark reserves in any mode, and some more: a quoted name is never wrong.
# fmt: off
_KEYWORDS = frozenset(
    (
        "all", "and", "anti", "any", "as", "authorization", "between", "both", "call", "case", "cast",
        "check", "collate", "collation", "collations", "column", "constraint", "create", "cross",
        "current_date", "current_path", "current_schema", "current_time", "current_timestamp",
        "current_user", "date", "delete", "describe", "distinct", "drop", "else", "end", "escape", "except",
        "execute", "exists", "false", "fetch", "filter", "for", "foreign", "from", "full", "grant", "group",
        "having", "in", "inner", "insert", "intersect", "interval", "into", "is", "join", "lateral",
        "leading", "left", "like", "limit", "localtime", "minus", "natural", "not", "null", "offset", "on",
        "only", "or", "order", "outer", "overlaps", "primary", "recursive", "references", "right", "rlike",
        "select", "semi", "session_user", "set", "some", "sql", "table", "then", "time", "timestamp",
        "timestamp_ltz", "timestamp_ntz", "to", "trailing", "true", "union", "unique", "unknown", "update",
        "user", "using", "values", "when", "where", "with", "within",
    )
)
# fmt: on


def literal_sql(literal: Literal) -> str:
    """The constant with its type, as Spark parses it wherever it stands."""
    match literal.value:
        case None:
            return f"CAST(NULL AS {type_sql(literal.type)})"
        case Decimal() as exact:
            text = plain_sql(literal)
            whole = (literal.type.precision, literal.type.scale) == _digits(exact, literal.type)
            return text if whole else f"CAST({text} AS {type_sql(literal.type)})"
    return plain_sql(literal)


def plain_sql(literal: Literal) -> str:
    """The constant beside an expression of its own type, which fixes what type a decimal or a NULL has."""
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
            return f"{_at_scale(exact, literal.type):f}BD"
        case str() as text:
            return text_sql(text)
        case bytes() as raw:
            return f"X'{raw.hex().upper()}'"
    return str(literal.value)


def text_sql(text: str) -> str:
    """The text as a constant that has neither backslashes nor line breaks in it.

    >>> text_sql("ok"), text_sql("it's")
    ("'ok'", "concat('it', chr(39), 's')")
    """
    parts: list[str] = []
    for odd, found in itertools.groupby(itertools.pairwise(f"{text} "), key=_is_odd):
        run = [char for char, _ in found]
        parts += [f"chr({ord(char)})" for char in run] if odd else ["'" + "".join(run) + "'"]
    return parts[0] if len(parts) == 1 else f"concat({', '.join(parts)})" if parts else "''"


def string_sql(text: str) -> str:
    """The text between quotes, with the backslash escapes that Spark reads by default."""
    return "'" + "".join(_escaped(char) for char in text) + "'"


def identifier(name: str) -> str:
    """The name, in back-ticks unless it is plain and no keyword."""
    if _PLAIN.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    return "`" + name.replace("`", "``") + "`"


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


def _is_odd(pair: tuple[str, str]) -> bool:
    """Whether a character, with the one after it, must not stand between quotes as it is.

    Spark replaces ``${name}`` by a variable of the session, even between quotes.
    """
    return pair[0] in "'\\\x7f" or pair[0] < " " or pair == ("$", "{")


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
            return _typed(f"TIME '{_clock(number, 9)}'", type_, Type.parse("time(6)"))
        case Kind.YEAR_MONTH_INTERVAL:
            years, months = divmod(abs(number), 12)
            text = f"INTERVAL '{'-' if number < 0 else ''}{years}-{months}' YEAR TO MONTH"
            return _typed(text, type_, _MONTHS)
        case Kind.DAY_TIME_INTERVAL:
            days, rest = divmod(abs(number), MICROS_PER_DAY)
            text = f"INTERVAL '{'-' if number < 0 else ''}{days} {_clock(rest, 6)}' DAY TO SECOND"
            return _typed(text, type_, _DAYS)
    return f"{number}{_SUFFIX.get(type_.kind, '')}"


def _typed(text: str, wanted: Type, own: Type) -> str:
    return text if wanted == own else f"CAST({text} AS {type_sql(wanted)})"


def _at_scale(exact: Decimal, type_: Type) -> Decimal:
    """With all the digits after the point that its type has."""
    exponent = exact.as_tuple().exponent
    if isinstance(exponent, int) and -exponent < type_.scale:
        return exact.quantize(Decimal((0, (1,), -type_.scale)), context=_WIDE)
    return exact


def _digits(exact: Decimal, type_: Type) -> tuple[int, int]:
    """Precision and scale by which Spark reads the digits of a decimal."""
    written = _at_scale(exact, type_).as_tuple()
    scale = max(0, -int(written.exponent))
    return max(len(written.digits) + max(0, int(written.exponent)), scale), scale


def _real(real: float, type_: Type) -> str:
    name, suffix = ("float", "F") if type_.kind is Kind.FLOAT else ("double", "D")
    if math.isfinite(real):
        return f"{real!r}{suffix}".replace("e+", "E").replace("e", "E")
    word = "NaN" if math.isnan(real) else ("Infinity" if real > 0 else "-Infinity")
    return f"{name}('{word}')"


def _date(days: int) -> str:
    year, month, day = civil(days)
    sign = "-" if year < 0 else ("+" if year > _LAST_PLAIN_YEAR else "")
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"


def _moment(micros: int) -> str:
    days, rest = divmod(micros, MICROS_PER_DAY)
    return f"{_date(days)} {_clock(rest, 6)}"


def _clock(units: int, digits: int) -> str:
    seconds, fraction = divmod(units, 10**digits)
    tail = f".{fraction:0{digits}d}".rstrip("0") if fraction else ""
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{tail}"

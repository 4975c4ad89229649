"""Predicates as people write them: for text that is read and not parsed.

:func:`~skipstone.predicate.render.to_sql` shows the type of every constant, as Spark must see it to read the
same predicate again. People write ``price > 400``, not ``price > 400.00BD``; ``name LIKE 'A%'``, not
``startswith(name, 'A')``; and they do not write the ``IS NOT NULL`` that Spark infers from another condition.

>>> from skipstone.predicate.expr import And, Column, Comparison, IsNull, Literal, Not
>>> from skipstone.predicate.types import LONG
>>> x = Column(("x",), LONG)
>>> readable(And((Not(IsNull(x)), Comparison("=", x, Literal(7, LONG)))))
'x = 7'
"""

from __future__ import annotations

import re
from dataclasses import replace

from skipstone.predicate.expr import And, Call, Comparison, Expr, In, IsNull, Like, Match, Not, Or
from skipstone.predicate.literals import string_sql
from skipstone.predicate.nullness import not_null
from skipstone.predicate.render import to_sql

__all__ = ["MOST_CHARACTERS", "plain_constants", "readable", "shortened", "without_inferred"]

MOST_CHARACTERS = 400
_MOST_PARTS = 24
_PIECE = r"(?:'[^']*'|chr\(\d+\))"
_TOKENS = re.compile(
    rf"(?P<pieces>concat\({_PIECE}(?:, {_PIECE})+\)|\bchr\(\d+\))"  # text with quotes or line breaks in it
    r"|CAST\(NULL AS (?P<type>[^()']+(?:\(\d+,\s?\d+\))?)\)"
    r"|CAST\((?P<decimal>-?\d+(?:\.\d+)?)BD AS DECIMAL\(\d+,\s?\d+\)\)"
    r"|'(?:[^'\\]|\\.)*'"  # text
    r"|`(?:[^`]|``)*`"  # a quoted name
    r"|[A-Za-z_]\w*"  # a name, digits and all
    r"|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?P<suffix>BD|[LSYDF])\b",
    re.DOTALL,
)
_WILDCARDS = frozenset("%_\\")


def readable(expr: Expr, most: int = MOST_CHARACTERS) -> str:
    """The expression as a person would write it, cut off where it is very long."""
    return shortened(plain_constants(to_sql(_plain(without_inferred(expr)))), most)


def plain_constants(sql: str) -> str:
    r"""SQL text without what marks the type of a constant, or keeps sessions from reading it differently.

    >>> plain_constants("a > 400.00BD AND b = 7L AND c = '7L' AND d < 0.50D AND x1L = 2")
    "a > 400 AND b = 7 AND c = '7L' AND d < 0.5 AND x1L = 2"
    >>> print(plain_constants("a = concat('it', chr(39), 's') OR b > CAST(1.50BD AS DECIMAL(5,2))"))
    a = 'it\'s' OR b > 1.5
    """
    return _TOKENS.sub(_constant, sql)


def shortened(text: str, most: int) -> str:
    """The text, or its beginning and how much was left out."""
    if len(text) <= most:
        return text
    cut = text[:most].rsplit(" ", 1)[0]
    return f"{cut} … ({len(text) - len(cut):,} more characters)"


def without_inferred(expr: Expr) -> Expr:
    """A conjunction without the ``IS NOT NULL`` that another of its conditions implies."""
    if not isinstance(expr, And):
        return expr
    tests = {part.arg.arg for part in expr.args if isinstance(part, Not) and isinstance(part.arg, IsNull)}
    others = [part for part in expr.args if not _is_null_test(part)]
    present = frozenset[Expr]().union(*map(not_null, others)) if tests else frozenset()
    kept = tuple(part for part in expr.args if not (_is_null_test(part) and _tested(part) in present))
    return And(kept) if len(kept) > 1 else kept[0]


def _is_null_test(part: Expr) -> bool:
    return isinstance(part, Not) and isinstance(part.arg, IsNull)


def _tested(part: Expr) -> Expr:
    assert isinstance(part, Not)
    assert isinstance(part.arg, IsNull)
    return part.arg.arg


def _constant(match: re.Match[str]) -> str:
    if match["pieces"] is not None:
        return string_sql("".join(map(_piece, re.findall(_PIECE, match["pieces"]))))
    if match["type"] is not None:
        return "NULL"
    number = match["decimal"] or match["number"]
    return match[0] if number is None else _number(number)


def _piece(sql: str) -> str:
    return sql[1:-1] if sql.startswith("'") else chr(int(sql[4:-1]))


def _number(number: str) -> str:
    if "." not in number or "e" in number.lower():
        return number
    return number.rstrip("0").rstrip(".")


def _plain(expr: Expr) -> Expr:
    """Matches as LIKE, in all parts; of very many parts only the first, the rest is cut off anyway."""
    match expr:
        case Match("starts_with" | "ends_with" | "contains" as kind, arg, text) if _WILDCARDS.isdisjoint(
            text
        ):
            before, after = kind != "starts_with", kind != "ends_with"
            return Like(_plain(arg), f"{'%' * before}{text}{'%' * after}")
        case And() | Or():
            return replace(expr, args=tuple(map(_plain, expr.args[: 10 * _MOST_PARTS])))
        case Call():
            return replace(expr, args=tuple(map(_plain, expr.args)))
        case In():
            return In(_plain(expr.arg), expr.values[: 10 * _MOST_PARTS])
        case IsNull() | Like() | Match() | Not():
            return replace(expr, arg=_plain(expr.arg))
        case Comparison(op, left, right):
            return Comparison(op, _plain(left), _plain(right))
        case _:
            return expr

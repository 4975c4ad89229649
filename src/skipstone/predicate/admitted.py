"""Which values of one expression a predicate admits.

A predicate over a single scalar expression (``x > 5``, ``month(d) IN (1, 2)``, ``name LIKE 'A%'``)
is true for some of its values. :class:`Admitted` describes them: ranges of ordinary values, and
whether NULL and NaN are among them. It may describe too many, never too few: a block whose values
are all outside can be skipped. AND intersects, OR unites, so ``x < 3 OR x > 10`` and the IN-list that
remains of ``x IN (1, 10) AND x > 5`` need no rule of their own.

In Spark NaN equals itself and is greater than everything, so ``x > 5`` admits NaN and ``x < 5`` does
not. A comparison with NULL is never true, except ``<=>``.

>>> from skipstone.predicate.expr import Column, Comparison, Literal
>>> from skipstone.predicate.types import INT
>>> admitted(Comparison(">", Column(("x",), INT), Literal(5, INT)))[1].ranges
((6, None),)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from skipstone.predicate import ranges
from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Or,
    Value,
    type_of,
)
from skipstone.predicate.patterns import segments
from skipstone.predicate.ranges import ALL, NONE, Ranges, encode, following
from skipstone.predicate.truncate import is_range, successor
from skipstone.predicate.types import Kind, Type

__all__ = ["Admitted", "admitted", "intersection"]


@dataclass(frozen=True, slots=True)
class Admitted:
    """Ordinary values in ``ranges``; NULL and NaN as the flags say."""

    ranges: Ranges
    null: bool = False
    nan: bool = True

    @property
    def empty(self) -> bool:
        """Whether nothing is admitted: the predicate is never true."""
        return not (self.ranges or self.null or self.nan)

    def __and__(self, other: Admitted) -> Admitted:
        ordinary = ranges.intersect(self.ranges, other.ranges)
        return Admitted(ordinary, self.null and other.null, self.nan and other.nan)


NOTHING = Admitted(NONE, null=False, nan=False)
NOT_NULL = Admitted(ALL)


@lru_cache(maxsize=4096)
def admitted(predicate: Expr) -> tuple[Expr, Admitted] | None:
    """The expression that a normalised predicate is about and what it admits of it.

    None if the predicate is about several expressions, or is not understood.
    """
    match predicate:
        case And(args=args) | Or(args=args):
            return _junction(predicate, [admitted(arg) for arg in args])
        case Column(type=Type(kind=Kind.BOOLEAN)) | Call(type=Type(kind=Kind.BOOLEAN)):
            return predicate, Admitted(ranges.points([1]), nan=False)
    expr = _subject(predicate)
    if expr is None:
        return None
    try:
        found = _atom(predicate, type_of(expr))
    except ValueError:  # a literal that is no value of the expression's type
        return None
    if found is None:
        return None
    nan = found.nan and (type_of(expr).floating or type_of(expr).kind is Kind.OTHER)
    return expr, Admitted(found.ranges, found.null, nan)


def _junction(predicate: Expr, parts: list[tuple[Expr, Admitted] | None]) -> tuple[Expr, Admitted] | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({expr for expr, _ in known}) != 1:
        return None
    every = [found for _, found in known]
    if isinstance(predicate, And):
        return known[0][0], intersection(every)
    ordinary = ranges.union(*(found.ranges for found in every))
    return known[0][0], Admitted(ordinary, any(each.null for each in every), any(each.nan for each in every))


def intersection(every: list[Admitted]) -> Admitted:
    """What all admit. By halves, so that n of them with a few ranges each take O(n log n)."""
    if len(every) == 1:
        return every[0]
    middle = len(every) // 2
    return intersection(every[:middle]) & intersection(every[middle:])


def _subject(predicate: Expr) -> Expr | None:
    """The scalar that a predicate is about, if its other side is constant."""
    match predicate:
        case Not(arg=(Column() | Call()) as scalar) if type_of(scalar).kind is Kind.BOOLEAN:
            return scalar
        case Not(arg=inner) if not isinstance(inner, (Not, And, Or)):
            return _subject(inner)
        case Comparison(left=(Column() | Call()) as scalar, right=Literal(type=type)):
            return scalar if type == type_of(scalar) else None
        case In(arg=(Column() | Call()) as scalar, values=values) if values:  # of none, a setting decides
            return scalar if all(value.type == type_of(scalar) for value in values) else None
        case IsNull(arg=(Column() | Call()) as scalar):
            return scalar
        case Like(arg=(Column() | Call()) as scalar) | Match(arg=(Column() | Call()) as scalar):
            return scalar if type_of(scalar).kind is Kind.STRING else None
    return None


def _atom(predicate: Expr, type: Type) -> Admitted | None:
    match predicate:
        case Comparison(op=op, right=Literal(value=value)):
            return _comparison(op, value, type)
        case In(values=values):
            return _among([value.value for value in values], type)
        case IsNull():
            return Admitted(NONE, null=True, nan=False)
        case Match(kind="starts_with", pattern=pattern):
            return Admitted(_prefixed(pattern))
        case Like(pattern=pattern, escape=escape):
            return Admitted(_prefixed(_like_prefix(pattern, escape)))
        case Not(arg=inner):
            return _negation(inner, type)
        case Match():
            return NOT_NULL
    return None


def _comparison(op: str, value: Value, type: Type) -> Admitted | None:
    if value is None:
        return Admitted(NONE, null=True, nan=False) if op == "<=>" else NOTHING
    if isinstance(value, float) and math.isnan(value):
        ordinary = ALL if op in ("<", "<=") else NONE
        return Admitted(ordinary, nan=op in ("=", "<=>", "<=", ">="))
    key = encode(value, type)
    after = following(key)
    match op:
        case "=" | "<=>":
            return Admitted(ranges.points([key]), nan=False)
        case "<":
            return Admitted(ranges.below(key), nan=False)
        case "<=":
            return Admitted(ranges.below(after), nan=False)
        case ">":
            return Admitted(NONE if after is None else ranges.at_least(after))
        case ">=":
            return Admitted(ranges.at_least(key))
    return None


def _among(values: list[Value], type: Type) -> Admitted:
    present = [value for value in values if value is not None]
    ordinary = [value for value in present if not _is_nan(value)]
    keys = [encode(value, type) for value in ordinary]
    return Admitted(ranges.points(keys), nan=len(ordinary) < len(present))


def _negation(inner: Expr, type: Type) -> Admitted | None:
    match inner:
        case IsNull() | Like():
            return NOT_NULL
        case Match(kind="starts_with", pattern=pattern) if is_range(pattern):
            return Admitted(ranges.complement(_prefixed(pattern)))
        case Match():
            return NOT_NULL
        case Comparison(op="=", right=Literal(value=value)):
            return NOTHING if value is None else _except(_among([value], type))
        case Comparison(op="<=>", right=Literal(value=value)):
            if value is None:
                return NOT_NULL
            others = _except(_among([value], type))
            return Admitted(others.ranges, null=True, nan=others.nan)
        case In(values=values):
            if any(value.value is None for value in values):
                # Never TRUE; except that Spark's InSet, when it is interpreted, calls NaN a non-member.
                return Admitted(NONE, nan=type.floating)
            others = _except(_among([value.value for value in values], type))
            return Admitted(others.ranges, nan=True)  # for the same reason, of any list
        case Column() | Call():
            return Admitted(ranges.points([0]), nan=False)
    return None


def _except(found: Admitted) -> Admitted:
    return Admitted(ranges.complement(found.ranges), nan=not found.nan)


def _is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _prefixed(prefix: str) -> Ranges:
    prefix.encode()  # ValueError for what is no text
    return ((prefix, successor(prefix)),)


def _like_prefix(pattern: str, escape: str) -> str:
    """What every match begins with."""
    anchored = segments(pattern, escape)[0]
    return "".join(char for char in takewhile(lambda char: char is not None, anchored) if char)

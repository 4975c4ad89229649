"""Null rejection: which expressions cannot be NULL on a row for which a predicate is TRUE.

A comparison is TRUE only for non-NULL sides, a match only for a non-NULL argument, and a function
that is NULL as soon as an argument is passes the conclusion on to its arguments. A field inside
structs is non-NULL only if the structs are.

>>> from skipstone.predicate.types import DATE, INT
>>> d = Column(("d",), DATE)
>>> year = Call("year", (d,), INT)
>>> not_null(Comparison("=", year, Literal(2024, INT))) == {year, d}
True
"""

from __future__ import annotations

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
)
from skipstone.predicate.functions import NULL_PROPAGATING

__all__ = ["not_null"]

_NONE: frozenset[Expr] = frozenset()


def not_null(predicate: Expr) -> frozenset[Expr]:
    """Expressions that are non-NULL wherever the normalised predicate is TRUE."""
    match predicate:
        case And(args):
            return _NONE.union(*(not_null(arg) for arg in args))
        case Or(args):
            first, *rest = (not_null(arg) for arg in args)
            return first.intersection(*rest)
        case Comparison("<=>", left, Literal(value)) if value is not None:
            return _has_value(left)
        case Not(IsNull(arg)):
            return _has_value(arg)
        case Not(arg) if not isinstance(arg, And | Or):
            return _has_value(arg)
        case Call("partner", keys):  # NULL has none
            return _NONE.union({predicate}, *map(_has_value, keys))
        case _:
            return _has_value(predicate)


def _has_value(expr: Expr) -> frozenset[Expr]:
    """What is non-NULL whenever this expression is."""
    match expr:
        case Column():
            return frozenset((expr,))
        case Call(name, args):
            below = _NONE.union(*map(_has_value, args)) if name in NULL_PROPAGATING else _NONE
            return below | {expr}
        case Comparison(op, left, right) if op != "<=>":
            return _has_value(left) | _has_value(right)
        case In(arg, values) if values:
            return _has_value(arg)
        case Like(arg) | Match(arg=arg) | Not(arg):
            return _has_value(arg)
        case _:
            return _NONE

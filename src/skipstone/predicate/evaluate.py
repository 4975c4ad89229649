"""The reference evaluator: one expression on one row, exactly as Spark would.

``NaN = NaN`` and NaN is greater than everything, ``-0.0 = 0.0``, strings compare by code point,
truth is three-valued and None is NULL. What cannot be known (a missing column, an opaque part, an
overflow, a function or pattern outside the certain ones) raises :class:`NotEvaluable`; a FALSE
conjunct or a TRUE disjunct still decides, whatever its neighbours are.

>>> from skipstone.predicate.types import INT
>>> x = Column(("x",), INT)
>>> evaluate(Comparison(">", x, Literal(3, INT)), {x: 5}), evaluate(Not(IsNull(x)), {x: None})
(True, False)

A row may also give the value of a whole call, such as ``month(d)``, in place of its columns.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from skipstone.predicate.casts import cast
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
    Opaque,
    Or,
    Value,
    type_of,
)
from skipstone.predicate.functions import CATALYST_NAMES, INTEGRAL, STRICT, NotEvaluable
from skipstone.predicate.patterns import LINE_ENDS, NotPortable, like, portable_regex, segments
from skipstone.predicate.types import Kind, Type

__all__ = ["NotEvaluable", "Row", "comparable", "evaluate", "order_key"]

Row = Mapping[Any, Value]
"""Columns, or whole calls, to canonical values."""

_FUNCTIONS: dict[str, Callable[..., Value]] = {**STRICT, "cast": cast}
_MISSING = object()
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<=>": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluate(expr: Expr, row: Row) -> Value:
    """The value of the expression on the row; raises :class:`NotEvaluable` where it is unknown."""
    return _EVALUATORS[type(expr)](expr, row)


def comparable(left: Type, right: Type) -> bool:
    """Whether canonical values of the two types may be compared with each other as they are."""
    if left.kind is right.kind:
        return left.ordered
    return (left.kind in INTEGRAL and right.kind in INTEGRAL) or (left.floating and right.floating)


def order_key(value: Any) -> Any:
    """What Python should compare in place of the value to get Spark's order and equality."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value


def _column(expr: Column, row: Row) -> Value:
    value = row.get(expr, _MISSING)
    if value is _MISSING:
        raise NotEvaluable(f"no value for {'.'.join(expr.path)}")
    return value


def _call(expr: Call, row: Row) -> Value:
    value = row.get(expr, _MISSING)
    if value is not _MISSING:
        return value
    if lazy := _LAZY.get(expr.name):
        return lazy(expr, row)
    function = _FUNCTIONS.get(CATALYST_NAMES.get(expr.name, expr.name))
    if function is None or any(key.startswith("conf.") for key, _ in expr.params):
        # A setting in force may change what the function does.
        raise NotEvaluable(expr.name)
    args = [evaluate(arg, row) for arg in expr.args]
    if any(arg is None for arg in args):
        return None
    try:
        return function(expr, *args)
    except (TypeError, ArithmeticError) as error:
        raise NotEvaluable(expr.name) from error


def _coalesce(expr: Call, row: Row) -> Value:
    for arg in expr.args:
        value = evaluate(arg, row)
        if value is not None:
            return value
    return None


def _if(expr: Call, row: Row) -> Value:
    condition, then, otherwise = expr.args
    return evaluate(then if evaluate(condition, row) is True else otherwise, row)


def _case_when(expr: Call, row: Row) -> Value:
    branches = expr.args
    while len(branches) > 1:
        if evaluate(branches[0], row) is True:
            return evaluate(branches[1], row)
        branches = branches[2:]
    return evaluate(branches[0], row) if branches else None


def _comparison(expr: Comparison, row: Row) -> Value:
    left, right = evaluate(expr.left, row), evaluate(expr.right, row)
    if left is None or right is None:
        return (left is right) if expr.op == "<=>" else None
    if not comparable(type_of(expr.left), type_of(expr.right)):
        raise NotEvaluable("types without a common order")
    return _OPERATORS[expr.op](order_key(left), order_key(right))


def _in(expr: In, row: Row) -> Value:
    value = evaluate(expr.arg, row)
    if value is None:
        if not expr.values:
            raise NotEvaluable("NULL IN () depends on a setting")
        return None
    kind = type_of(expr.arg)
    has_null, key = False, order_key(value)
    for literal in expr.values:
        if literal.value is None:
            has_null = True
        elif not comparable(kind, literal.type):
            raise NotEvaluable("types without a common order")
        elif order_key(literal.value) == key:
            return True
    if has_null and isinstance(value, float) and math.isnan(value):
        # Spark's InSet answers FALSE here when interpreted and NULL when compiled.
        raise NotEvaluable("NaN IN (..., NULL)")
    return None if has_null else False


def _string(arg: Expr, row: Row) -> str | None:
    if type_of(arg).kind is not Kind.STRING:
        raise NotEvaluable("not a binary-collated string")
    value = evaluate(arg, row)
    assert value is None or isinstance(value, str)
    return value


def _like(expr: Like, row: Row) -> Value:
    text = _string(expr.arg, row)
    try:
        return None if text is None else like(text, segments(expr.pattern, expr.escape))
    except NotPortable as error:
        raise NotEvaluable("invalid LIKE pattern") from error


def _match(expr: Match, row: Row) -> Value:
    text = _string(expr.arg, row)
    if text is None:
        return None
    match expr.kind:
        case "starts_with":
            return text.startswith(expr.pattern)
        case "ends_with":
            return text.endswith(expr.pattern)
        case "contains":
            return expr.pattern in text
        case "rlike":
            return _rlike(text, expr.pattern)
    raise NotEvaluable(expr.kind)


def _rlike(text: str, pattern: str) -> bool:
    try:
        regex, one_line = portable_regex(pattern)
    except NotPortable as error:
        raise NotEvaluable("pattern may differ between Java and Python") from error
    if one_line and not LINE_ENDS.isdisjoint(text):
        raise NotEvaluable("line ends")
    return regex.search(text) is not None


def _junction(expr: And | Or, row: Row) -> Value:
    decisive = isinstance(expr, Or)
    unknown: NotEvaluable | None = None
    has_null = False
    for arg in expr.args:
        try:
            value = evaluate(arg, row)
        except NotEvaluable as error:
            unknown = error
            continue
        if value is decisive:
            return decisive
        has_null = has_null or value is None
    if unknown is not None:
        raise unknown
    return None if has_null else not decisive


def _not(expr: Not, row: Row) -> Value:
    value = evaluate(expr.arg, row)
    return None if value is None else not value


def _opaque(expr: Opaque, _row: Row) -> Value:
    raise NotEvaluable(expr.text)


_LAZY: dict[str, Callable[[Call, Row], Value]] = {
    "coalesce": _coalesce,
    "if": _if,
    "case_when": _case_when,
}
_EVALUATORS: dict[type, Callable[[Any, Row], Value]] = {
    Column: _column,
    Literal: lambda expr, _: expr.value,
    Call: _call,
    Comparison: _comparison,
    In: _in,
    IsNull: lambda expr, row: evaluate(expr.arg, row) is None,
    Like: _like,
    Match: _match,
    And: _junction,
    Or: _junction,
    Not: _not,
    Opaque: _opaque,
}

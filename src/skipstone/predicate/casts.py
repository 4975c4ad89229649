"""Casts that lose nothing, and so mean the same in every mode and on every version of Spark.

A cast that would overflow, round, parse text or consult a time zone is not evaluable.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from skipstone.predicate.expr import Call, Value, type_of
from skipstone.predicate.functions import EXACT, INTEGRAL, NotEvaluable, fit, fit_decimal, fit_float
from skipstone.predicate.types import Kind, Type

__all__ = ["cast"]

MICROS_PER_DAY = 86_400_000_000
_MOST_DIGITS = 17
"""Of a double."""


def cast(call: Call, value: Value) -> Value:
    """``CAST(value AS call.type)`` for a non-NULL value."""
    source, target = type_of(call.args[0]), call.type
    if source == target and source.ordered:
        return value
    for sources, targets, convert in _RULES:
        if source.kind in sources and target.kind in targets:
            return convert(value, target)
    raise NotEvaluable(f"cast {source} to {target}")


def _exact_float(value: int | Decimal, target: Type) -> Value:
    try:
        number = fit_float(float(value), target)
    except OverflowError as error:
        raise NotEvaluable("overflow") from error
    if number != value:
        raise NotEvaluable("inexact")
    return number


def _ntz(days: int, _to: Type) -> Value:
    micros = days * MICROS_PER_DAY
    if abs(micros) >= 1 << 63:
        raise NotEvaluable("overflow")
    return micros


_REAL = frozenset({Kind.FLOAT, Kind.DOUBLE})
_STRING = frozenset({Kind.STRING})
# The values of a kind have one type, which only the kinds say.
_Rule = tuple[frozenset[Kind], frozenset[Kind], Callable[[Any, Type], Value]]
_RULES: tuple[_Rule, ...] = (
    (INTEGRAL, INTEGRAL, fit),
    (INTEGRAL, frozenset({Kind.DECIMAL}), lambda v, to: fit_decimal(EXACT.create_decimal(v), to)),
    (INTEGRAL, _REAL, _exact_float),
    (INTEGRAL, _STRING, lambda v, _: str(v)),
    (frozenset({Kind.DECIMAL}), frozenset({Kind.DECIMAL}), fit_decimal),
    (frozenset({Kind.DECIMAL}), _REAL, lambda v, to: _exact_float(_not_long(v), to)),
    (frozenset({Kind.FLOAT}), frozenset({Kind.DOUBLE}), lambda v, _: v),
    (frozenset({Kind.BOOLEAN}), _STRING, lambda v, _: "true" if v else "false"),
    (frozenset({Kind.DATE}), frozenset({Kind.TIMESTAMP_NTZ}), _ntz),
    (frozenset({Kind.TIMESTAMP_NTZ}), frozenset({Kind.DATE}), lambda v, _: v // MICROS_PER_DAY),
)


def _not_long(value: Decimal) -> Decimal:
    """Exactly representable decimals are short; refusing long ones keeps the check trivial."""
    if len(value.as_tuple().digits) > _MOST_DIGITS:
        raise NotEvaluable("inexact")
    return value

"""Functions whose value is known here to be exactly Spark's.

Every function in :data:`STRICT` returns NULL when an argument is NULL, so the evaluator answers
that before it calls one. Wherever Spark would raise, wrap, round or consult a locale or a time
zone, these raise :class:`NotEvaluable` instead: no answer is better than another answer.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from skipstone.predicate.expr import Call, Value, type_of
from skipstone.predicate.types import Kind, Type

__all__ = ["CATALYST_NAMES", "NULL_PROPAGATING", "STRICT", "NotEvaluable", "fit", "fit_decimal", "fit_float"]

EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
INTEGRAL = frozenset({Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG})
# Enough digits for any sum or product of two 38-digit decimals; Python's default would round.
EXACT = Context(prec=120)

# fmt: off
NULL_PROPAGATING = frozenset(
    (
        "abs", "add", "add_months", "array_get", "b_round", "bround", "cast", "ceil", "char_length",
        "concat", "date_add", "date_diff", "date_sub", "date_trunc", "datediff", "day", "day_of_month",
        "day_of_week", "day_of_year", "dayofmonth", "dayofweek", "dayofyear", "div", "divide", "exp",
        "floor", "get_struct_field", "hour", "last_day", "length", "lower", "ltrim", "map_get", "minute",
        "mod", "month", "multiply", "negate", "pmod", "quarter", "remainder", "reverse", "round", "rtrim",
        "second", "sqrt", "string_trim", "substring", "subtract", "trim", "trunc", "try_cast", "upper",
        "week_day", "week_of_year", "weekday", "weekofyear", "year",
    )
)
# fmt: on
"""Functions that are NULL as soon as one argument is: their value proves the arguments non-NULL."""


class NotEvaluable(Exception):
    """The value cannot be known here; whoever asks must assume anything."""


def fit(value: int, to: Type) -> int:
    """The integer if its type can hold it; Spark would wrap, fail or give NULL otherwise."""
    bounds = to.integral_range
    if bounds is None or not bounds[0] <= value <= bounds[1]:
        raise NotEvaluable("overflow")
    return value


def fit_decimal(value: Decimal, to: Type) -> Decimal:
    """The decimal at its type's scale, if that loses nothing."""
    scaled = value.quantize(Decimal(1).scaleb(-to.scale), context=EXACT)
    if scaled != value or len(scaled.as_tuple().digits) > max(to.precision, 1):
        raise NotEvaluable("decimal does not fit")
    return scaled or scaled.copy_abs()


def fit_float(value: float, to: Type) -> float:
    """The double, rounded once to a float where that is the type."""
    if to.kind is Kind.DOUBLE or math.isnan(value) or math.isinf(value):
        return value
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError as error:
        raise NotEvaluable("float overflow") from error


def _kinds(call: Call) -> set[Kind]:
    return {type_of(arg).kind for arg in call.args}


def _need(condition: bool) -> None:
    if not condition:
        raise NotEvaluable("argument types")


def _arithmetic(
    whole: Callable[[int, int], int],
    real: Callable[[float, float], float],
    exact: Callable[[Decimal, Decimal], Decimal],
) -> Callable[[Call, Any, Any], Value]:
    def apply(call: Call, left: Any, right: Any) -> Value:
        kind = call.type.kind
        _need(_kinds(call) == {kind})
        if kind in INTEGRAL:
            return fit(whole(left, right), call.type)
        if kind is Kind.DECIMAL:
            return fit_decimal(exact(left, right), call.type)
        _need(call.type.floating)
        # Rounding the double result to float equals float arithmetic: 53 bits >= 2 * 24 + 2.
        return fit_float(real(left, right), call.type)

    return apply


def _divide(call: Call, left: Any, right: Any) -> Value:
    _need(call.type.kind is Kind.DOUBLE and _kinds(call) == {Kind.DOUBLE})
    if right == 0.0:
        raise NotEvaluable("division by zero")
    return left / right


def _negate(call: Call, value: Any) -> Value:
    _need(_kinds(call) == {call.type.kind})
    if call.type.kind in INTEGRAL:
        return fit(-value, call.type)
    if call.type.kind is Kind.DECIMAL:
        return fit_decimal(value.copy_negate(), call.type)
    _need(call.type.floating)
    return -value


def _abs(call: Call, value: Any) -> Value:
    _need(_kinds(call) == {call.type.kind})
    if call.type.kind in INTEGRAL:
        return fit(abs(value), call.type)
    if call.type.kind is Kind.DECIMAL:
        return fit_decimal(value.copy_abs(), call.type)
    _need(call.type.floating)
    return abs(value)


def _rounding(rounding: str) -> Callable[[Call, Any], Value]:
    def apply(call: Call, value: Any) -> Value:
        kinds = _kinds(call)
        if kinds <= INTEGRAL:
            return fit(value, call.type)
        if kinds == {Kind.DECIMAL} and call.type.kind is Kind.DECIMAL:
            return fit_decimal(value.to_integral_value(rounding, context=EXACT), call.type)
        _need(kinds == {Kind.DOUBLE} and call.type.kind is Kind.LONG and math.isfinite(value))
        return fit(math.floor(value) if rounding == ROUND_FLOOR else math.ceil(value), call.type)

    return apply


def _date_field(field: Callable[[date], int]) -> Callable[[Call, Any], Value]:
    def apply(call: Call, days: Any) -> Value:
        _need(_kinds(call) == {Kind.DATE})
        try:
            return field(date.fromordinal(EPOCH_ORDINAL + days))
        except (ValueError, OverflowError) as error:
            raise NotEvaluable("year outside 1 to 9999") from error

    return apply


def _date_shift(sign: int) -> Callable[[Call, Any, Any], Value]:
    def apply(call: Call, days: Any, by: Any) -> Value:
        _need([type_of(arg).kind for arg in call.args] == [Kind.DATE, Kind.INT])
        moved: int = days + sign * by
        if abs(moved) >= 1 << 31:
            raise NotEvaluable("date overflow")
        return moved

    return apply


def _datediff(call: Call, end: Any, start: Any) -> Value:
    _need(_kinds(call) == {Kind.DATE})
    return fit(end - start, call.type)


def _text(apply: Callable[[str], Value], ascii_only: bool = False) -> Callable[[Call, Any], Value]:
    def checked(call: Call, text: Any) -> Value:
        # Java's and Python's case tables differ in age, so only ASCII is certain.
        _need(_kinds(call) == {Kind.STRING} and (not ascii_only or text.isascii()))
        return apply(text)

    return checked


def _substring(call: Call, text: Any, start: Any, length: Any) -> Value:
    kinds = [type_of(arg).kind for arg in call.args]
    _need(kinds == [Kind.STRING, Kind.INT, Kind.INT])
    begin = start - 1 if start > 0 else (len(text) + start if start < 0 else 0)
    return text[max(begin, 0) : max(begin + length, 0)] if length > 0 else ""


def _concat(call: Call, *parts: Any) -> Value:
    _need(_kinds(call) == {Kind.STRING})
    return "".join(parts)


CATALYST_NAMES = {
    "day_of_month": "dayofmonth",
    "day_of_week": "dayofweek",
    "day_of_year": "dayofyear",
    "week_day": "weekday",
    "week_of_year": "weekofyear",
    "string_trim": "trim",
    "date_diff": "datediff",
    "b_round": "bround",
}
"""Calls named after Spark's classes, and what SQL calls them."""

STRICT: dict[str, Callable[..., Value]] = {
    "add": _arithmetic(lambda a, b: a + b, lambda a, b: a + b, EXACT.add),
    "subtract": _arithmetic(lambda a, b: a - b, lambda a, b: a - b, EXACT.subtract),
    "multiply": _arithmetic(lambda a, b: a * b, lambda a, b: a * b, EXACT.multiply),
    "divide": _divide,
    "negate": _negate,
    "abs": _abs,
    "floor": _rounding(ROUND_FLOOR),
    "ceil": _rounding(ROUND_CEILING),
    "year": _date_field(lambda d: d.year),
    "month": _date_field(lambda d: d.month),
    "dayofmonth": _date_field(lambda d: d.day),
    "quarter": _date_field(lambda d: (d.month + 2) // 3),
    "dayofweek": _date_field(lambda d: d.isoweekday() % 7 + 1),
    "weekday": _date_field(lambda d: d.weekday()),
    "dayofyear": _date_field(lambda d: d.timetuple().tm_yday),
    "date_add": _date_shift(1),
    "date_sub": _date_shift(-1),
    "datediff": _datediff,
    "lower": _text(str.lower, ascii_only=True),
    "upper": _text(str.upper, ascii_only=True),
    "trim": _text(lambda text: text.strip(" ")),
    "length": _text(len),
    "substring": _substring,
    "concat": _concat,
}

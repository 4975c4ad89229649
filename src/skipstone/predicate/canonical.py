"""Which Python objects are values of a type, in the one form in which they are held."""

from __future__ import annotations

from decimal import Decimal

from skipstone.predicate.expr import Literal, Value
from skipstone.predicate.render import unwritable
from skipstone.predicate.types import Kind, Type

__all__ = ["is_value_of"]

_PYTHON = {
    Kind.BOOLEAN: bool,
    Kind.FLOAT: float,
    Kind.DOUBLE: float,
    Kind.STRING: str,
    Kind.BINARY: bytes,
}
_BITS = {Kind.BYTE: 8, Kind.SHORT: 16, Kind.INT: 32, Kind.DATE: 32, Kind.YEAR_MONTH_INTERVAL: 32}


def is_value_of(value: Value, type_: Type) -> bool:
    """Whether this is a value of the type, other than NULL, that SQL can write as a constant.

    >>> is_value_of(1, Type.parse("date")), is_value_of("1970-01-02", Type.parse("date"))
    (True, False)
    """
    if type_.kind in _PYTHON:
        return type(value) is _PYTHON[type_.kind]
    if type_.kind is Kind.DECIMAL:
        return isinstance(value, Decimal) and _fits(value, type_)
    if type_.kind is Kind.OTHER or type(value) is not int:
        return False
    most = 1 << (_BITS.get(type_.kind, 64) - 1)
    return -most <= value < most and unwritable(Literal(value, type_)) is None


def _fits(value: Decimal, type_: Type) -> bool:
    """Whether it has no more digits before and after the point than its type."""
    if not value.is_finite():
        return False
    after = -int(value.normalize().as_tuple().exponent)
    return value.is_zero() or (after <= type_.scale and value.adjusted() < type_.precision - type_.scale)

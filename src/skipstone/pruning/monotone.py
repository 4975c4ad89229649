"""Bounds of a call from the bounds of its arguments: interval arithmetic and monotone functions.

A function that never decreases maps the bounds of its argument onto bounds of its result; sums,
differences and products have theirs at the corners of the arguments' box. Rounding never decreases
either, so a bound that is rounded as Spark rounds the value stays a bound. Where integers might
overflow, Spark wraps around, answers NULL or fails, depending on its mode: all of that is unknown.
A function that is not in the table, such as ``month`` or ``lower``, gives no bounds, but NULL still
gives NULL if it is known to be strict.

Cost: a few array operations per call. Example: bounds 3 to 5 of ``x`` make 7 to 11 of ``2*x + 1``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skipstone.predicate.expr import Call, Expr, Literal, type_of
from skipstone.predicate.functions import NULL_PROPAGATING
from skipstone.predicate.types import Kind
from skipstone.pruning.arithmetic import ARITHMETIC
from skipstone.pruning.bound_arrays import MAX, MIN, BoundArray, Numbers, TextBounds
from skipstone.pruning.bounds import Bounds, hull, unknown
from skipstone.pruning.masks import Mask, both, either
from skipstone.pruning.widening import cast_bounds, round_bounds

__all__ = ["derive"]

Rule = Callable[[Call, tuple[Bounds, ...]], Bounds | None]


def derive(call: Call, args: tuple[Bounds, ...]) -> Bounds:
    """The bounds of a call; ``args`` are those of its arguments."""
    rule = _RULES.get(call.name)
    # Numbers may overflow on the way: the rules notice and make such blocks unknown.
    with np.errstate(all="ignore"):
        found = rule(call, args) if rule else None
    if found is not None:
        return found
    if call.name not in NULL_PROPAGATING or not args:
        return unknown(call.type)
    return Bounds(None, None, True, call.type.floating or call.type.kind is Kind.OTHER, _all_present(args))


def _all_present(args: tuple[Bounds, ...]) -> Mask:
    """Where every argument may be something else than NULL."""
    present: Mask = True
    for arg in args:
        present = both(present, either(arg.value, arg.nan))
    return present


def _year(call: Call, args: tuple[Bounds, ...]) -> Bounds | None:
    if len(args) != 1 or type_of(call.args[0]).kind is not Kind.DATE:
        return None
    return _through(args[0], lambda days: _dates(days).astype("datetime64[Y]").astype(np.int64) + 1970)


def _trunc(call: Call, args: tuple[Bounds, ...]) -> Bounds | None:
    match call.args:
        case (date, Literal(value=str(unit))) if type_of(date).kind is Kind.DATE:
            level = _TRUNC_LEVELS.get(unit.upper())
        case _:
            return None
    if level is None:
        return None
    if level == "W":
        found = _through(args[0], lambda days: _days(days) - (_days(days) + 3) % 7)
    else:
        found = _through(
            args[0], lambda days: _dates(days).astype(f"datetime64[{level}]").astype("datetime64[D]")
        )
    return _unless_wrapped(found, args[0].low)


def _unless_wrapped(found: Bounds, low: BoundArray) -> Bounds:
    """Unknown where a date may be so early that what it is truncated to lies before the first of all dates.

    Spark's days then wrap around, to the last ones.
    """
    if not isinstance(low, np.ndarray) or not isinstance(found.low, np.ndarray):
        return replace(found, low=None, high=None)
    wraps = low < _FIRST_DAY + 366
    high = np.where(wraps, MAX, found.high) if isinstance(found.high, np.ndarray) else None
    return replace(found, low=np.where(wraps, MIN, found.low), high=high)


_FIRST_DAY = -(1 << 31)
_TRUNC_LEVELS = {"WEEK": "W", "MON": "M", "MONTH": "M", "MM": "M", "YEAR": "Y", "YYYY": "Y", "YY": "Y"}


def _days(numbers: Numbers) -> Numbers:
    """Days as Spark holds them, in 32 bits; this also turns unknown into the outermost day."""
    clipped: Numbers = np.clip(numbers, _FIRST_DAY, (1 << 31) - 1)
    return clipped


def _dates(numbers: Numbers) -> Numbers:
    return _days(numbers).astype("datetime64[D]")


def _through(arg: Bounds, function: Callable[[Numbers], Numbers]) -> Bounds:
    """A never decreasing function of numbers that is NULL for NULL only."""

    def image(bound: BoundArray) -> BoundArray:
        return None if bound is None else np.asarray(function(bound)).astype(np.int64)  # type: ignore[arg-type]

    return Bounds(image(arg.low), image(arg.high), arg.null, False, arg.value)


def _prefix(call: Call, args: tuple[Bounds, ...]) -> Bounds | None:
    """``substring(x, 1, n)`` and ``left(x, n)``: a prefix never orders otherwise than its text."""
    match call.name, call.args:
        case "left", (text, Literal(value=int(length))):
            start = 1
        case _, (text, Literal(value=int(start)), Literal(value=int(length))):
            pass
        case _:
            return None
    if start not in (0, 1) or type_of(text).kind is not Kind.STRING or call.type.kind is not Kind.STRING:
        return None

    def image(bound: BoundArray) -> BoundArray:
        if not isinstance(bound, TextBounds):
            return None
        return TextBounds(pc.utf8_slice_codeunits(bound.texts, 0, max(length, 0)))

    try:
        return Bounds(image(args[0].low), image(args[0].high), args[0].null, False, args[0].value)
    except pa.ArrowInvalid:  # not UTF-8
        return None


def _coalesce(call: Call, args: tuple[Bounds, ...]) -> Bounds | None:
    if not _same_type(call, call.args):
        return None
    choices = []
    null: Mask = True
    for arg in args:
        choices.append(arg)
        null = both(null, arg.null)
        if arg.null is False:
            break
    found = hull(choices)
    return Bounds(found.low, found.high, null, found.nan, found.value)


def _choice(call: Call, args: tuple[Bounds, ...]) -> Bounds | None:
    """``if`` and ``case_when``: one of the results, or NULL where there is no ELSE."""
    pairs, rest = divmod(len(args), 2)
    chosen = [2 * pair + 1 for pair in range(pairs)] + [len(args) - 1] * rest
    if not _same_type(call, tuple(call.args[index] for index in chosen)):
        return None
    found = hull([args[index] for index in chosen])
    return found if rest else Bounds(found.low, found.high, True, found.nan, found.value)


def _same_type(call: Call, args: tuple[Expr, ...]) -> bool:
    return bool(args) and all(type_of(arg) == call.type for arg in args)


_RULES: dict[str, Rule] = {
    **ARITHMETIC,
    "cast": cast_bounds,
    "floor": round_bounds,
    "ceil": round_bounds,
    "year": _year,
    "trunc": _trunc,
    "substring": _prefix,
    "left": _prefix,
    "coalesce": _coalesce,
    "if": _choice,
    "case_when": _choice,
}

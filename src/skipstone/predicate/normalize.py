"""One normal form, so that predicates which visibly mean the same become equal nodes.

Negations are pushed inwards, AND and OR are flattened, deduplicated and sorted, constants stand on
the right, LIKE becomes ``=`` or a match where it is one, equalities on one expression become IN.
Every step keeps the three-valued value on every row, NULL included, because a normal form is also
used below NOT; only :func:`normalize_filter` may trade NULL for FALSE. Normalising twice changes
nothing. Cost: O(n log n) in the size of the expression, then a cache hit.

>>> from skipstone.predicate.expr import Column
>>> from skipstone.predicate.types import INT
>>> x = Column(("x",), INT)
>>> normalize(Not(Comparison("<", Literal(5, INT), x))) == Comparison("<=", x, Literal(5, INT))
True

Opaque parts may differ from one evaluation to the next: they are never merged or dropped as
duplicates. Of NaN and the two zeros, which are constants with several spellings, one is kept.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import lru_cache

from skipstone.predicate.codec import canonical_text
from skipstone.predicate.evaluate import NotEvaluable, evaluate, order_key
from skipstone.predicate.expr import (
    And,
    Call,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Or,
    is_opaque,
    type_of,
)
from skipstone.predicate.limits import leaves
from skipstone.predicate.patterns import NotPortable, pattern_of, segments
from skipstone.predicate.types import BOOLEAN, STRING, Kind

__all__ = ["conjuncts", "negate", "normalize", "normalize_filter"]

TRUE, FALSE, NULL = Literal(True, BOOLEAN), Literal(False, BOOLEAN), Literal(None, BOOLEAN)
_MIRRORED = {"=": "=", "<=>": "<=>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MOST_NULL_TESTS = 200
_PLAIN_REGEX = re.compile(r"(\^?)([A-Za-z0-9 _-]+)")

_key = lru_cache(maxsize=65536)(canonical_text)


@lru_cache(maxsize=65536)
def normalize(expr: Expr) -> Expr:
    """The normal form, equal in value on every row."""
    match expr:
        case And(args):
            return _junction(And, [normalize(arg) for arg in args])
        case Or(args):
            return _junction(Or, [normalize(arg) for arg in args])
        case Not(arg):
            return negate(normalize(arg))
        case Comparison(op, left, right):
            return _comparison(op, normalize(left), normalize(right))
        case In(arg, values):
            return _in(normalize(arg), values)
        case IsNull(arg):
            return _is_null(normalize(arg))
        case Like(arg, pattern, escape):
            return _like(normalize(arg), pattern, escape)
        case Match(kind, arg, pattern):
            return _match(kind, normalize(arg), pattern)
        case Call():
            return _call(expr)
        case _:
            return expr


def normalize_filter(expr: Expr) -> Expr:
    """A normal form that is TRUE on the same rows; where the filter is NULL it may be FALSE."""
    return _null_is_false(normalize(expr))


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The predicates of a filter, normalised; none for a filter that is TRUE."""
    normal = normalize_filter(expr)
    if normal == TRUE:
        return ()
    return normal.args if isinstance(normal, And) else (normal,)


def negate(normal: Expr) -> Expr:
    """The normal form of NOT, given a normal form.

    Orders are total on non-NULL values (NaN is the greatest), so NOT (a < b) is a >= b.
    """
    match normal:
        case Literal(value) if normal.type == BOOLEAN:
            return NULL if value is None else (FALSE if value else TRUE)
        case Not(arg):
            return arg
        case And(args):
            return _junction(Or, [negate(arg) for arg in args])
        case Or(args):
            return _junction(And, [negate(arg) for arg in args])
        case Comparison(op, left, right) if op in _OPPOSITE:
            return Comparison(_OPPOSITE[op], left, right)
        case _:
            return Not(normal)


def _null_is_false(normal: Expr) -> Expr:
    match normal:
        case And(args):
            return _junction(And, [_null_is_false(arg) for arg in args])
        case Or(args):
            return _junction(Or, [_null_is_false(arg) for arg in args])
        case In(arg, values) if values and values[-1].value is None:
            return _in(arg, values[:-1])
        case Comparison("<=>", arg, literal) if literal == TRUE:
            return _null_is_false(arg)
        case Comparison("<=>", arg, literal) if literal == FALSE:
            return _null_is_false(negate(arg))
        case Not(Comparison("<=>", arg, literal)) if literal in (TRUE, FALSE) and _is_structure(arg):
            return _null_is_false(_junction(Or, [_is_null(arg), negate(arg) if literal == TRUE else arg]))
        case Call("coalesce", (arg, literal)) if literal == FALSE:
            return _null_is_false(arg)
        case _:
            return FALSE if normal == NULL else normal


def _is_structure(expr: Expr) -> bool:
    return isinstance(expr, And | Or | Not | Comparison | In | Like | Match)


def _folded(expr: Expr) -> Expr:
    """The value of a predicate over constants only, where it is certain."""
    try:
        return Literal(evaluate(expr, {}), BOOLEAN)
    except NotEvaluable:
        return expr


def _constant(literal: Literal) -> Literal:
    """One spelling for NaN and zero, where the constant is only ever compared."""
    value = literal.value
    if not isinstance(value, float):
        return literal
    if math.isnan(value):
        return replace(literal, value=math.nan)
    return literal if value else replace(literal, value=0.0)


def _comparison(op: str, left: Expr, right: Expr) -> Expr:
    if isinstance(left, Literal) and not isinstance(right, Literal):
        op, left, right = _MIRRORED[op], right, left
    if isinstance(right, Literal):
        if right.value is None:
            return _is_null(left) if op == "<=>" else NULL
        right = _constant(right)
        if isinstance(left, Literal):
            return _folded(Comparison(op, _constant(left), right))
        if op == "=" and type_of(left) == BOOLEAN and isinstance(right.value, bool):
            return left if right.value else negate(left)
        return Comparison(op, left, right)
    if op == "<=>" and left == right and not is_opaque(left):
        return TRUE
    if _key(left) > _key(right):
        op, left, right = _MIRRORED[op], right, left
    return Comparison(op, left, right)


def _in(arg: Expr, values: tuple[Literal, ...]) -> Expr:
    unique = tuple(dict.fromkeys(_constant(value) for value in values))
    present = sorted((value for value in unique if value.value is not None), key=_by_value)
    if unique and not present:
        return NULL
    if len(present) == 1 and len(unique) == 1:
        return _comparison("=", arg, present[0])
    nulls = [value for value in unique if value.value is None][:1]
    # Whatever type its NULL came with: beside other constants it says no more than "or unknown".
    merged = In(arg, (*present, *(Literal(None, present[0].type) for _ in nulls)))
    return _folded(merged) if isinstance(arg, Literal) else merged


def _by_value(literal: Literal) -> tuple[str, bool, object]:
    simple = literal.type.kind is not Kind.OTHER
    return (literal.type.text, simple, order_key(literal.value) if simple else _key(literal))


def _is_null(arg: Expr) -> Expr:
    """The normal form of ``arg IS NULL``, given a normal form: taken apart into NULL tests of scalars.

    The two are equal on every row, by the tables of three-valued logic:

    * A comparison other than ``<=>`` is NULL if and only if a side is; ``<=>`` never is. A match is NULL if
      and only if its argument is, and so is an IN without NULL in its list. With NULL in it, IN is NULL for a
      NULL argument and for every argument that is no member. (Not for NaN, for which Spark answers FALSE or
      NULL depending on how it evaluates IN: over floating types such an IN stays as it is.)
    * NOT p is NULL if and only if p is.
    * An AND is NULL if and only if some part is NULL and none is FALSE; "not FALSE" is ``p IS NULL OR p``,
      which is never NULL itself. An OR likewise: some part is NULL and none is TRUE.

    Scalars are not taken apart: ``a + b`` may be NULL where neither side is, if it overflows, and a cast
    where it fails. What would become very large stays as it is.
    """
    match arg:
        case Literal(value):
            return TRUE if value is None else FALSE
        case IsNull() | Not(IsNull()) | Comparison("<=>"):
            return FALSE
        case Not(inner):
            return _is_null(inner)
        case Comparison(_, left, right):
            return _junction(Or, [_is_null(left), _is_null(right)])
        case Like(inner) | Match(arg=inner):
            return _is_null(inner)
        case In(inner, values) if values and values[-1].value is not None:
            return _is_null(inner)
        case In(inner, values) if len(values) > 1 and not type_of(inner).floating:
            return _junction(Or, [_is_null(inner), negate(_in(inner, values[:-1]))])
        case And(args) | Or(args) if _null_test_size(arg) <= _MOST_NULL_TESTS:
            nulls = [_is_null(part) for part in args]
            harmless = args if isinstance(arg, And) else [negate(part) for part in args]
            each = (_junction(Or, [null, part]) for null, part in zip(nulls, harmless, strict=True))
            return _junction(And, [_junction(Or, nulls), *each])
        case _:
            return IsNull(arg)


def _null_test_size(normal: Expr) -> int:
    """How many predicates there are in the null test of a predicate."""
    if not isinstance(normal, And | Or):
        return 1
    return sum(2 * _null_test_size(part) + leaves(part) for part in normal.args)


def _like(arg: Expr, pattern: str, escape: str) -> Expr:
    if type_of(arg) != STRING:
        return Like(arg, pattern, escape)
    try:
        parts = segments(pattern, escape)
    except NotPortable:
        return Like(arg, pattern, escape)
    texts = ["".join(char for char in part if char is not None) for part in parts]
    if any(None in part for part in parts):
        return _folded_text(Like(arg, pattern_of(parts)))
    match texts:
        case [whole]:
            return _comparison("=", arg, Literal(whole, STRING))
        case [start, ""]:
            return _match("starts_with", arg, start)
        case ["", end]:
            return _match("ends_with", arg, end)
        case ["", middle, ""]:
            return _match("contains", arg, middle)
    return _folded_text(Like(arg, pattern_of(parts)))


def _match(kind: str, arg: Expr, pattern: str) -> Expr:
    plain = _PLAIN_REGEX.fullmatch(pattern) if kind == "rlike" and type_of(arg) == STRING else None
    if plain:
        kind, pattern = ("starts_with" if plain[1] else "contains"), plain[2]
    if pattern == "" and kind in ("ends_with", "contains"):
        kind = "starts_with"
    return _folded_text(Match(kind, arg, pattern))


def _folded_text(expr: Like | Match) -> Expr:
    return _folded(expr) if isinstance(expr.arg, Literal) else expr


def _call(call: Call) -> Expr:
    args = tuple(normalize(arg) for arg in call.args)
    if call.name in ("add", "multiply") and len(args) == 2:
        # Both commute exactly, floats included; a constant goes to the right.
        args = tuple(sorted(args, key=lambda arg: (isinstance(arg, Literal), _key(arg))))
    return replace(call, args=args)


def _junction(kind: type[And | Or], args: list[Expr]) -> Expr:
    """AND or OR of normal forms. FALSE decides an AND, TRUE an OR, whatever else is NULL."""
    flat = [part for arg in args for part in (arg.args if isinstance(arg, kind) else (arg,))]
    neutral, decisive = (TRUE, FALSE) if kind is And else (FALSE, TRUE)
    if decisive in flat:
        return decisive
    parts = _merge_equalities(kind, [part for part in flat if part != neutral])
    seen: set[Expr] = set()
    unique = []
    for part in parts:
        if part not in seen or is_opaque(part):
            unique.append(part)
            seen.add(part)
    if len(unique) <= 1:
        return unique[0] if unique else neutral
    return kind(tuple(sorted(unique, key=_key)))


def _merge_equalities(kind: type[And | Or], parts: list[Expr]) -> list[Expr]:
    """``x = 1 OR x IN (2, 3)`` is ``x IN (1, 2, 3)``; by De Morgan AND does the same to NOT IN."""
    listed: dict[Expr, list[Literal]] = {}
    merged: list[Expr] = []
    for part in parts:
        inner = part if kind is Or else (part.arg if isinstance(part, Not) else None)
        match inner:
            case Comparison("=", arg, Literal() as value) if not is_opaque(arg):
                listed.setdefault(arg, []).append(value)
            case In(arg, values) if values and not is_opaque(arg):
                listed.setdefault(arg, []).extend(values)
            case _:
                merged.append(part)
    for arg, constants in listed.items():
        one = _in(arg, tuple(constants))
        merged.append(one if kind is Or else negate(one))
    return merged

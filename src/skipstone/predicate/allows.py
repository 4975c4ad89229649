"""What a predicate allows: the values of one expression for which it can be TRUE, and is sure to be.

A predicate over a single scalar expression (``x > 5``, ``month(d) IN (1, 2)``, ``name LIKE 'A%'``) is
TRUE for some of its values, FALSE for some and NULL for the rest, and it keeps a row only where it is
TRUE. Let T be the set of values for which it is TRUE. :class:`Allows` brackets it:

    ``certain`` is a subset of T, and T is a subset of ``possible``.

This one law serves both readers, which need it in different directions.

* **Pruning** shows that nothing in a block is possible, so it reads ``possible``: a value that were
  missing there would be a wrong skip, one too many only means that a block is read.
* **Implication** shows that whatever is possible for the premise is certain for the conclusion:
  ``possible(p) <= certain(q)``. A value too many in ``certain`` would be a wrong implication, and by
  way of features a wrong skip.

Both sets are the same wherever T can be described. They differ for

* ``LIKE`` and regular expressions: possible is what every match looks like, and nothing is certain;
* a negated match: all but NULL is possible. Certain is what cannot match, which no set describes:
  ``refused`` holds what might match, and every value that is neither NULL nor in there is certain;
* NaN in lists, for Spark's ``InSet`` may answer otherwise when interpreted than when compiled.

NOT does not mean the complement: where ``x = 1`` is NULL, so is ``NOT x = 1``. The negation of each
form is therefore written down by itself; AND intersects and OR unites, which is right for T, so
``x < 3 OR x > 10`` needs no rule of its own. (They come with negations pushed down to the atoms.)
In Spark NaN equals itself and is greater than everything, so ``x > 5`` allows NaN, ``x < 5`` does not.
A comparison with NULL is never TRUE, except ``<=>``.

Nothing is said of expressions with an opaque part: two that look the same may have two values.

>>> from skipstone.predicate.types import INT
>>> found = allows(Comparison(">", Column(("x",), INT), Literal(5, INT)))
>>> found.possible.ranges, found.exact
(((6, None),), True)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from skipstone.predicate import value_ranges as ranges
from skipstone.predicate.allowed import (
    NOTHING,
    NULL_ONLY,
    AllowedValues,
    everything,
    inner_union,
    intersection,
    is_nan,
    of_keys,
    of_ranges,
    of_texts,
    of_type,
    outer_union,
)
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
    is_opaque,
    type_of,
)
from skipstone.predicate.text_shape import TextShape, like_shape
from skipstone.predicate.truncate import is_range
from skipstone.predicate.types import Kind, Type
from skipstone.predicate.value_ranges import ALL, NONE, encode, following

__all__ = ["Allows", "allows"]


@dataclass(frozen=True, slots=True)
class Allows:
    """The bracket around the values of ``subject`` for which a predicate is TRUE."""

    subject: Expr
    possible: AllowedValues
    certain: AllowedValues
    refused: AllowedValues | None = None
    """If there is one: all values but NULL that are not in it are certain too."""

    @property
    def exact(self) -> bool:
        """Whether the predicate is TRUE for precisely the possible values."""
        return self.certain is self.possible or self.certain == self.possible


@lru_cache(maxsize=4096)
def allows(predicate: Expr) -> Allows | None:
    """What a normalised predicate allows of the expression that it is about.

    None if it is about several expressions, or is not understood.
    """
    if isinstance(predicate, And | Or):
        return _junction(predicate)
    subject = _subject(predicate)
    if subject is None or is_opaque(subject):
        return None
    type = type_of(subject)
    try:
        found = _atom(predicate, subject, type)
    except ValueError:  # a literal that is no value of the expression's type, a pattern that Spark rejects
        return None
    if found is None:
        return None
    # A call may fail where it overflows: blocks on which it would are read, so that it does.
    limited = isinstance(subject, Column)
    possible = of_type(found.possible, type, limited=limited)
    certain = possible if found.certain is found.possible else of_type(found.certain, type, limited=limited)
    return replace(found, possible=possible, certain=certain)


def _junction(predicate: And | Or) -> Allows | None:
    parts: list[Allows] = []
    for arg in predicate.args:
        part = allows(arg)
        if part is None or (parts and part.subject != parts[0].subject):
            return None
        parts.append(part)
    possible, certain = [part.possible for part in parts], [part.certain for part in parts]
    if isinstance(predicate, And):
        return Allows(parts[0].subject, intersection(possible), intersection(certain))
    return Allows(parts[0].subject, outer_union(possible), inner_union(certain))


def _subject(predicate: Expr) -> Expr | None:
    """The scalar that a predicate is about, if its other side is constant."""
    match predicate:
        case (Column() | Call()) as scalar:
            return scalar if scalar.type.kind is Kind.BOOLEAN else None
        case Not(arg=inner) if not isinstance(inner, Not | And | Or):
            return _subject(inner)
        case Comparison(left=(Column() | Call()) as scalar, right=Literal(type=type)):
            return scalar if type == scalar.type else None
        case In(arg=(Column() | Call()) as scalar, values=values) if values:  # of none, a setting decides
            return scalar if all(value.type == scalar.type for value in values) else None
        case IsNull(arg=(Column() | Call()) as scalar):
            return scalar
        case Like(arg=(Column() | Call()) as scalar) | Match(arg=(Column() | Call()) as scalar):
            return scalar if scalar.type.kind is Kind.STRING else None
    return None


def _atom(predicate: Expr, subject: Expr, type: Type) -> Allows | None:
    match predicate:
        case Column() | Call():
            return _exactly(subject, of_keys([1]))
        case Comparison(op=op, right=Literal(value=value)):
            return _exactly(subject, _compared(op, value, type))
        case In(values=values):
            listed = _listed([value.value for value in values], type)
            return Allows(subject, listed, replace(listed, nan=False) if listed.nan else listed)
        case IsNull():
            return _exactly(subject, NULL_ONLY)
        case Match(kind="starts_with" | "ends_with" | "contains"):
            return _exactly(subject, _matching(predicate, type))
        case Match() | Like():
            return Allows(subject, _matching(predicate, type), NOTHING)
        case Not(arg=inner):
            return _negation(inner, subject, type)
    return None


def _exactly(subject: Expr, values: AllowedValues) -> Allows:
    return Allows(subject, values, values)


def _negation(inner: Expr, subject: Expr, type: Type) -> Allows | None:
    match inner:
        case Column() | Call():
            return _exactly(subject, of_keys([0]))
        case IsNull():
            return _exactly(subject, everything(type))
        case Comparison(op="=", right=Literal(value=None)):
            return _exactly(subject, NOTHING)
        case Comparison(op="=", right=Literal(value=value)):
            return _exactly(subject, _listed([value], type).complement().without_null())
        case Comparison(op="<=>", right=Literal(value=value)):
            return _exactly(subject, _compared("<=>", value, type).complement())
        case In(values=values):
            return _outside(subject, [value.value for value in values], type)
        case Match(kind="starts_with", pattern=pattern) if is_range(pattern):
            starting = replace(_matching(inner, type), text=everything(type).text)
            return _exactly(subject, starting.complement().without_null())
        case Match() | Like():
            return Allows(subject, everything(type), NOTHING, _matching(inner, type))
    return None


def _compared(op: str, value: Value, type: Type) -> AllowedValues:
    if value is None:
        return NULL_ONLY if op == "<=>" else NOTHING
    if is_nan(value):
        return of_ranges(ALL if op in ("<", "<=") else NONE, nan=op in ("=", "<=>", "<=", ">="))
    key = encode(value, type)
    after = following(key)
    match op:
        case "=" | "<=>":
            return of_keys([key])
        case "<":
            return of_ranges(ranges.below(key))
        case "<=":
            return of_ranges(ranges.below(after))
        case ">":
            return of_ranges(NONE if after is None else ranges.at_least(after), nan=True)
        case ">=":
            return of_ranges(ranges.at_least(key), nan=True)
    raise ValueError(f"no comparison: {op}")


def _listed(values: list[Value], type: Type) -> AllowedValues:
    present = [value for value in values if value is not None]
    ordinary = [encode(value, type) for value in present if not is_nan(value)]
    return of_keys(ordinary, nan=len(ordinary) < len(present))


def _outside(subject: Expr, values: list[Value], type: Type) -> Allows:
    """NOT IN. With NULL in the list it is never TRUE; but Spark may take NaN for no member of any list."""
    if any(value is None for value in values):
        return Allows(subject, AllowedValues(NONE, nan=type.floating), NOTHING)
    others = _listed(values, type).complement().without_null()
    return _exactly(subject, others) if others.nan else Allows(subject, replace(others, nan=True), others)


def _matching(pattern: Expr, type: Type) -> AllowedValues:
    """The strings that a pattern can match."""
    match pattern:
        case Match(kind="starts_with", pattern=text):
            return of_texts(TextShape(prefix=text))
        case Match(kind="ends_with", pattern=text):
            return of_texts(TextShape(suffix=text))
        case Match(kind="contains", pattern=text):
            return of_texts(TextShape(pieces=frozenset({text} - {""})))
        case Like(pattern=text, escape=escape):
            return of_texts(like_shape(text, escape))
    return everything(type)

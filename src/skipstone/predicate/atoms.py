"""Atoms: the one scalar expression that a simple predicate constrains, and to what region.

``month(d) IN (1, 2)`` confines ``month(d)`` to two values; ``name LIKE 'ab_c%'`` confines ``name``
to strings that start with ``ab``, which is more than the pattern matches, so it is not exact.

Expressions are numbered, so that finding one again is a lookup of a small integer rather than a
comparison of trees. Opaque expressions get no number and therefore never match anything.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from skipstone.predicate.evaluate import comparable
from skipstone.predicate.expr import (
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
    is_opaque,
    type_of,
)
from skipstone.predicate.patterns import NotPortable, segments
from skipstone.predicate.region import Region, bounded, everything, listed, texts, without
from skipstone.predicate.types import Kind

__all__ = ["UNKNOWN", "Atom", "number_of", "region_of"]

UNKNOWN = -1
_numbers: dict[Expr, int] = {}
_next_number = itertools.count()


@dataclass(frozen=True, slots=True)
class Atom:
    """The region of one expression; ``exact`` if the atom is TRUE for precisely these values."""

    subject: Expr
    number: int
    region: Region
    exact: bool


def number_of(expr: Expr) -> int:
    """A number that only this expression has; UNKNOWN for one with opaque parts."""
    found = _numbers.get(expr)
    if found is None:
        if len(_numbers) > 200_000:
            # Old numbers are never given again, so facts that hold them merely stop matching.
            _numbers.clear()
        found = UNKNOWN if is_opaque(expr) else next(_next_number)
        _numbers[expr] = found
    return found


def region_of(normal: Expr) -> Atom | None:
    """The region of an atom's subject; None if the atom constrains no single expression."""
    match normal:
        case Comparison(op, subject, Literal(value=value) as literal):
            if value is None or not comparable(type_of(subject), literal.type):
                return None
            if op in ("=", "<=>"):
                return _atom(subject, listed([value], type_of(subject)))
            return _atom(subject, bounded(op, value, type_of(subject)))
        case Not(Comparison("=" | "<=>" as op, subject, Literal(value=value) as literal)):
            if value is None or not comparable(type_of(subject), literal.type):
                return None
            return _atom(subject, without([value], type_of(subject), nullable=op == "<=>"))
        case In(subject, values):
            return _membership(subject, values, within=True)
        case Not(In(subject, values)):
            return _membership(subject, values, within=False)
        case IsNull(subject):
            return _atom(subject, Region(values=frozenset(), nullable=True))
        case Not(IsNull(subject)):
            return _atom(subject, everything(type_of(subject)))
        case Match() | Like():
            return _text_atom(normal)
        case Not(Match(arg=subject) | Like(arg=subject)):
            return _atom(subject, everything(type_of(subject)), exact=False)
        case Not(Column() | Call() as subject) if type_of(subject).kind is Kind.BOOLEAN:
            return _atom(subject, listed([False], type_of(subject)))
        case Column() | Call() if type_of(normal).kind is Kind.BOOLEAN:
            return _atom(normal, listed([True], type_of(normal)))
    return None


def _atom(subject: Expr, region: Region, exact: bool = True) -> Atom:
    return Atom(subject, number_of(subject), region, exact)


def _membership(subject: Expr, values: tuple[Literal, ...], within: bool) -> Atom | None:
    type_ = type_of(subject)
    present = [literal for literal in values if literal.value is not None]
    if not values or not all(comparable(type_, literal.type) for literal in present):
        return None
    known = [literal.value for literal in present]
    if within:
        return _atom(subject, listed(known, type_), exact=len(present) == len(values))
    if len(present) == len(values):
        return _atom(subject, without(known, type_, nullable=False))
    # NOT IN with a NULL is never TRUE; except that Spark's InSet may call NaN a non-member.
    kept = without(known, type_, nullable=False) if type_.floating else listed([], type_)
    return _atom(subject, kept, exact=False)


def _text_atom(normal: Match | Like) -> Atom | None:
    subject = normal.arg
    type_ = type_of(subject)
    if type_.kind is not Kind.STRING:
        return None
    match normal:
        case Match("starts_with", _, text):
            return _atom(subject, texts(type_, prefix=text))
        case Match("ends_with", _, text):
            return _atom(subject, texts(type_, suffix=text))
        case Match("contains", _, text):
            return _atom(subject, texts(type_, pieces=(text,)))
        case Like(_, pattern, escape):
            return _like_atom(subject, pattern, escape)
    return _atom(subject, everything(type_), exact=False)


def _like_atom(subject: Expr, pattern: str, escape: str) -> Atom | None:
    try:
        parts = segments(pattern, escape)
    except NotPortable:
        return None
    # Runs of known characters: the first one is a prefix, the last a suffix, all are contained.
    runs = [
        "".join(char or "" for char in run)
        for part in parts
        for known, run in itertools.groupby(part, key=lambda char: char is not None)
        if known
    ]
    prefix = runs[0] if parts[0] and parts[0][0] is not None else ""
    suffix = runs[-1] if parts[-1] and parts[-1][-1] is not None else ""
    return _atom(subject, texts(type_of(subject), prefix, suffix, tuple(runs)), exact=False)

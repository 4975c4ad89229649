"""Expression nodes: what a filter is made of.

A closed set of frozen values. Scalars are :class:`Column`, :class:`Literal` and :class:`Call`;
boolean structure is :class:`And`, :class:`Or`, :class:`Not`; the predicates that pruning and
implication understand are :class:`Comparison`, :class:`In`, :class:`IsNull`, :class:`Like` and
:class:`Match`. What cannot be understood is :class:`Opaque`, about which nothing is concluded.

Equality of nodes is equality of meaning as far as it is visible in the syntax: two equal nodes
always compute the same value on the same row. Everything that changes the value (time zone,
overflow mode, format) is therefore part of a node's ``params``.

Truth is three-valued. A filter keeps the rows for which it is true; false and NULL rows go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from skipstone.predicate.types import BOOLEAN, Type

__all__ = [
    "And",
    "Call",
    "Column",
    "Comparison",
    "Expr",
    "In",
    "IsNull",
    "Like",
    "Literal",
    "Match",
    "Not",
    "Opaque",
    "Or",
    "Value",
    "children",
    "columns_of",
    "is_opaque",
    "type_of",
    "walk",
    "with_columns",
]


class _Node:
    """A node that has parts computes its hash once: filters are looked up by value all the time."""

    __slots__ = ("_hash",)
    _hash: int


def _hash_once(node: _Node) -> int:
    try:
        return node._hash
    except AttributeError:
        parts = tuple(getattr(node, name) for name in type(node).__match_args__)  # type: ignore[attr-defined]
        found = hash((type(node).__name__, parts))
        object.__setattr__(node, "_hash", found)
        return found


Value = object
"""A canonical Python value as described in :mod:`skipstone.predicate.types`; None is NULL."""


@dataclass(frozen=True, slots=True)
class Column:
    """A top-level column or a field inside structs, by its path of physical names."""

    path: tuple[str, ...]
    type: Type


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant; ``value`` is None for NULL.

    Python holds ``nan != nan`` and ``-0.0 == 0.0``; as constants inside a function the first two
    are the same and the last two are not, so floats are compared by how they print.
    """

    value: Value
    type: Type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[object, Type]:
        return (repr(self.value) if isinstance(self.value, float) else self.value, self.type)


@dataclass(frozen=True, slots=True)
class Call(_Node):
    """A deterministic function of its arguments.

    ``name`` is lower case: ``add subtract multiply divide negate cast year month lower substring
    map_get array_get …``. ``params`` holds every setting that is not an argument, such as
    ``("timezone", "UTC")`` or ``("mode", "ansi")``, sorted.
    """

    name: str
    args: tuple[Expr, ...]
    type: Type
    params: tuple[tuple[str, str], ...] = ()
    __hash__ = _hash_once


@dataclass(frozen=True, slots=True)
class Comparison(_Node):
    """``left op right`` with op one of ``= < <= > >= <=>``. ``a != b`` is ``Not(a = b)``."""

    op: str
    left: Expr
    right: Expr
    __hash__ = _hash_once


@dataclass(frozen=True, slots=True)
class In(_Node):
    """``arg IN (values)``; a NULL among the values is kept, for it makes a non-match NULL."""

    arg: Expr
    values: tuple[Literal, ...]
    __hash__ = _hash_once


@dataclass(frozen=True, slots=True)
class IsNull(_Node):
    """``arg IS NULL``, never NULL itself."""

    arg: Expr
    __hash__ = _hash_once


@dataclass(frozen=True, slots=True)
class Like(_Node):
    """``arg LIKE pattern ESCAPE escape`` with a constant pattern."""

    arg: Expr
    pattern: str
    escape: str = "\\"
    __hash__ = _hash_once


@dataclass(frozen=True, slots=True)
class Match(_Node):
    """``kind`` of ``starts_with ends_with contains rlike`` against a constant."""

    kind: str
    arg: Expr
    pattern: str
    __hash__ = _hash_once


@dataclass(frozen=True, slots=True)
class And(_Node):
    """Conjunction of two or more."""

    args: tuple[Expr, ...]
    __hash__ = _hash_once


@dataclass(frozen=True, slots=True)
class Or(_Node):
    """Disjunction of two or more."""

    args: tuple[Expr, ...]
    __hash__ = _hash_once


@dataclass(frozen=True, slots=True)
class Not(_Node):
    """Three-valued negation: NOT NULL is NULL."""

    arg: Expr
    __hash__ = _hash_once


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that is not understood, or that may differ from one evaluation to the next.

    ``code`` is a reason code (``UDF``, ``NON_DETERMINISTIC``, ``SESSION_DEPENDENT``, ``SUBQUERY``,
    ``COLLATION``, ``UNSUPPORTED`` …) and ``text`` names the culprit for people.
    """

    text: str
    code: str
    columns: tuple[Column, ...] = ()
    type: Type = BOOLEAN


Expr = Column | Literal | Call | Comparison | In | IsNull | Like | Match | And | Or | Not | Opaque


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct sub-expressions."""
    match expr:
        case Call(args=args) | And(args=args) | Or(args=args):
            return args
        case Comparison(left=left, right=right):
            return (left, right)
        case In(arg=arg, values=values):
            return (arg, *values)
        case IsNull(arg=arg) | Like(arg=arg) | Match(arg=arg) | Not(arg=arg):
            return (arg,)
        case Opaque(columns=columns):
            return columns
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything below it, parents first."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def type_of(expr: Expr) -> Type:
    """The type of the expression's value; everything that is not a scalar is BOOLEAN."""
    return expr.type if isinstance(expr, Column | Literal | Call | Opaque) else BOOLEAN


def columns_of(expr: Expr) -> frozenset[Column]:
    """Every column that the expression reads."""
    return frozenset(node for node in walk(expr) if isinstance(node, Column))


def is_opaque(expr: Expr) -> bool:
    """Whether any part of the expression is not understood."""
    return any(isinstance(node, Opaque) for node in walk(expr))


def with_columns(expr: Expr, names: Mapping[tuple[str, ...], tuple[str, ...]]) -> Expr:
    """The same expression with columns called by other paths; those not in ``names`` stay."""

    def each(part: Expr) -> Expr:
        return with_columns(part, names)

    match expr:
        case Column(path, type_):
            return Column(names.get(path, path), type_)
        case Call() | And() | Or():
            return replace(expr, args=tuple(map(each, expr.args)))
        case Comparison(op, left, right):
            return Comparison(op, each(left), each(right))
        case In() | IsNull() | Like() | Match() | Not():
            return replace(expr, arg=each(expr.arg))
        case _:
            return expr

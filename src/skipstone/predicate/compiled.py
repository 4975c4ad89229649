"""What a predicate implies, precomputed so that implication only has to look things up.

A normalised predicate becomes a tree of :class:`Compiled`: for an atom or a conjunction the values that
each scalar expression can have where it is TRUE (:mod:`~skipstone.predicate.allows`), what is non-NULL,
how pairs of columns compare, and whether it can be TRUE at all.

Expressions are numbered, so that finding one again is a lookup of a small integer rather than a
comparison of trees. Opaque expressions get no number and therefore never match anything.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import lru_cache

from skipstone.predicate.allowed import AllowedValues
from skipstone.predicate.allows import Allows, allows
from skipstone.predicate.expr import (
    And,
    Column,
    Comparison,
    Expr,
    IsNull,
    Literal,
    Not,
    Or,
    Value,
    columns_of,
    is_opaque,
    type_of,
)
from skipstone.predicate.normalize import FALSE, NULL, TRUE, negate
from skipstone.predicate.nullness import not_null
from skipstone.predicate.partner import Partner, partner_of

__all__ = ["UNKNOWN", "Compiled", "Form", "compile_conjunction", "compile_normal"]

UNKNOWN = -1
"""The number of expressions with an opaque part."""
_MOST_PINNED = 64
_numbers: dict[Expr, int] = {}
_MOST_NUMBERS = 200_000
_next_number = itertools.count()

# What a comparison of two expressions, being TRUE, says about the other comparisons of the same two.
_PAIR_RULES = {
    "=": frozenset({"=", "<=", ">=", "<=>"}),
    "<=>": frozenset({"<=>"}),
    "<": frozenset({"<", "<=", "!=", "not <=>"}),
    ">": frozenset({">", ">=", "!=", "not <=>"}),
    "<=": frozenset({"<="}),
    ">=": frozenset({">="}),
    "!=": frozenset({"!=", "not <=>"}),
    "not <=>": frozenset({"not <=>"}),
}


class Form(Enum):
    """How a predicate is made up."""

    TRUE = auto()
    ATOM = auto()
    AND = auto()
    OR = auto()


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled predicate. ``parts`` are those of an AND or an OR."""

    expr: Expr
    number: int
    form: Form
    parts: tuple[Compiled, ...] = ()
    part_numbers: frozenset[int] = frozenset()
    subject: int = UNKNOWN
    """The number of the expression that an atom is about."""
    allows: Allows | None = None
    """What an atom allows of its subject."""
    pair: tuple[tuple[int, int], str] | None = None
    null_test: tuple[int, tuple[str, ...] | None] | None = None
    """For IS NOT NULL: the number of its argument, and the path if that is a column."""
    possible: dict[int, AllowedValues] = field(default_factory=dict)
    """The values that expressions can have where an atom or a conjunction is TRUE."""
    not_null: frozenset[int] = frozenset()
    parents: frozenset[tuple[str, ...]] = frozenset()
    pairs: dict[tuple[int, int], frozenset[str]] = field(default_factory=dict)
    pinned: dict[int, tuple[Expr, tuple[Value, ...]]] = field(default_factory=dict)
    """Expressions that can only have a few values, with those values."""
    inputs: tuple[frozenset[int], ...] = ()
    """Alternative sets of expressions, each enough to evaluate the predicate."""
    partners: tuple[Partner, ...] = ()
    """The join-induced predicates that are TRUE where an atom or a conjunction is."""
    never: bool = False


def _number_of(expr: Expr) -> int:
    """A number that only this expression has; UNKNOWN for one with opaque parts."""
    found = _numbers.get(expr)
    if found is None:
        if len(_numbers) > _MOST_NUMBERS:
            # Old numbers are never given again, so what was compiled with them merely stops matching.
            _numbers.clear()
        found = UNKNOWN if is_opaque(expr) else next(_next_number)
        _numbers[expr] = found
    return found


@lru_cache(maxsize=32768)
def compile_normal(normal: Expr) -> Compiled:
    """What a predicate in the normal form of a filter implies."""
    number = _number_of(normal)
    match normal:
        case Literal():
            form = Form.TRUE if normal == TRUE else Form.ATOM
            return Compiled(normal, number, form, never=normal in (FALSE, NULL))
        case Or(args):
            parts = tuple(compile_normal(arg) for arg in args)
            never = all(part.never for part in parts)
            return _with_nullness(
                Compiled(normal, number, Form.OR, parts, inputs=_joined_inputs(parts), never=never)
            )
        case And(args):
            found = _conjunction(normal, number, tuple(compile_normal(arg) for arg in args))
            return _with_nullness(replace(found, never=True) if _denies_itself(found) else found)
        case _:
            return _with_nullness(_atom(normal, number))


def _atom(normal: Expr, number: int) -> Compiled:
    columns = frozenset(_number_of(column) for column in columns_of(normal))
    pair = _pair(normal)
    pairs = {pair[0]: _PAIR_RULES[pair[1]]} if pair else {}
    found = allows(normal)
    if found is None:
        return Compiled(
            normal, number, Form.ATOM, pair=pair, null_test=_null_test(normal), pairs=pairs, inputs=(columns,)
        )
    subject = _number_of(found.subject)
    partner = partner_of(normal)
    return Compiled(
        normal,
        number,
        Form.ATOM,
        subject=subject,
        allows=found,
        null_test=_null_test(normal),
        possible={subject: found.possible},
        pinned=_pinned({subject: (found.subject, found.possible)}),
        inputs=(columns, frozenset((subject,))),
        partners=() if partner is None else (partner,),
        never=found.possible.empty,
    )


def compile_conjunction(parts: Sequence[Compiled]) -> Compiled:
    """What all parts imply together, without the normal form of their conjunction."""
    if len(parts) == 1:
        return parts[0]
    together = _conjunction(And(tuple(part.expr for part in parts)), UNKNOWN, tuple(parts))
    present = frozenset[int]().union(*(part.not_null for part in parts))
    parents = frozenset[tuple[str, ...]]().union(*(part.parents for part in parts))
    return _present(together, present, parents)


def _denies_itself(found: Compiled) -> bool:
    """Whether a part and its negation are both among the parts."""
    return any(_number_of(negate(part.expr)) in found.part_numbers for part in found.parts)


def _conjunction(normal: Expr, number: int, parts: tuple[Compiled, ...]) -> Compiled:
    met: dict[int, tuple[Expr, AllowedValues]] = {}
    pairs: dict[tuple[int, int], frozenset[str]] = {}
    for part in parts:
        if part.allows is not None:
            values = part.allows.possible
            if (known := met.get(part.subject)) is not None:
                values = known[1] & values
            met[part.subject] = part.allows.subject, values
        for pair, ops in part.pairs.items():
            pairs[pair] = pairs.get(pair, frozenset()) | ops
    return Compiled(
        normal,
        number,
        Form.AND,
        parts,
        part_numbers=frozenset(part.number for part in parts) - {UNKNOWN},
        possible={subject: values for subject, (_, values) in met.items()},
        pairs=pairs,
        pinned=_pinned(met),
        inputs=_joined_inputs(parts),
        partners=tuple(partner for part in parts for partner in part.partners),
        never=any(part.never for part in parts) or any(values.empty for _, values in met.values()),
    )


def _with_nullness(found: Compiled) -> Compiled:
    """Add what is non-NULL; an expression that would have to be NULL as well is never TRUE."""
    present = not_null(found.expr)
    numbers = frozenset(_number_of(expr) for expr in present) - {UNKNOWN}
    paths = (expr.path for expr in present if isinstance(expr, Column))
    parents = frozenset(path[:size] for path in paths for size in range(1, len(path)))
    return _present(found, numbers, parents)


def _present(found: Compiled, numbers: frozenset[int], parents: frozenset[tuple[str, ...]]) -> Compiled:
    only_null = any(
        values.null and subject in numbers and values.without_null().empty
        for subject, values in found.possible.items()
    )
    return replace(found, not_null=numbers, parents=parents, never=found.never or only_null)


def _joined_inputs(parts: tuple[Compiled, ...]) -> tuple[frozenset[int], ...]:
    """All parts by their columns, or all by their subjects."""
    by_column: frozenset[int] = frozenset().union(*(part.inputs[0] for part in parts if part.inputs))
    by_subject: frozenset[int] = frozenset().union(*(part.inputs[-1] for part in parts if part.inputs))
    return (by_column,) if by_column == by_subject else (by_column, by_subject)


def _pinned(
    possible: dict[int, tuple[Expr, AllowedValues]],
) -> dict[int, tuple[Expr, tuple[Value, ...]]]:
    pinned: dict[int, tuple[Expr, tuple[Value, ...]]] = {}
    for number, (subject, values) in possible.items():
        few = values.members(type_of(subject), _MOST_PINNED)
        if few is not None:
            pinned[number] = subject, few
    return pinned


def _null_test(normal: Expr) -> tuple[int, tuple[str, ...] | None] | None:
    match normal:
        case Not(IsNull(arg)):
            return _number_of(arg), arg.path if isinstance(arg, Column) else None
    return None


def _pair(normal: Expr) -> tuple[tuple[int, int], str] | None:
    inner = normal.arg if isinstance(normal, Not) else normal
    if not isinstance(inner, Comparison) or isinstance(inner.right, Literal):
        return None
    numbers = (_number_of(inner.left), _number_of(inner.right))
    if UNKNOWN in numbers:
        return None
    if inner is normal:
        return numbers, inner.op
    return numbers, "!=" if inner.op == "=" else f"not {inner.op}"

"""What a predicate tells, worked out once so that implication only has to look things up.

A normalised predicate becomes a tree of :class:`Facts`: for an atom or a conjunction the region of
each scalar expression it constrains, what is non-NULL, how pairs of columns compare, and whether it
can be TRUE at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from skipstone.predicate.atoms import UNKNOWN, Atom, number_of, region_of
from skipstone.predicate.expr import (
    And,
    Column,
    Comparison,
    Expr,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Or,
    Value,
    columns_of,
    type_of,
)
from skipstone.predicate.normalize import FALSE, NULL, TRUE, negate
from skipstone.predicate.nullness import not_null
from skipstone.predicate.region import MOST_LISTED, Region, meet

__all__ = ["Facts", "conjunction_facts", "facts_of"]

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


@dataclass(frozen=True, slots=True)
class Facts:
    """A compiled predicate. ``parts`` are those of an AND or an OR."""

    expr: Expr
    number: int
    kind: str
    parts: tuple[Facts, ...] = ()
    part_numbers: frozenset[int] = frozenset()
    atom: Atom | None = None
    denied: Atom | None = None
    """For NOT of a match: the region of what is denied."""
    pair: tuple[tuple[int, int], str] | None = None
    null_test: tuple[int, tuple[str, ...] | None] | None = None
    """For IS NOT NULL: the number of its argument, and the path if that is a column."""
    regions: dict[int, Region] = field(default_factory=dict)
    not_null: frozenset[int] = frozenset()
    parents: frozenset[tuple[str, ...]] = frozenset()
    pairs: dict[tuple[int, int], frozenset[str]] = field(default_factory=dict)
    pinned: dict[int, tuple[Expr, tuple[Value, ...]]] = field(default_factory=dict)
    inputs: tuple[frozenset[int], ...] = ()
    """Alternative sets of expressions, each enough to evaluate the predicate."""
    never: bool = False


@lru_cache(maxsize=32768)
def facts_of(normal: Expr) -> Facts:
    """The facts of a predicate in the normal form of a filter."""
    match normal:
        case Literal():
            kind = "true" if normal == TRUE else "atom"
            return Facts(normal, number_of(normal), kind, never=normal in (FALSE, NULL))
        case Or(args):
            parts = tuple(facts_of(arg) for arg in args)
            return _with_nullness(
                Facts(
                    normal,
                    number_of(normal),
                    "or",
                    parts,
                    inputs=_joined_inputs(parts),
                    never=all(part.never for part in parts),
                )
            )
        case And(args):
            facts = _conjunction(normal, number_of(normal), tuple(facts_of(arg) for arg in args))
            return _with_nullness(replace(facts, never=True) if _denies_itself(facts) else facts)
        case _:
            return _with_nullness(_atom_facts(normal))


def _atom_facts(normal: Expr) -> Facts:
    atom = region_of(normal)
    known = atom is not None and atom.number != UNKNOWN
    inputs = [frozenset(number_of(column) for column in columns_of(normal))]
    if known and atom is not None:
        inputs.append(frozenset((atom.number,)))
    return Facts(
        normal,
        number_of(normal),
        "atom",
        atom=atom if known else None,
        denied=_denied(normal),
        pair=(pair := _pair(normal)),
        null_test=_null_test(normal),
        regions={atom.number: atom.region} if known and atom is not None else {},
        pairs={pair[0]: _PAIR_RULES[pair[1]]} if pair else {},
        pinned=_pinned([atom] if known and atom is not None else []),
        inputs=tuple(inputs),
        never=known and atom is not None and atom.region.empty,
    )


def conjunction_facts(parts: Sequence[Facts]) -> Facts:
    """The facts of all parts together, without the normal form of their conjunction."""
    if len(parts) == 1:
        return parts[0]
    together = _conjunction(And(tuple(part.expr for part in parts)), UNKNOWN, tuple(parts))
    present = frozenset[int]().union(*(part.not_null for part in parts))
    parents = frozenset[tuple[str, ...]]().union(*(part.parents for part in parts))
    return _present(together, present, parents)


def _denies_itself(facts: Facts) -> bool:
    """Whether a part and its negation are both among the parts."""
    return any(number_of(negate(part.expr)) in facts.part_numbers for part in facts.parts)


def _conjunction(normal: Expr, number: int, parts: tuple[Facts, ...]) -> Facts:
    atoms: dict[int, Atom] = {}
    pairs: dict[tuple[int, int], frozenset[str]] = {}
    for part in parts:
        if (atom := part.atom) is not None:
            if (known := atoms.get(atom.number)) is not None:
                region = meet(known.region, atom.region, type_of(atom.subject))
                atom = Atom(atom.subject, atom.number, region, False)
            atoms[atom.number] = atom
        for pair, ops in part.pairs.items():
            pairs[pair] = pairs.get(pair, frozenset()) | ops
    numbers = frozenset(part.number for part in parts) - {UNKNOWN}
    return Facts(
        normal,
        number,
        "and",
        parts,
        part_numbers=numbers,
        regions={number: atom.region for number, atom in atoms.items()},
        pairs=pairs,
        pinned=_pinned(list(atoms.values())),
        inputs=_joined_inputs(parts),
        never=any(part.never for part in parts) or any(atom.region.empty for atom in atoms.values()),
    )


def _with_nullness(facts: Facts) -> Facts:
    """Add what is non-NULL; an expression that would have to be NULL as well is never TRUE."""
    present = not_null(facts.expr)
    numbers = frozenset(number_of(expr) for expr in present) - {UNKNOWN}
    paths = (expr.path for expr in present if isinstance(expr, Column))
    parents = frozenset(path[:size] for path in paths for size in range(1, len(path)))
    return _present(facts, numbers, parents)


def _present(facts: Facts, numbers: frozenset[int], parents: frozenset[tuple[str, ...]]) -> Facts:
    only_null = {n for n, region in facts.regions.items() if region.values == frozenset() and region.nullable}
    never = facts.never or bool(only_null & numbers)
    return replace(facts, not_null=numbers, parents=parents, never=never)


def _joined_inputs(parts: tuple[Facts, ...]) -> tuple[frozenset[int], ...]:
    """All parts by their columns, or all by their subjects."""
    by_column: frozenset[int] = frozenset().union(*(part.inputs[0] for part in parts if part.inputs))
    by_subject: frozenset[int] = frozenset().union(*(part.inputs[-1] for part in parts if part.inputs))
    return (by_column,) if by_column == by_subject else (by_column, by_subject)


def _pinned(atoms: list[Atom]) -> dict[int, tuple[Expr, tuple[Value, ...]]]:
    """Expressions that can only have a few values, with those values."""
    pinned: dict[int, tuple[Expr, tuple[Value, ...]]] = {}
    for atom in atoms:
        keys = atom.region.values
        if keys is not None and len(keys) <= MOST_LISTED:
            values = [value for key in keys for value in _values_of(key)]
            pinned[atom.number] = (atom.subject, (*values, None) if atom.region.nullable else tuple(values))
    return pinned


def _values_of(key: Any) -> tuple[Value, ...]:
    if not isinstance(key, tuple):
        return (key,)
    is_nan, real = key
    # Two zeros are equal, but a function may tell them apart.
    return (float("nan"),) if is_nan else ((0.0, -0.0) if real == 0.0 else (real,))


def _null_test(normal: Expr) -> tuple[int, tuple[str, ...] | None] | None:
    match normal:
        case Not(IsNull(arg)):
            return number_of(arg), arg.path if isinstance(arg, Column) else None
    return None


def _pair(normal: Expr) -> tuple[tuple[int, int], str] | None:
    inner = normal.arg if isinstance(normal, Not) else normal
    if not isinstance(inner, Comparison) or isinstance(inner.right, Literal):
        return None
    numbers = (number_of(inner.left), number_of(inner.right))
    if UNKNOWN in numbers:
        return None
    if inner is normal:
        return numbers, inner.op
    return numbers, "!=" if inner.op == "=" else f"not {inner.op}"


def _denied(normal: Expr) -> Atom | None:
    """A match is FALSE, not NULL, for every non-NULL string outside its region."""
    if isinstance(normal, Not) and isinstance(normal.arg, Like | Match):
        atom = region_of(normal.arg)
        return atom if atom and atom.number != UNKNOWN else None
    return None

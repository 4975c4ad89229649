"""Implication between predicates: the subsumption check of SOP (SIGMOD'14, section 3).

``implies(p, q)`` is True only if every row for which p is TRUE makes q TRUE. It is sound and not
complete: False means "not shown". The rules, on the normal forms of p and q:

1. A p that is never TRUE implies everything, everything implies TRUE, and p implies itself.
2. An OR on the left and an AND on the right are split: all parts must follow.
3. An AND on the left is taken together: the regions of one expression are intersected.
4. An OR on the right needs one part that follows.
5. An atom on the right follows if the region that the left leaves for its expression lies inside
   the atom's, if a comparison of the same two expressions says so, or by null rejection.
6. Where the left leaves few values for everything that the right reads, the right is evaluated.

>>> from skipstone.predicate.expr import Column, Comparison, In, Literal
>>> from skipstone.predicate.types import INT
>>> x = Column(("x",), INT)
>>> one, two, three = (Literal(n, INT) for n in (1, 2, 3))
>>> implies(In(x, (one, two)), Comparison("<", x, three))
True
>>> implies(Comparison("<", x, three), In(x, (one, two)))
False

Cost: facts are compiled once per predicate; a check then is a few lookups per pair of atoms, at
most |p| * |q| of them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from skipstone.predicate.atoms import UNKNOWN
from skipstone.predicate.compiled import Facts, facts_of
from skipstone.predicate.evaluate import NotEvaluable, evaluate
from skipstone.predicate.expr import And, Expr, Value, type_of
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.region import covers, everything, meet
from skipstone.predicate.types import STRING

__all__ = ["compiled", "disjoint", "implies", "implies_facts", "never_true"]

MOST_ROWS = 64
_MOST_BRANCHES = 32
# By identity first: hashing a tree costs more than the whole check. The entry holds the expression,
# so its id cannot be given to another one meanwhile.
_compiled: dict[int, tuple[Expr, Facts]] = {}


def implies(p: Expr, q: Expr) -> bool:
    """Whether q is TRUE on every row on which p is TRUE; False when that cannot be shown."""
    return _implies(compiled(p), compiled(q), {})


def implies_facts(p: Facts, q: Expr) -> bool:
    """The same for a left side that is compiled already."""
    return _implies(p, compiled(q), {})


def disjoint(p: Expr, q: Expr) -> bool:
    """Whether no row makes both TRUE; False when that cannot be shown."""
    return never_true(And((p, q)))


def never_true(p: Expr) -> bool:
    """Whether no row makes the predicate TRUE; False when that cannot be shown."""
    return _never(compiled(p))


def compiled(expr: Expr) -> Facts:
    """The facts of a predicate, worked out once."""
    entry = _compiled.get(id(expr))
    if entry is not None:
        return entry[1]
    facts = facts_of(normalize_filter(expr))
    if len(_compiled) > 20_000:
        _compiled.clear()
    _compiled[id(expr)] = (expr, facts)
    return facts


def _implies(p: Facts, q: Facts, memo: dict[tuple[int, int], bool]) -> bool:
    if p.never or q.kind == "true":
        return True
    if q.number != UNKNOWN and (q.number == p.number or q.number in p.part_numbers):
        return True
    if p.kind == "or":
        return all(_implies(part, q, memo) for part in p.parts)
    if q.kind == "and":
        return all(_implies(p, part, memo) for part in q.parts)
    if q.kind == "atom" and p.kind == "atom":
        return _atom_follows(p, q) or _holds_on_all_values(p, q)
    key = (id(p), id(q))
    if key not in memo:
        memo[key] = _conjunction_implies(p, q, memo)
    return memo[key]


def _conjunction_implies(p: Facts, q: Facts, memo: dict[tuple[int, int], bool]) -> bool:
    """An AND or an atom on the left, an OR or an atom on the right."""
    if q.kind == "or":
        if any(_implies(p, part, memo) for part in q.parts):
            return True
    elif _atom_follows(p, q):
        return True
    if _holds_on_all_values(p, q):
        return True
    # Atoms of the conjunction are in its facts already; an OR among its parts is not.
    return any(part.kind == "or" and _implies(part, q, memo) for part in p.parts)


def _atom_follows(p: Facts, q: Facts) -> bool:
    if q.null_test is not None:
        number, path = q.null_test
        # A field that has a value sits in structs that are there.
        return number in p.not_null or (path is not None and path in p.parents)
    if q.pair is not None:
        numbers, op = q.pair
        return op in p.pairs.get(numbers, ())
    if q.atom is None:
        return False
    region = p.regions.get(q.atom.number)
    present = q.atom.number in p.not_null
    if region is None:
        return present and q.atom.exact and covers(q.atom.region, everything(type_of(q.atom.subject)))
    if region.nullable and present:
        region = replace(region, nullable=False)
    if q.atom.exact:
        return covers(q.atom.region, region)
    return q.denied is not None and not region.nullable and meet(region, q.denied.region, STRING).empty


def _holds_on_all_values(p: Facts, q: Facts) -> bool:
    """Evaluate q on every combination of the few values that p leaves for what q reads."""
    if not p.pinned or (q.atom is not None and q.atom.exact and q.atom.number in p.pinned):
        return False  # nothing to evaluate on, or the comparison of regions has decided
    for needed in q.inputs:
        if needed <= p.pinned.keys():
            chosen = [p.pinned[number] for number in sorted(needed)]
            if math.prod(len(values) for _, values in chosen) > MOST_ROWS:
                continue
            subjects = [subject for subject, _ in chosen]
            combinations = itertools.product(*(values for _, values in chosen))
            if all(_is_true(q.expr, dict(zip(subjects, row, strict=True))) for row in combinations):
                return True
    return False


def _is_true(expr: Expr, row: dict[Expr, Value]) -> bool:
    try:
        return evaluate(expr, row) is True
    except NotEvaluable:
        return False


def _never(p: Facts) -> bool:
    """Also try the branches of one OR inside a conjunction, each beside the other parts."""
    if p.never:
        return True
    if p.kind == "or":
        return all(_never(part) for part in p.parts)
    for part in p.parts:
        if part.kind == "or" and len(part.parts) <= _MOST_BRANCHES:
            rest = tuple(other.expr for other in p.parts if other is not part)
            branches = (And((*rest, branch.expr)) for branch in part.parts)
            if all(facts_of(normalize_filter(branch)).never for branch in branches):
                return True
    return False

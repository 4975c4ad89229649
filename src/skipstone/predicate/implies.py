"""Implication between predicates: the subsumption check of SOP (SIGMOD'14, section 3).

``implies(p, q)`` is True only if every row for which p is TRUE makes q TRUE. It is sound and not
complete: False means "not shown". The rules, on the normal forms of p and q:

1. A p that is never TRUE implies everything, everything implies TRUE, and p implies itself.
2. An OR on the left and an AND on the right are split: all parts must follow.
3. An AND on the left is taken together: what it allows of one expression is intersected.
4. An OR on the right needs one part that follows.
5. An atom on the right follows if it is certain for all values that the left leaves possible for its
   expression (:mod:`~skipstone.predicate.allows`), if a comparison of the same two expressions says
   so, or by null rejection.
6. A join-induced predicate follows from one about the same partners whose condition implies its own.
7. Where the left leaves few values for everything that the right reads, the right is evaluated.

>>> from skipstone.predicate.expr import Column, Comparison, In, Literal
>>> from skipstone.predicate.types import INT
>>> x = Column(("x",), INT)
>>> one, two, three = (Literal(n, INT) for n in (1, 2, 3))
>>> implies(In(x, (one, two)), Comparison("<", x, three))
True
>>> implies(Comparison("<", x, three), In(x, (one, two)))
False

Cost: a predicate is compiled once; a check then is a few lookups per pair of atoms, at
most |p| * |q| of them.
"""

from __future__ import annotations

import itertools
import math

from skipstone.predicate.allowed import everything
from skipstone.predicate.compiled import UNKNOWN, Compiled, Form, compile_normal
from skipstone.predicate.evaluate import NotEvaluable, evaluate
from skipstone.predicate.expr import And, Expr, Value, type_of
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.partner import Partner

__all__ = ["compiled", "disjoint", "implies", "implies_compiled", "never_true"]

MOST_ROWS = 64
_MOST_BRANCHES = 32
# By identity first: hashing a tree costs more than the whole check. The entry holds the expression,
# so its id cannot be given to another one meanwhile.
_compiled: dict[int, tuple[Expr, Compiled]] = {}
_MOST_COMPILED = 20_000


def implies(p: Expr, q: Expr) -> bool:
    """Whether q is TRUE on every row on which p is TRUE; False when that cannot be shown."""
    return _implies(compiled(p), compiled(q), {})


def implies_compiled(p: Compiled, q: Expr) -> bool:
    """The same for a left side that is compiled already."""
    return _implies(p, compiled(q), {})


def disjoint(p: Expr, q: Expr) -> bool:
    """Whether no row makes both TRUE; False when that cannot be shown."""
    return never_true(And((p, q)))


def never_true(p: Expr) -> bool:
    """Whether no row makes the predicate TRUE; False when that cannot be shown."""
    return _never(compiled(p))


def compiled(expr: Expr) -> Compiled:
    """What a predicate implies, computed once."""
    entry = _compiled.get(id(expr))
    if entry is not None:
        return entry[1]
    found = compile_normal(normalize_filter(expr))
    if len(_compiled) > _MOST_COMPILED:
        _compiled.clear()
    _compiled[id(expr)] = (expr, found)
    return found


def _implies(p: Compiled, q: Compiled, memo: dict[tuple[int, int], bool]) -> bool:
    if p.never or q.form is Form.TRUE:
        return True
    if q.number != UNKNOWN and (q.number == p.number or q.number in p.part_numbers):
        return True
    if p.form is Form.OR:
        return all(_implies(part, q, memo) for part in p.parts)
    if q.form is Form.AND:
        return all(_implies(p, part, memo) for part in q.parts)
    if q.form is Form.ATOM and p.form is Form.ATOM:
        return _atom_follows(p, q) or _holds_on_all_values(p, q)
    key = (id(p), id(q))
    if key not in memo:
        memo[key] = _conjunction_implies(p, q, memo)
    return memo[key]


def _conjunction_implies(p: Compiled, q: Compiled, memo: dict[tuple[int, int], bool]) -> bool:
    """An AND or an atom on the left, an OR or an atom on the right."""
    if q.form is Form.OR:
        if any(_implies(p, part, memo) for part in q.parts):
            return True
    elif _atom_follows(p, q):
        return True
    if _holds_on_all_values(p, q):
        return True
    # What atoms of the conjunction imply is part of it already; an OR among its parts is not.
    return any(part.form is Form.OR and _implies(part, q, memo) for part in p.parts)


def _atom_follows(p: Compiled, q: Compiled) -> bool:
    if q.null_test is not None:
        number, path = q.null_test
        # A field that has a value sits in structs that are there.
        return number in p.not_null or (path is not None and path in p.parents)
    if q.partners:
        return any(_partner_implies(known, q.partners[0]) for known in p.partners)
    if q.pair is not None:
        numbers, op = q.pair
        return op in p.pairs.get(numbers, ())
    if q.allows is None:
        return False
    possible = p.possible.get(q.subject)
    present = q.subject in p.not_null
    if possible is None:
        return present and everything(type_of(q.allows.subject)) <= q.allows.certain
    if present:
        possible = possible.without_null()
    if possible <= q.allows.certain:
        return True
    refused = q.allows.refused
    return refused is not None and not possible.null and (possible & refused).empty


def _partner_implies(known: Partner, asked: Partner) -> bool:
    """The partner that satisfies the one condition satisfies the other, so there is one that does."""
    return known.join == asked.join and implies(known.where, asked.where)


def _holds_on_all_values(p: Compiled, q: Compiled) -> bool:
    """Evaluate q on every combination of the few values that p leaves for what q reads."""
    if not p.pinned or (q.allows is not None and q.allows.exact and q.subject in p.pinned):
        return False  # nothing to evaluate on, or the comparison of sets has decided
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


def _never(p: Compiled) -> bool:
    """Also try the branches of one OR inside a conjunction, each beside the other parts."""
    if p.never:
        return True
    if p.form is Form.OR:
        return all(_never(part) for part in p.parts)
    for part in p.parts:
        if part.form is Form.OR and len(part.parts) <= _MOST_BRANCHES:
            rest = tuple(other.expr for other in p.parts if other is not part)
            branches = (And((*rest, branch.expr)) for branch in part.parts)
            if all(compile_normal(normalize_filter(branch)).never for branch in branches):
                return True
    return False

"""Pruning by the exact set of values that each block has of a column or tracked expression.

The predicates over that one expression are evaluated once for every value of the dictionary, and
for NULL. What comes out is a mask over the dictionary; a block none of whose values is in the mask
has no row to offer. That works for whatever can be evaluated, ``LIKE '%x%'`` and ``lower(x)`` alike. A
value on which a predicate cannot be evaluated counts as satisfying it. A range of values does if what the
predicate allows meets it, or if that is not understood.

Cost: at most 256 evaluations per predicate and query, then one AND per block and word.
"""

from __future__ import annotations

import numpy as np

from skipstone.predicate.allowed import of_ranges
from skipstone.predicate.allows import allows
from skipstone.predicate.evaluate import NotEvaluable, evaluate
from skipstone.predicate.expr import Column, Expr, Value, children, type_of
from skipstone.predicate.partner import partner_of
from skipstone.predicate.value_ranges import encode, following
from skipstone.pruning.blocks import ValueSets, Words
from skipstone.pruning.masks import Flags, Mask, negated

__all__ = ["only_about", "satisfied", "without_member"]


def only_about(predicate: Expr, key: Expr) -> bool:
    """Whether the predicate reads ``key``, and no column but through it, and no other table."""
    reads = False
    stack = [predicate]
    while stack:
        node = stack.pop()
        if node == key:
            reads = True
        elif isinstance(node, Column) or partner_of(node) is not None:
            return False
        else:
            stack.extend(children(node))
    return reads


def satisfied(predicate: Expr, key: Expr, sets: ValueSets) -> tuple[Words, bool]:
    """The dictionary's values for which the predicate may be true, as words, and whether NULL may."""
    words = np.zeros((len(sets.dictionary) + 63) // 64, np.uint64)
    for index, value in enumerate(sets.dictionary):
        if sets.last is None or sets.last[index] == value:
            holds = _may_hold(predicate, key, value)
        else:
            holds = _may_meet(predicate, key, value, sets.last[index])
        if holds:
            words[index // 64] |= np.uint64(1 << (index % 64))
    return words, _may_hold(predicate, key, None)


def _may_meet(predicate: Expr, key: Expr, first: Value, last: Value) -> bool:
    """Whether the predicate may be true for any value of a range."""
    found = allows(predicate)
    if found is None or found.subject != key:
        return True
    type_ = type_of(key)
    within = of_ranges(((encode(first, type_), following(encode(last, type_))),))
    return not (found.possible & within).empty


def _may_hold(predicate: Expr, key: Expr, value: Value) -> bool:
    try:
        return evaluate(predicate, {key: value}) is True
    except NotEvaluable:
        return True


def without_member(sets: ValueSets, mask: Words, null_holds: bool, may_be_null: Mask) -> Mask:
    """Where the set is known and none of its values is in the mask; NULL counts where it may be."""
    if null_holds and may_be_null is True:
        return False
    free: Flags = sets.known.copy()
    for index, word in enumerate(mask):
        if word:
            free &= (sets.words[:, index] & word) == 0
    return free & negated(may_be_null) if null_holds else free

"""Why files are read: for every condition of a filter, what about it could not rule them out.

A file is skipped as soon as one condition rules it out, so each file that is read has a reason for every
condition. This is worked out for ``explain`` only; queries do not pay for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow.compute as pc

from skipstone.predicate.allows import allows
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
)
from skipstone.predicate.limits import within_limits
from skipstone.predicate.normalize import conjuncts
from skipstone.predicate.partner import partner_of
from skipstone.predicate.readable import readable, without_inferred
from skipstone.pruning.alternatives import Alternatives
from skipstone.pruning.blocks import BlockSet, Statistics
from skipstone.pruning.budget import Budget
from skipstone.pruning.masks import Flags, Mask, negated, spread
from skipstone.pruning.partitions import on_partitions
from skipstone.pruning.reasons import PruneResult, Unused, UnusedCode
from skipstone.pruning.rules import Rules
from skipstone.pruning.scope import Scope
from skipstone.pruning.value_sets import only_about, satisfied

__all__ = ["WhyRead", "why_read"]

Partitions = frozenset[tuple[str, ...]]
_MOST_VALUES = 3
_MOST_TEXT = 40


@dataclass(frozen=True, slots=True, eq=False)
class WhyRead:
    """Blocks, of those that are read, that one condition could not rule out, and why.

    ``expression`` and ``feature`` are what would have to be tracked of them so that it could, if there is
    such a thing. ``narrow`` says that the statistics are there and that another layout would make them
    sharper.
    """

    blocks: Flags
    predicate: Expr
    code: str
    sentence: str
    expression: Expr | None = None
    feature: Expr | None = None
    narrow: bool = False


def why_read(
    filter: Expr, blocks: BlockSet, result: PruneResult, read: Flags, partitions: Partitions = frozenset()
) -> list[WhyRead]:
    """The reasons for all blocks in ``read``, condition by condition.

    Conditions on nothing but partition columns have done their work: every file that is left satisfies them.
    """
    indices = np.flatnonzero(read)
    if not len(indices):
        return []
    parts = conjuncts(within_limits(filter))
    shown = without_inferred(And(parts)) if len(parts) > 1 else None
    named = parts if shown is None else shown.args if isinstance(shown, And) else (shown,)
    unused = {each.predicate: each for each in result.unused if each.code is not UnusedCode.BUDGET}
    judge = _Judge(Scope(blocks, indices))
    found = []
    for part in named:
        if on_partitions(part, partitions):
            continue
        whys = [_not_used(unused[part], len(indices))] if part in unused else judge.reasons(part)
        for why in whys:
            mask = np.zeros(len(blocks), np.bool_)
            mask[indices] = why.blocks
            if mask.any():
                found.append(replace(why, blocks=mask))
    return found


def _not_used(unused: Unused, size: int) -> WhyRead:
    code = unused.detail or unused.code.name
    every = np.ones(size, np.bool_)
    expression = unused.subject if unused.code is UnusedCode.NOT_MONOTONE else None
    searched = unused.code is UnusedCode.NO_BOUNDS
    return WhyRead(
        every, unused.predicate, code, unused.sentence, expression, unused.predicate if searched else None
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """The reasons of one condition over the blocks of a scope, all of which are read."""

    scope: Scope

    def reasons(self, part: Expr) -> Iterator[WhyRead]:
        if isinstance(part, Literal):
            return
        left = np.ones(len(self.scope), np.bool_)
        for why in self._found(part):
            blocks = why.blocks & left
            left &= ~why.blocks
            yield replace(why, blocks=blocks)

    def _found(self, part: Expr) -> Iterator[WhyRead]:
        """Reasons, the most specific first; a block has the first that fits."""
        yield from self._value_set(part)
        if partner_of(part) is not None:
            sentence = f"some row may have a partner as in {readable(part)}"
            yield WhyRead(self._everywhere, part, "PARTNER", sentence, feature=part, narrow=True)
        if atom := allows(part):
            yield from self._atom(part, atom.subject, only_nulls=not atom.possible.bounded)
        elif isinstance(part, Or):
            yield from self._alternatives(part)
        sides = [readable(column) for column in sorted(columns_of(part), key=lambda column: column.path)]
        sentence = f"the statistics of {_joined(sides)} leave {readable(part)} possible"
        if compared := _sides(part):
            names = _joined([readable(side) for side in compared])
            sentence = f"min/max of {names} may satisfy {readable(part)}"
        yield WhyRead(self._everywhere, part, "MIN_MAX", sentence, feature=part, narrow=True)

    @property
    def _everywhere(self) -> Flags:
        return np.ones(len(self.scope), np.bool_)

    def _value_set(self, part: Expr) -> Iterator[WhyRead]:
        for key in self.scope.blocks.value_keys:
            sets = self.scope.blocks.statistics[key].values
            if sets is None or not only_about(part, key):
                continue
            words, null = satisfied(part, key, sets)
            known, held = self.scope.narrow(sets.known), self.scope.narrow(sets.words)
            union = np.bitwise_or.reduce(held[known], axis=0) & words if known.any() else words & np.uint64(0)
            values = [
                readable(Literal(value, self.scope.blocks.statistics[key].type))
                for index, value in enumerate(sets.dictionary)
                if int(union[index // 64]) >> (index % 64) & 1
            ]
            values += ["NULL"] * (null and not values)
            if not values:
                continue
            more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
            sentence = f"{readable(key)} has the value {', '.join(values[:_MOST_VALUES])}{more}"
            yield WhyRead(known, part, "VALUE_SET", f"{sentence}, so {readable(part)} may hold", narrow=True)

    def _atom(self, part: Expr, expr: Expr, *, only_nulls: bool) -> Iterator[WhyRead]:
        if only_nulls and isinstance(part.arg if isinstance(part, Not) else part, Like | Match):
            sentence = f"min/max say nothing about {readable(part)}"
            yield WhyRead(self._everywhere, part, "NO_BOUNDS", sentence, feature=part)
            return
        if only_nulls:
            asks = isinstance(part, IsNull | Comparison)
            says = "may be NULL" if asks else "is not always NULL"
            yield WhyRead(self._everywhere, part, "NULL_COUNT", f"{readable(expr)} {says}")
            return
        statistics = self.scope.statistics(expr)
        if statistics is None:
            bounds = self.scope.bounds(expr)
            if bounds.low is not None or bounds.high is not None:
                sentence = f"min/max of {_joined(_names(expr))} leave {readable(part)} possible"
                yield WhyRead(self._everywhere, part, "MIN_MAX", sentence, expression=expr, narrow=True)
            return
        known = self._has_bounds(statistics)
        span = self._span(statistics, known)
        sentence = f"min/max of {readable(expr)}{span} may satisfy {readable(part)}"
        yield WhyRead(known, part, "MIN_MAX", sentence, narrow=True)
        missing = f"no statistics of {readable(expr)} in these files"
        expression = None if isinstance(expr, Column) else expr
        yield WhyRead(self._everywhere, part, "NO_STATISTICS", missing, expression)

    def _has_bounds(self, statistics: Statistics) -> Flags:
        flags = pc.and_(statistics.low.is_valid(), statistics.high.is_valid())
        return self.scope.narrow(flags.to_numpy(zero_copy_only=False))

    def _span(self, statistics: Statistics, known: Flags) -> str:
        """From the least minimum to the greatest maximum of the blocks."""
        index = self.scope.index
        assert index is not None
        chosen = index[known]
        if not len(chosen):
            return ""
        low = pc.min_max(statistics.low.take(chosen))["min"].as_py()
        high = pc.min_max(statistics.high.take(chosen))["max"].as_py()
        return f" ({_value(low, statistics)}..{_value(high, statistics)})"

    def _alternatives(self, part: Or) -> Iterator[WhyRead]:
        """The first branch, block by block, that is not ruled out by itself."""
        alternatives = Alternatives(Rules(self.scope, Budget(0)))
        for branch in part.args:
            mask: Mask = negated(alternatives.alone(branch))
            why = self._branch(branch)
            sentence = f"the alternative {readable(branch)} may hold: {why.sentence}"
            yield replace(why, blocks=spread(mask, len(self.scope)), predicate=part, sentence=sentence)

    def _branch(self, branch: Expr) -> WhyRead:
        parts = branch.args if isinstance(branch, And) else (branch,)
        return next(self._found(parts[0]))


def _value(value: Value, statistics: Statistics) -> str:
    return readable(Literal(value, statistics.type), _MOST_TEXT)


def _names(expr: Expr) -> list[str]:
    return [readable(column) for column in sorted(columns_of(expr), key=lambda column: column.path)]


def _sides(part: Expr) -> tuple[Expr, ...]:
    inner = part.arg if isinstance(part, Not) else part
    return (inner.left, inner.right) if isinstance(inner, Comparison) else ()


def _joined(names: list[str]) -> str:
    return " and ".join(names) if len(names) <= 2 else f"{', '.join(names[:-1])} and {names[-1]}"

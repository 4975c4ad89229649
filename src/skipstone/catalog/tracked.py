"""What statistics are tracked of: a column, or an expression that was asked for."""

from __future__ import annotations

from dataclasses import dataclass

from skipstone.predicate.expr import Column, Expr
from skipstone.predicate.joined_column import text_of
from skipstone.predicate.types import Type
from skipstone.pruning.blocks import Feature

__all__ = ["Tracked", "TrackedSet"]


@dataclass(frozen=True, slots=True)
class Tracked:
    """An expression with statistics; ``sql`` computes it."""

    expr: Expr
    sql: str
    type: Type


@dataclass(frozen=True, slots=True)
class TrackedSet:
    """All that is known of each block: statistics of ``expressions``, columns included, and feature bits.

    ``joined_columns`` are columns of joined tables that value sets are kept of.
    """

    expressions: tuple[Tracked, ...]
    features: tuple[Feature, ...] = ()
    joined_columns: tuple[Expr, ...] = ()

    @property
    def texts(self) -> dict[Expr, str]:
        """The SQL of the expressions that are no plain columns; of joined columns, what they are called."""
        own = {item.expr: item.sql for item in self.expressions if not isinstance(item.expr, Column)}
        return own | {expr: text_of(expr) for expr in self.joined_columns}

    def with_more(self, more: TrackedSet) -> TrackedSet:
        """Both together, each thing once."""
        expressions = {item.expr: item for item in self.expressions}
        features = {feature.predicate: feature for feature in self.features}
        for item in more.expressions:
            expressions.setdefault(item.expr, item)
        for feature in more.features:
            features.setdefault(feature.predicate, feature)
        joined = dict.fromkeys((*self.joined_columns, *more.joined_columns))
        return TrackedSet(tuple(expressions.values()), tuple(features.values()), tuple(joined))

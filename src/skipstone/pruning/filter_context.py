"""A conjunction under consideration: what it says about each expression, found by lookup.

At the top it holds all conjuncts of a filter. Inside a branch of an OR it holds those of the branch and,
through ``outer``, all that hold outside: judging a branch looks only at what the branch itself is about, so
it takes as long as the branch is, however many conjuncts there are.

The OR that a branch belongs to stays among the outer conjuncts. That changes nothing: the branch implies it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from skipstone.predicate.allowed import AllowedValues, intersection
from skipstone.predicate.allows import allows
from skipstone.predicate.compiled import Compiled, compile_conjunction
from skipstone.predicate.expr import Column, Expr, Or, columns_of, type_of
from skipstone.predicate.implies import compiled

__all__ = ["FilterContext", "Parts"]

Parts = tuple[Expr, ...]


@dataclass(eq=False)
class FilterContext:
    """``fresh`` are the conjuncts that are new here; ``served`` the features that were used already."""

    fresh: Parts
    outer: FilterContext | None = None
    served: set[int] = field(default_factory=set)

    @cached_property
    def columns(self) -> frozenset[Column]:
        """Every column that a conjunct reads, here or outside."""
        return self.new_columns if self.outer is None else self.new_columns | self.outer.columns

    @cached_property
    def new_columns(self) -> frozenset[Column]:
        """The columns that the fresh conjuncts read."""
        return frozenset(self._by_column)

    @cached_property
    def atoms(self) -> dict[Expr, list[tuple[Expr, AllowedValues]]]:
        """The fresh atoms by the expression that they are about."""
        found: dict[Expr, list[tuple[Expr, AllowedValues]]] = {}
        for part in self.fresh:
            if atom := allows(part):
                found.setdefault(atom.subject, []).append((part, atom.possible))
        return found

    def met(self, expr: Expr) -> AllowedValues | None:
        """What all atoms about an expression allow together; None if there is none."""
        known = self._met.get(expr, self)
        if known is self:
            own = [found for _, found in self.atoms.get(expr, ())]
            outer = None if self.outer is None else self.outer.met(expr)
            every = own if outer is None else [outer, *own]
            known = self._met[expr] = intersection(every) if every else None
        assert known is None or isinstance(known, AllowedValues)
        return known

    def simple(self, expr: Expr) -> bool:
        """Whether each atom allows a single range and nothing else.

        Ranges that each meet the bounds of a block, and each other, have a value within the bounds in common,
        so such atoms say together no more than one by one.
        """
        if type_of(expr).floating or (self.outer is not None and not self.outer.simple(expr)):
            return False
        return all(not found.null and len(found.ranges) == 1 for _, found in self.atoms.get(expr, ()))

    def about(self, columns: frozenset[Column]) -> Parts:
        """The conjuncts, here or outside, that read any of the columns."""
        if (known := self._about.get(columns)) is None:
            own = {index: part for column in columns for index, part in self._by_column.get(column, ())}
            outer = () if self.outer is None else self.outer.about(columns)
            known = self._about[columns] = (*outer, *(own[index] for index in sorted(own)))
        return known

    def compiled(self, columns: frozenset[Column], *, ors: bool) -> Compiled:
        """What the conjuncts about some columns allow together, with or without those that are ORs."""
        if (known := self._compiled.get((columns, ors))) is None:
            parts = (part for part in self.about(columns) if ors or not isinstance(part, Or))
            known = self._compiled[columns, ors] = compile_conjunction([compiled(part) for part in parts])
        return known

    @cached_property
    def _by_column(self) -> dict[Column, list[tuple[int, Expr]]]:
        found: dict[Column, list[tuple[int, Expr]]] = {}
        for index, part in enumerate(self.fresh):
            for column in columns_of(part):
                found.setdefault(column, []).append((index, part))
        return found

    @cached_property
    def _about(self) -> dict[frozenset[Column], Parts]:
        return {}

    @cached_property
    def _met(self) -> dict[Expr, AllowedValues | FilterContext | None]:
        return {}

    @cached_property
    def _compiled(self) -> dict[tuple[frozenset[Column], bool], Compiled]:
        return {}

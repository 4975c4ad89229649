"""What joins ask of a scan, as the shim writes it, to join-induced predicates.

A query that filters what it joins asks for a partner that satisfies all conditions at once. Features are
about few of them, so beside the whole there is one predicate for each condition alone; each follows from the
whole. Conditions that are not understood are left out: what is left is weaker, and still asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from skipstone.catalog.column_names import ColumnNames
from skipstone.predicate.expr import And, Column, Expr, IsNull, Not, is_opaque
from skipstone.predicate.limits import within_limits
from skipstone.predicate.normalize import conjuncts
from skipstone.predicate.partner import Partner
from skipstone.spark.bridge.catalyst import TreeJson, expr_from_catalyst
from skipstone.workload.predicates import weaker_per_column

__all__ = ["JoinedTable", "PartnerJson", "partner_filters", "whole_filters"]


class PartnerJson(TypedDict):
    """A join and the conditions on the other table, as ``PartnerFinder.java`` writes them."""

    table: str
    keys: list[TreeJson]
    others: list[TreeJson]
    where: list[TreeJson]
    partners: list[PartnerJson]
    state: NotRequired[str]
    schema: NotRequired[str]


@dataclass(frozen=True, slots=True)
class JoinedTable:
    """The other table: its root, its columns, and its state where that is known."""

    root: str
    names: ColumnNames
    state: str = ""


Tables = Callable[[PartnerJson], JoinedTable | None]
"""Which table is meant; None for one that nothing may depend on."""


def partner_filters(found: Sequence[PartnerJson], names: ColumnNames, tables: Tables) -> tuple[Expr, ...]:
    """All join-induced predicates that every row of the scan satisfies that the query can need."""
    return tuple(dict.fromkeys(partner.call for each in found for partner in _partners(each, names, tables)))


def whole_filters(found: Sequence[PartnerJson], names: ColumnNames, tables: Tables) -> tuple[Expr, ...]:
    """Those of them that all others follow from."""
    first = (next(_partners(each, names, tables), None) for each in found)
    return tuple(dict.fromkeys(partner.call for partner in first if partner is not None))


def _partners(found: PartnerJson, names: ColumnNames, tables: Tables) -> Iterator[Partner]:
    """The predicate with all conditions first, then those with one."""
    table = tables(found)
    keys = None if table is None else _keys(found, names, table)
    if table is None or keys is None:
        return
    own = [part for tree in found["where"] for part in _conditions(tree, table.names)]
    below = [tuple(_partners(each, table.names, tables)) for each in found["partners"]]
    whole = dict.fromkeys([*own, *(some[0].call for some in below if some)])
    if not whole:
        return
    every = tuple(whole)
    weaker = [part for each in own for part in weaker_per_column(each)]
    alone = dict.fromkeys([*own, *weaker, *(each.call for some in below for each in some)])
    wheres = [every[0] if len(every) == 1 else And(every), *alone]
    for where in wheres:
        yield Partner(keys[0], table.root, keys[1], where, table.state)


def _keys(
    found: PartnerJson, names: ColumnNames, table: JoinedTable
) -> tuple[tuple[Column, ...], tuple[Column, ...]] | None:
    """The columns on both sides; None if one of them is not known, or their values are of different types."""
    own = [expr_from_catalyst(tree, names) for tree in found["keys"]]
    others = [expr_from_catalyst(tree, table.names) for tree in found["others"]]
    pairs = [
        (left, right)
        for left, right in zip(own, others, strict=True)
        if isinstance(left, Column) and isinstance(right, Column) and left.type == right.type
    ]
    if len(pairs) < len(own) or not pairs:
        return None
    return tuple(left for left, _ in pairs), tuple(right for _, right in pairs)


def _conditions(tree: TreeJson, names: ColumnNames) -> Iterator[Expr]:
    for part in conjuncts(within_limits(expr_from_catalyst(tree, names))):
        if not is_opaque(part) and not (isinstance(part, Not) and isinstance(part.arg, IsNull)):
            yield part

"""Conditions on joined tables that no query of the log has, but others may: what else to cut by.

A query with another constant implies no predicate about this one. So beside the conditions of the log,
the columns of joined tables that it compares get others, as far as a tree finds use for them: equality with
each value of a column that has few, else both sides of quantiles. Whatever value a query asks for, it
implies one side of each quantile, and with a bit for both the blocks of the other side are skipped.

Cost: one job for each joined table, which draws some thousand rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from skipstone.predicate.allows import allows
from skipstone.predicate.evaluate import order_key
from skipstone.predicate.expr import Column, Comparison, Expr, Literal, Value
from skipstone.predicate.joined_column import RANGED_KINDS
from skipstone.predicate.partner import Partner, other_side, partner_of
from skipstone.pruning.blocks import MOST_VALUES
from skipstone.spark.engine.column_ranges import is_long, sampled_values
from skipstone.spark.engine.job_settings import DRAWN
from skipstone.spark.engine.partners import JoinedTables

__all__ = ["partner_candidates"]

_QUANTILES = 16
_MOST_COLUMNS = 24

Path = tuple[Partner, ...]
"""The links of a chain, the last of which has a condition on one column."""


def partner_candidates(joined: JoinedTables, atoms: Sequence[Expr], seed: int = 0) -> tuple[Expr, ...]:
    """Further join-induced predicates about the columns that these atoms are about."""
    found: dict[tuple[object, ...], tuple[Path, Column]] = {}
    for atom in atoms:
        path = _path(atom)
        about = None if path is None else allows(path[-1].where)
        subject = None if about is None else about.subject
        if path is not None and isinstance(subject, Column) and subject.type.kind in RANGED_KINDS:
            found.setdefault((*(link.join for link in path), subject), (path, subject))
    chosen = list(found.values())[:_MOST_COLUMNS]
    values = _values(joined, [(path[-1].table, column) for path, column in chosen], seed)
    more = (
        _chain(path, condition)
        for (path, column), drawn in zip(chosen, values, strict=True)
        for condition in _conditions(column, drawn)
    )
    sides = (side for atom in atoms if (side := other_side(atom)) is not None)
    return tuple(dict.fromkeys(each for each in (*more, *sides) if each not in atoms))


def _path(atom: Expr) -> Path | None:
    """The links from a row to the condition; None if there are several conditions on the way."""
    links: list[Partner] = []
    expr = atom
    while (partner := partner_of(expr)) is not None:
        links.append(partner)
        expr = partner.where
    return tuple(links) or None


def _chain(path: Path, condition: Expr) -> Expr:
    for link in reversed(path):
        condition = replace(link, where=condition).call
    return condition


def _values(joined: JoinedTables, wanted: Sequence[tuple[str, Column]], seed: int) -> list[list[Value]]:
    """Some values of each column, NULL left out; one job for each table."""
    drawn: dict[tuple[str, Column], list[Value]] = {}
    for root in dict.fromkeys(root for root, _ in wanted):
        columns = list(dict.fromkeys(column for other, column in wanted if other == root))
        table = joined.open(root)
        names = table.snapshot.logical_names
        rows = table.live(table.file_indices, table.engine.session(DRAWN))
        for column, values in zip(columns, sampled_values(rows, names, columns, seed), strict=True):
            drawn[root, column] = [value for value in values if not is_long(value)]
    return [drawn[each] for each in wanted]


def _conditions(column: Column, drawn: Sequence[Value]) -> Iterator[Expr]:
    ordered = sorted(drawn, key=order_key)
    distinct = list(dict.fromkeys(ordered))
    if len(distinct) <= MOST_VALUES:
        for value in distinct if len(distinct) > 1 else ():
            yield Comparison("=", column, Literal(value, column.type))
        return
    cuts = dict.fromkeys(ordered[len(ordered) * step // _QUANTILES] for step in range(1, _QUANTILES))
    for value in cuts:
        yield Comparison("<", column, Literal(value, column.type))
        yield Comparison(">=", column, Literal(value, column.type))
